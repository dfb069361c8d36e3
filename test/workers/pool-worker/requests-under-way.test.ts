import t from 'tap'
import { isStatusError } from '#keelson/api/status.js'
import type { CancelSignal } from '#keelson/lib/cancellation.js'
import { NO_SLOT } from '#keelson/protocol/main-pool.js'
import { RequestsUnderWay } from '#keelson/workers/pool-worker/requests-under-way.js'
import { FakeClock } from '../../support/fake-clock.js'

function open(slots = 2) {
  const memory = new SharedArrayBuffer(slots * 4)
  const clock = new FakeClock()
  const underWay = new RequestsUnderWay(memory, clock)
  /** A request that ends when it is given up. */
  const waiting = (slot: number, deadlineMs: number) => {
    let signal!: CancelSignal
    const work = underWay.run(slot, deadlineMs, (given) => {
      signal = given
      return new Promise<never>((_, reject) => given.addEventListener('abort', () => reject(given.reason)))
    })
    // The code of what a client would be told, if one were there.
    const ended = work.catch((error: unknown) => isStatusError(error, 'Timeout') && error.status.code)
    return { signal, ended }
  }
  return { flags: new Int32Array(memory), clock, underWay, waiting }
}

t.test('a set flag is seen at the next step, without any waiting', async (t) => {
  const { flags, clock, underWay } = open()
  const found = await underWay.run(1, clock.now() + 1000, async (signal) => {
    const before = signal.aborted
    Atomics.store(flags, 1, 1)
    return [before, signal.aborted]
  })
  t.same(found, [false, true])
})

t.test('what waits is told within a look, and only that whose caller has gone', async (t) => {
  const { flags, clock, waiting } = open()
  const gone = waiting(0, clock.now() + 60_000)
  const stays = waiting(1, clock.now() + 60_000)
  Atomics.store(flags, 0, 1)
  await clock.advance(50)
  t.equal(await gone.ended, 504)
  t.notOk(stays.signal.aborted)
})

t.test('a deadline ends the waiting, with and without a slot', async (t) => {
  const { clock, waiting } = open()
  const slotted = waiting(0, clock.now() + 100)
  const ownRequest = waiting(NO_SLOT, clock.now() + 200)
  await clock.advance(100)
  t.equal(await slotted.ended, 504)
  t.notOk(ownRequest.signal.aborted)
  await clock.advance(100)
  t.equal(await ownRequest.ended, 504)
})

t.test('nothing is looked at when nothing is under way', async (t) => {
  const { clock, underWay } = open()
  await underWay.run(0, clock.now() + 1000, async () => 'done')
  t.equal(clock.pendingTimers, 1)
  await clock.advance(50)
  t.equal(clock.pendingTimers, 0)
})
