import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { RevisionClockReader } from '#keelson/cacher/clock/revision-clock-reader.js'
import { RevisionClockWriter } from '#keelson/cacher/clock/revision-clock-writer.js'
import { MemoryOwner } from '#keelson/cacher/memory/memory-owner.js'
import { until } from '../../support/until.js'
import { draft } from '../memory/draft.js'

function setUp() {
  const writer = new RevisionClockWriter()
  return { writer, reader: new RevisionClockReader(writer.buffer) }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Something must keep this process alive while it waits for the clock: the clock does not. */
function keepAlive(t: { teardown(fn: () => void): void }): void {
  const timer = setInterval(() => undefined, 1000)
  t.teardown(() => clearInterval(timer))
}

t.test('the clock holds 53 bits and never goes back', async (t) => {
  const { writer, reader } = setUp()
  for (const revision of [1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 5, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
    writer.advance(revision)
    t.equal(reader.revision(), revision)
    t.equal(writer.revision(), revision)
  }
  writer.advance(5)
  t.equal(reader.revision(), Number.MAX_SAFE_INTEGER)
})

t.test('reached() resolves at its revision and not before', async (t) => {
  keepAlive(t)
  const { writer, reader } = setUp()
  writer.advance(3)
  await reader.reached(3)
  const order: string[] = []
  const five = reader.reached(5).then(() => order.push('five'))
  const seven = reader.reached(7).then(() => order.push('seven'))
  writer.advance(4)
  await turn()
  t.same(order, [])
  writer.advance(6)
  await five
  t.same(order, ['five'])
  writer.advance(7)
  await seven
  t.same(order, ['five', 'seven'])
})

t.test('reached() rejects when its signal aborts, before or while it waits', async (t) => {
  const { reader } = setUp()
  await t.rejects(reader.reached(1, AbortSignal.abort(new Error('gone'))), { message: 'gone' })
  const controller = new AbortController()
  const waiting = reader.reached(1, controller.signal)
  controller.abort(new Error('tired'))
  await t.rejects(waiting, { message: 'tired' })
})

t.test('listeners are told the newest revision, once for many moves in a turn', async (t) => {
  keepAlive(t)
  const { writer, reader } = setUp()
  const told: number[] = []
  const stop = reader.onAdvance((revision) => told.push(revision))
  for (let revision = 1; revision <= 1000; revision++) writer.advance(revision)
  await reader.reached(1000)
  await turn()
  await turn()
  t.equal(told.at(-1), 1000)
  t.ok(told.length <= 2, `${told.length} calls`)
  const before = told.length
  writer.advance(1001)
  await reader.reached(1001)
  await turn()
  await turn()
  t.equal(told.length, before + 1)
  stop()
  writer.advance(1002)
  await reader.reached(1002)
  await turn()
  t.equal(told.length, before + 1, 'nobody listens any more')
  let again = 0
  const stopAgain = reader.onAdvance(() => void again++)
  await turn()
  await turn()
  t.equal(again, 0, 'the past is not told')
  writer.advance(1003)
  await reader.reached(1003)
  await turn()
  t.equal(again, 1)
  stopAgain()
})

t.test('patient listeners are told of the first move at once and of what follows it together', async (t) => {
  keepAlive(t)
  const { writer, reader } = setUp()
  const told: number[] = []
  reader.onAdvance((revision) => told.push(revision), 'patient')
  writer.advance(1)
  await until(() => told.length === 1, { what: 'the first move' })
  for (let revision = 2; revision <= 100; revision++) {
    writer.advance(revision)
    await turn()
  }
  await until(() => told.at(-1) === 100, { what: 'the last move' })
  t.ok(told.length < 50, `${told.length} calls`)
  const before = told.length
  writer.advance(101)
  await reader.reached(101)
  const stop = reader.onAdvance(() => undefined)
  writer.advance(102)
  await reader.reached(102)
  await until(() => told.at(-1) === 102, { what: 'what somebody else could not wait for' })
  t.ok(told.length > before)
  stop()
})

t.test(
  'a thread that waits for the clock is woken, ends by itself when nothing else holds it, and may be ended',
  async (t) => {
    keepAlive(t)
    const owner = new MemoryOwner()
    const start = (mode: string) => {
      const handoff = owner.connect()
      const worker = new Worker(new URL('./clock-waiter.js', import.meta.url), {
        workerData: { handoff, mode },
        transferList: [handoff.port],
      })
      return { worker, reader: handoff.reader }
    }
    const waiter = start('answer')
    await once(waiter.worker, 'message')
    for (let revision = 1; revision <= 50; revision++) {
      const answer = once(waiter.worker, 'message')
      owner.clock.advance(revision)
      t.same((await answer)[0], revision)
    }
    const idle = start('idle')
    t.same((await once(idle.worker, 'exit'))[0], 0, 'a pending wait keeps no thread alive')
    const holding = start('pin')
    const arena = owner.createArena('things', { minEvents: 4, maxEvents: 4 })
    arena.put('a', draft('a'), 51, 51)
    arena.setReady(true)
    arena.publish(51)
    owner.clock.advance(51)
    await once(holding.worker, 'message')
    for (let revision = 52; revision < 100; revision++) {
      arena.put('a', draft('a'), revision, 51)
      arena.publish(revision)
      owner.clock.advance(revision)
    }
    t.ok(arena.memory().pinnedBytes > 0, 'the thread holds a pin')
    await Promise.all([holding.worker.terminate(), waiter.worker.terminate()])
    t.ok(arena.memory().pinnedBytes > 0, 'and took it along when it was ended')
    for (const { reader } of [waiter, idle, holding]) owner.release(reader)
    arena.reclaim()
    t.equal(arena.memory().pinnedBytes, 0)
    for (let revision = 100; revision < 200; revision++) owner.clock.advance(revision)
    owner.close()
  },
)
