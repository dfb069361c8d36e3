import t from 'tap'
import { suggestedFlowSchemas, suggestedPriorityLevels } from '#keelson/main/flow-control/bootstrap-objects.js'
import { FairGate } from '#keelson/main/flow-control/fair-gate.js'
import { FlowController } from '#keelson/main/flow-control/flow-controller.js'
import { WATCH_COUNT_BYTES, WatchCounts } from '#keelson/main/flow-control/watch-counts.js'
import { estimateWork } from '#keelson/main/flow-control/work-estimate.js'
import { BulkTurns } from '#keelson/main/http/bulk-turns.js'
import { isLongRunning, isMutating } from '#keelson/main/request/inflight.js'
import { type GatedRequest, type Leave, RequestRefused } from '#keelson/main/request/request-gate.js'
import { resolveRequestInfo } from '#keelson/main/request/request-info-resolver.js'
import { FakeClock } from '../../support/fake-clock.js'
import { until } from '../../support/until.js'

const user = (name: string) => ({ name, uid: '', groups: ['system:authenticated'], extra: {} })

class Request implements GatedRequest {
  readonly info
  readonly query
  readonly user
  headers: readonly string[] = []
  gone: (() => void)[] = []
  constructor(name: string, method: string, url: string) {
    const { pathname, searchParams } = new URL(url, 'http://x')
    this.query = searchParams
    this.info = resolveRequestInfo(method, pathname, searchParams)
    this.user = user(name)
  }
  get mutating() {
    return isMutating(this.info.verb)
  }
  get longRunning() {
    return isLongRunning(this.info.verb, this.info.subresource)
  }
  onGone(listener: () => void) {
    this.gone.push(listener)
  }
  addResponseHeaders(headers: readonly string[]) {
    this.headers = headers
  }
}

function gate({ totalSeats = 60, objects = 0, watchCounts = new WatchCounts() } = {}) {
  const clock = new FakeClock()
  const controller = new FlowController({ clock, totalSeats })
  const levels = suggestedPriorityLevels().map((level, i) => ({
    ...level,
    metadata: { ...level.metadata, uid: `level-${i}` },
  }))
  const schemas = suggestedFlowSchemas().map((schema, i) => ({
    ...schema,
    metadata: { ...schema.metadata, uid: `schema-${i}` },
  }))
  controller.configure(levels, schemas)
  const fair = new FairGate({
    controller,
    clock,
    turns: new BulkTurns(),
    requestTimeoutMs: 60_000,
    listSize: () => ({ objects, averageBytes: 1000 }),
    watchCounts,
  })
  return { fair, clock, controller }
}
const failure = (promise: Leave | Promise<Leave>): Promise<unknown> =>
  Promise.resolve(promise).then(
    () => undefined,
    (error: unknown) => error,
  )
const settle = () => new Promise((resolve) => setImmediate(resolve))

t.test('room: in its turn, with the headers of Kubernetes', async (t) => {
  const { fair, controller } = gate()
  const request = new Request('alice', 'GET', '/api/v1/namespaces/a/pods/p')
  const leave = fair.enter(request)
  t.type(leave, 'function')
  t.match(request.headers, [
    'X-Kubernetes-PF-FlowSchema-UID',
    /^schema-/,
    'X-Kubernetes-PF-PriorityLevel-UID',
    /^level-/,
  ])
  const { queues } = controller.levels.get('global-default')!
  t.equal(queues.seatsInUse, 1)
  ;(leave as Leave)()
  t.equal(queues.seatsInUse, 0)
})

t.test('no room: it waits for its turn, a quarter of its time at most', async (t) => {
  const { fair, clock, controller } = gate()
  const { queues, currentSeats } = controller.levels.get('global-default')!
  const held: Leave[] = []
  const enter = (name: string) => fair.enter(new Request(name, 'GET', '/api/v1/namespaces/a/pods/p'))
  for (let i = 0; i < currentSeats; i++) held.push(enter('alice') as Leave)
  const second = enter('alice')
  const third = enter('bob')
  t.ok(second instanceof Promise)
  held.pop()!()
  t.type(await Promise.race([second, third]), 'function')
  t.equal(queues.waiting, 1)
  await clock.advance(14_000)
  t.equal(queues.waiting, 1)
  await clock.advance(1_001)
  t.equal(queues.waiting, 0)
  const errors = (await Promise.all([failure(second), failure(third)])).filter((error) => error !== undefined)
  t.equal(errors.length, 1)
  t.match(errors[0], { name: 'RequestRefused', retryAfterSeconds: 1 })
})

t.test('who goes away while it waits leaves its queue', async (t) => {
  const { fair, controller } = gate()
  const { queues, currentSeats } = controller.levels.get('global-default')!
  const enter = () => {
    const request = new Request('alice', 'GET', '/api/v1/pods/p')
    return { request, entered: fair.enter(request) }
  }
  for (let i = 0; i < currentSeats; i++) enter()
  const { request, entered } = enter()
  for (const listener of request.gone) listener()
  t.equal(queues.waiting, 0)
  t.ok((await failure(entered)) instanceof RequestRefused)
})

t.test('what is refused is told with the headers, and not in its own turn', async (t) => {
  const { fair, controller } = gate()
  const { currentSeats } = controller.levels.get('global-default')!
  const outcomes: Promise<unknown>[] = []
  for (let i = 0; i < currentSeats + 6 * 50 + 20; i++)
    outcomes.push(failure(fair.enter(new Request('greedy', 'GET', '/api/v1/pods/p'))))
  const quiet = new Request('quiet', 'GET', '/api/v1/pods/p')
  const entered = fair.enter(quiet)
  t.ok(entered instanceof Promise, 'the quiet one waits in its own queue')
  let refused = 0
  for (const outcome of outcomes) void outcome.then((error) => error !== undefined && refused++)
  await until(() => refused >= 20, { what: 'twenty to be refused' })
  await settle()
  t.equal(refused, 20, 'only those that no queue of the greedy one has room for')
})

t.test('a watch holds its place while it begins, and counts for those who write', async (t) => {
  const { fair, controller, clock } = gate()
  const { queues } = controller.levels.get('global-default')!
  const watches = Array.from(
    { length: 40 },
    () => new Request('alice', 'GET', '/api/v1/namespaces/a/pods?watch=true&resourceVersion=5'),
  )
  for (const watch of watches) {
    const leave = fair.enter(watch)
    ;(leave as Leave)()
  }
  t.equal(queues.seatsInUse, 0)
  const write = () => (fair.enter(new Request('alice', 'POST', '/api/v1/namespaces/a/pods')) as Leave)()
  write()
  t.equal(queues.seatsInUse, 1, 'its seats linger while watchers are told')
  await clock.advance(100)
  t.equal(queues.seatsInUse, 0)
  for (const watch of watches) for (const listener of watch.gone) listener()
  write()
  t.equal(queues.seatsInUse, 0, 'nobody watches any more')
  const stream = new Request('alice', 'GET', '/api/v1/namespaces/a/pods/p/log')
  t.type(fair.enter(stream), 'function')
  t.same(stream.headers, [], 'a stream is not controlled at all')
})

t.test('watchers of every front end count', async (t) => {
  const buffer = new SharedArrayBuffer(WATCH_COUNT_BYTES)
  const counts = Array.from({ length: 3 }, () => new WatchCounts(new Int32Array(buffer)))
  const info = (url: string) => new Request('alice', 'GET', url).info
  const forget = [
    counts[0]!.add(info('/api/v1/pods?watch=true')),
    counts[1]!.add(info('/api/v1/namespaces/a/pods?watch=true')),
    counts[1]!.add(info('/api/v1/namespaces/a/pods?watch=true&fieldSelector=metadata.name%3Dp')),
    counts[1]!.add(info('/api/v1/namespaces/b/pods?watch=true')),
    counts[2]!.add(info('/apis/apps/v1/namespaces/a/deployments?watch=true')),
  ]
  t.equal(counts[2]!.of(info('/api/v1/namespaces/a/pods/p')), 3)
  t.equal(counts[2]!.of(info('/api/v1/namespaces/b/pods/p')), 2)
  for (const one of forget) one()
  t.equal(counts[0]!.of(info('/api/v1/namespaces/a/pods/p')), 0)
})

t.test('seats by cost: a list by its bytes, a watch that begins with one too', async (t) => {
  const sources = { listSize: () => ({ objects: 1000, averageBytes: 1000 }), watchers: () => 0 }
  const seats = (url: string, most = 100, from = sources) => {
    const { pathname, searchParams } = new URL(url, 'http://x')
    return estimateWork(resolveRequestInfo('GET', pathname, searchParams), searchParams, from, most).initialSeats
  }
  t.equal(seats('/api/v1/pods'), 10)
  t.equal(seats('/api/v1/pods', 4), 4, 'no more than its level allows one request')
  t.equal(seats('/api/v1/pods?limit=100'), 1)
  t.equal(seats('/api/v1/pods?limit=500'), 5)
  t.equal(seats('/api/v1/pods?fieldSelector=metadata.name%3Dx'), 1)
  t.equal(seats('/api/v1/namespaces/a/pods/p'), 1)
  t.equal(seats('/api/v1/pods?watch=true'), 10)
  t.equal(seats('/api/v1/pods?watch=true&resourceVersion=7'), 1)
  t.equal(seats('/api/v1/pods?watch=true&resourceVersion=7&sendInitialEvents=true'), 10)
  t.equal(seats('/api/v1/pods?watch=true&resourceVersion=7&sendInitialEvents=1'), 10, 'in other words')
  t.equal(seats('/api/v1/pods?limit=1&resourceVersion=0'), 10, 'a limit that does not count makes nothing cheaper')
  t.equal(seats('/api/v1/pods?watch=true&limit=1'), 10)
  t.equal(seats('/version'), 1)
  t.equal(
    seats('/api/v1/pods', 100, { ...sources, listSize: () => undefined as never }),
    10,
    'what is not in memory is dear',
  )
})
