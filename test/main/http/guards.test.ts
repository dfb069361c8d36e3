/** Something throws in every callback of an exchange: the exchange ends, is told of and counted, and nobody else notices. */
import t, { type Test } from 'tap'
import { parseListOptions } from '#keelson/api/list-options.js'
import type { RequestInfo } from '#keelson/api/request-info.js'
import { parseSelectors } from '#keelson/api/selectors.js'
import { guardedClock } from '#keelson/lib/guarded-clock.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { AuditWriter } from '#keelson/main/audit/audit-writer.js'
import { BulkTurns } from '#keelson/main/http/bulk-turns.js'
import { Exchange } from '#keelson/main/http/exchange.js'
import { SlowAnswers } from '#keelson/main/http/slow-answers.js'
import type { HubWatcher } from '#keelson/main/verbs/hub-members.js'
import type { ReadContext, ReadRequest } from '#keelson/main/verbs/read-context.js'
import { StallTimer } from '#keelson/main/verbs/stall-timer.js'
import { startStorageWatch } from '#keelson/main/verbs/storage-watch.js'
import { JSON_FRAMING } from '#keelson/main/verbs/watch-frames.js'
import { FollowingHub } from '#keelson/main/verbs/watch-hub.js'
import type { AuditRequest } from '#keelson/protocol/main-audit.js'
import { FakeClock } from '../../support/fake-clock.js'
import { until } from '../../support/until.js'
import { FakePort, requestHead } from './fake-port.js'

const HEAD = { status: 200, contentType: 'application/json' }
const bang = (): never => {
  throw new Error('bang')
}

function open(turns?: BulkTurns) {
  const failures: unknown[] = []
  const port = new FakePort()
  const services = { failures: { failed: (error: unknown) => failures.push(error) }, ...(turns && { turns }) }
  const exchange = new Exchange(requestHead(), port, services)
  const finished: number[] = []
  exchange.onFinished((status) => finished.push(status))
  return { port, exchange, failures, finished }
}

/** What was under way is broken off: the connection is closed, once, and one failure was told. */
function isEnded(t: Test, { port, failures, finished }: ReturnType<typeof open>): void {
  t.ok(port.closed, 'its connection is closed')
  t.equal(finished.length, 1, 'it is finished once')
  t.match(failures, [{ message: 'bang' }])
}

t.test('a body that comes', async (t) => {
  const { exchange, port, failures } = open()
  exchange.bodyStream().readTo({ write: bang, end: bang, gone: () => undefined })
  port.send('abc', false)
  t.match(failures, [{ message: 'bang' }])
  t.equal(port.status, '500 Internal Server Error')
})

t.test('a client that goes', async (t) => {
  const { port, exchange, failures, finished } = open()
  let heard = 0
  exchange.onAbort(bang)
  exchange.onAbort(() => heard++)
  port.abort()
  t.equal(heard, 1, 'the others are told all the same')
  t.match(failures, [{ message: 'bang' }])
  t.same(finished, [0])
})

t.test('a piece of an answer that cannot be made when the client takes more', async (t) => {
  const scene = open()
  let asked = 0
  scene.port.room = 3
  const next = (): Uint8Array => (asked++ === 0 ? Buffer.from('hello') : bang())
  scene.exchange.respondSized(HEAD, { totalBytes: 10, heldBytes: 0, next, done: () => undefined })
  t.equal(scene.port.drain(100), true)
  isEnded(t, scene)
})

t.test('a piece of an answer that cannot be made when its turn comes', async (t) => {
  const jobs: (() => void)[] = []
  const turns = new BulkTurns({ nowMs: () => 0, nextTurn: (callback) => jobs.push(callback) })
  const scene = open(turns)
  let asked = 0
  const next = (): Uint8Array => (asked++ === 0 ? Buffer.alloc(70_000) : bang())
  scene.exchange.respondSized(HEAD, { totalBytes: 200_000, heldBytes: 0, next, done: () => undefined })
  let others = 0
  turns.add(() => {
    others++
    return false
  })
  while (jobs.length > 0) jobs.shift()!()
  isEnded(t, scene)
  t.equal(others, 1, 'others have their turn')
})

t.test('a stream whose reader throws when there is room again', async (t) => {
  const scene = open()
  scene.port.room = 1
  const stream = scene.exchange.startStream(HEAD)!
  stream.onDrain(bang)
  stream.write(Buffer.from('hello'))
  scene.port.drain(100)
  isEnded(t, scene)
})

t.test('an answer that is too slow and cannot even be broken off', async (t) => {
  const clock = new FakeClock()
  const slowAnswers = new SlowAnswers({ clock, limitBytes: 0, onLook: () => undefined, onBreakOff: () => undefined })
  const failures: unknown[] = []
  const port = new FakePort()
  port.room = 1
  port.close = bang
  new Exchange(requestHead(), port, { slowAnswers, failures: { failed: (error) => failures.push(error) } }).respond(
    HEAD,
    Buffer.alloc(100_000),
  )
  await clock.advance(2000)
  t.match(failures, [{ message: 'bang' }])
})

t.test('a timer of a watch', async (t) => {
  const scene = open()
  const clock = new FakeClock()
  const stream = scene.exchange.startStream(HEAD)!
  stream.touch = bang
  new StallTimer(clock, stream, scene.exchange).start()
  await clock.advance(4000)
  isEnded(t, scene)
})

t.test('any other timer', async (t) => {
  const clock = new FakeClock()
  const failures: unknown[] = []
  const guarded = guardedClock(clock, (error) => failures.push(error))
  let heard = 0
  guarded.after(10, bang)
  guarded.after(10, () => heard++)
  guarded.after(10, () => t.fail('cancelled')).cancel()
  await clock.advance(10)
  t.equal(heard, 1)
  t.match(failures, [{ message: 'bang' }])
  t.equal(guarded.now(), clock.now())
  t.equal(guarded.monotonicMs(), clock.monotonicMs())
})

class BrokenHub extends FollowingHub {
  protected override advance(): void {
    bang()
  }
}

t.test('an event that cannot be shown ends the watches of its hub', async (t) => {
  const listeners: (() => void)[] = []
  const onAdvance = (heard: () => void): (() => void) => {
    listeners.push(heard)
    return () => undefined
  }
  const view = { clock: { revision: () => 1, onAdvance } }
  const arena = { cursor: () => ({ revision: 1, begun: 1 }) }
  const hub = new BrokenHub(...([arena, view] as unknown as ConstructorParameters<typeof FollowingHub>))
  const failed: unknown[] = []
  const watcher = {
    seenRevision: 1,
    selectors: parseSelectors(parseListOptions(new URLSearchParams(), true), []),
    scope: { startKey: '', endKey: '' },
    failed: (e: unknown) => failed.push(e),
  }
  t.ok(hub.join(watcher as unknown as HubWatcher))
  for (const heard of listeners) heard()
  t.match(failed, [{ message: 'bang' }])
})

t.test('a message of the pool that cannot be written to a watch', async (t) => {
  const scene = open()
  let remote: { postMessage(message: object): void; close(): void } | undefined
  const series = { watchers: { add: () => undefined }, parked: { add: () => undefined }, sent: bang }
  const context = {
    clock: new FakeClock(),
    random: () => 0,
    minRequestTimeoutSeconds: 1800,
    metrics: { watches: () => series },
  }
  const request = {
    exchange: scene.exchange,
    query: new URLSearchParams(),
    resource: { selectableFields: [] },
    info: {} as RequestInfo,
  }
  await startStorageWatch({
    request: request as unknown as ReadRequest,
    context: context as unknown as ReadContext,
    framing: JSON_FRAMING,
    open: async (port) => {
      remote = port
      return undefined
    },
    onEnd: () => undefined,
  })
  remote!.postMessage({ type: 'events', events: [{ type: 'ADDED', object: Buffer.from('{}') }] })
  await until(() => scene.failures.length > 0, { what: 'the failure to be told' })
  isEnded(t, scene)
  remote!.close()
})

t.test('a backend of audit that throws fails its events, and the next are written', async (t) => {
  let times = 0
  const queue = { add: async () => (times++ === 0 ? bang() : true), close: async () => undefined }
  const writer = new AuditWriter([queue] as unknown as ConstructorParameters<typeof AuditWriter>[0], nullLogger)
  const replies: object[] = []
  const items = [{ event: { auditID: 'a' } }] as unknown as Extract<AuditRequest, { type: 'items' }>['items']
  for (let i = 0; i < 2; i++) await writer.take({ type: 'items', items }, (reply) => replies.push(reply))
  t.match(replies[0], { type: 'written', items: 1, failed: 1 })
  t.match(replies[1], { type: 'written', items: 1 })
  t.equal(times, 2)
})
