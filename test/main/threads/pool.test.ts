import { readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { RequestInfo } from '#keelson/api/request-info.js'
import { StatusError } from '#keelson/api/status.js'
import { API_SERVER_USER } from '#keelson/api/user-info.js'
import { type Clock, systemClock } from '#keelson/lib/clock.js'
import { type Logger, nullLogger } from '#keelson/lib/logger.js'
import { Pool } from '#keelson/main/threads/pool.js'
import { processFamilies } from '#keelson/metrics/families.js'
import type { Family } from '#keelson/metrics/family.js'
import { Recorder, type Series } from '#keelson/metrics/recorder.js'
import { UNCHANGED_ACCESS } from '#keelson/protocol/access-change.js'
import type { PoolRequest } from '#keelson/protocol/main-pool.js'
import type { PoolStart } from '#keelson/protocol/pool-start.js'
import { until } from '../../support/until.js'
import { timesBegun } from './sticking-thread.js'

const STUCK_MS = 1_000

class Replacements extends Recorder {
  readonly #onReplaced: (reason: string) => void

  constructor(onReplaced: (reason: string) => void) {
    super(() => undefined)
    this.#onReplaced = onReplaced
  }

  override series(family: Family, ...labels: readonly string[]): Series {
    if (family === processFamilies.poolReplaced) this.#onReplaced(labels[0]!)
    return super.series(family, ...labels)
  }
}

interface Opened {
  readonly pool: Pool
  readonly begun: SharedArrayBuffer
  readonly logged: { readonly fields: Record<string, unknown>; readonly message: string }[]
  readonly replaced: string[]
}

interface OpenOptions {
  readonly hasLine?: boolean
  readonly clock?: Clock
  readonly stuckMs?: number
  readonly waitedMs?: (systemThread: number) => number
}

function open(
  t: Test,
  threads: number,
  { clock = systemClock, stuckMs = STUCK_MS, hasLine = true, ...more }: OpenOptions = {},
): Opened {
  const begun = new SharedArrayBuffer(64)
  const logged: Opened['logged'] = []
  const replaced: string[] = []
  const note = (fields: object, message: string): void =>
    void logged.push({ fields: fields as Record<string, unknown>, message })
  const logger: Logger = { ...nullLogger, error: note }
  const recorder = new Replacements((reason) => replaced.push(reason))
  const pool = new Pool({
    threads,
    start: { begun, hasLine } as unknown as PoolStart,
    attach: () => Promise.reject(new Error('nobody attaches')),
    onMetrics: () => undefined,
    onInspection: () => undefined,
    definitions: () => [],
    access: () => UNCHANGED_ACCESS,
    logger,
    recorder,
    clock,
    filename: new URL('./sticking-thread.js', import.meta.url).href,
    stuckMs,
    ...more,
  })
  pool.start()
  // A server listens; without it nothing keeps this process from ending before it hears that a thread without tasks of Piscina has.
  const listening = setInterval(() => undefined, 60_000)
  t.teardown(() => {
    clearInterval(listening)
    return pool.abandon()
  })
  return { pool, begun, logged, replaced }
}

const document = (pool: Pool, path: string): Promise<unknown> => pool.run('document', { path, form: 'json' })

async function write(pool: Pool, name: string, { query = '', bytes = 10 } = {}): Promise<unknown> {
  const info: RequestInfo = {
    isResourceRequest: true,
    path: '/apis/apps/v1/namespaces/default/deployments',
    verb: 'create',
    apiPrefix: 'apis',
    apiVersion: 'v1',
    parts: ['deployments'],
    apiGroup: 'apps',
    resource: 'deployments',
    subresource: '',
    namespace: 'default',
    name,
  }
  const request: PoolRequest = {
    info,
    method: 'POST',
    query,
    user: API_SERVER_USER,
    accept: '',
    contentType: '',
    userAgent: '',
    body: new Uint8Array(bytes),
    auditId: 'the-audit-id',
    deadlineMs: Number.POSITIVE_INFINITY,
  }
  return pool.run('write', request).then(({ contentType, body }) => ({ order: contentType, body: body.byteLength }))
}

const failureOf = (result: Promise<unknown>): Promise<unknown> =>
  result.then(
    () => undefined,
    (error: unknown) => error,
  )

/** The code of the Status that it ends with; 200: it succeeded. */
const codeOf = (result: Promise<unknown>): Promise<number> =>
  result.then(
    () => 200,
    (error: unknown) => (error instanceof StatusError ? error.code : -1),
  )

for (const hasLine of [true, false]) {
  const way = hasLine ? 'with small requests through shared memory' : 'with every task through Piscina'
  t.test(`a thread that is stuck is replaced, ${way}, and everybody else gets an answer`, (t) => stuck(t, hasLine))
}

async function stuck(t: Test, hasLine: boolean): Promise<void> {
  const { pool, begun, logged, replaced } = open(t, 1, { hasLine })
  t.same(await document(pool, 'echo'), { order: 'echo', body: 0 })
  await until(() => pool.answering > 0, { what: 'a pool thread to answer' })
  const underWay = document(pool, 'wait-once')
  const written = codeOf(write(pool, 'wait-once'))
  const dryRun = write(pool, 'wait-once', { query: 'dryRun=All' })
  await until(() => timesBegun(begun, 'wait-once') === 3, { what: 'the waiting task to have begun 3 times' })
  const refusal = failureOf(document(pool, 'stick'))
  await until(() => timesBegun(begun, 'stick') === 1, { what: 'the sticking task to have begun' })
  const behind = write(pool, 'echo', { bytes: 1000 })
  const large = codeOf(write(pool, 'echo', { bytes: 1024 * 1024 }))
  await until(() => pool.answering === 0, { what: 'the pool says that no thread answers' })
  t.same(await behind, { order: 'echo', body: 1000 }, 'what had not begun is done by another thread, with its body')
  t.equal(await large, 429, 'a body that was moved cannot be sent again: the client is told to come again')
  t.equal(await written, 504, 'a write that was under way may have been stored')
  t.same(await underWay, { order: 'wait-once', body: 0 }, 'a read that was under way is done again')
  t.same(await dryRun, { order: 'wait-once', body: 10 }, 'so is a dry run')
  const refused = await refusal
  t.match(refused, { status: { code: 500, reason: 'InternalError', message: /two threads/ } })
  t.equal(timesBegun(begun, 'stick'), 2, 'what stopped two threads is not given to a third')
  t.same(await write(pool, 'echo'), { order: 'echo', body: 10 }, 'writes go on')
  await until(() => pool.answering > 0, { what: 'a pool thread to answer' })
  t.same(replaced, ['stuck', 'stuck'])
  const [first] = logged.filter(({ message }) => message === 'a pool thread was replaced')
  t.match(first?.fields, { reason: 'stuck', tasks: 6, at: { type: 'document' } })
  t.match(first?.fields['underWay'], [
    { type: 'document' },
    { type: 'write', verb: 'create', resource: 'deployments', auditId: 'the-audit-id' },
  ])
}

t.test('writes of every size are answered, in whatever order they end', async (t) => {
  const { pool } = open(t, 2)
  await until(() => pool.answering === 2, { what: 'two pool threads to answer' })
  const sizes = Array.from({ length: 300 }, (_, i) => (i * 997) % 100_000)
  const answers = await Promise.all(sizes.map((bytes) => write(pool, 'echo', { bytes })))
  t.same(
    answers,
    sizes.map((body) => ({ order: 'echo', body })),
  )
})

t.test('a thread that ends by itself answers for no write that it had begun, and does what it had not', async (t) => {
  const { pool, replaced } = open(t, 1)
  await until(() => pool.answering === 1, { what: 'a pool thread to answer' })
  const ended = codeOf(write(pool, 'exit-once'))
  const behind = Array.from({ length: 20 }, () => write(pool, 'echo'))
  t.equal(await ended, 504)
  t.equal((await Promise.all(behind)).length, 20)
  t.same(replaced, ['ended'])
})

t.test('a thread that is given no processor is not taken for one that is stuck', async (t) => {
  const asked = new Set<number>()
  // As if the thread had been ready all the time and never had its turn. Only the first look, of 500 ms at most, counts.
  const waitedMs = (systemThread: number): number => {
    asked.add(systemThread)
    return performance.now()
  }
  const { pool, begun, replaced } = open(t, 1, { stuckMs: 600, waitedMs })
  await until(() => pool.answering > 0, { what: 'a pool thread to answer' })
  const blocked = document(pool, 'block')
  await until(() => timesBegun(begun, 'block') === 1, { what: 'the blocking task to have begun' })
  t.same(await blocked, { order: 'block', body: 0 })
  t.same(replaced, [])
  const own = readdirSync('/proc/self/task').map(Number)
  t.same(
    [...asked].filter((thread) => !own.includes(thread)),
    [],
    'it is asked about a thread of this process',
  )
  t.equal(asked.size, 1)
})

t.test('a thread that beats is preferred to one that is stuck', async (t) => {
  const { pool, begun } = open(t, 2, { stuckMs: 60_000 })
  await until(() => pool.answering === 2, { what: 'two pool threads to answer' })
  const poison = codeOf(document(pool, 'stick'))
  await until(() => pool.answering === 1 && timesBegun(begun, 'stick') === 1, {
    what: 'one pool thread to stick and one to answer',
  })
  const all = await Promise.all(Array.from({ length: 100 }, () => document(pool, 'echo')))
  t.equal(all.length, 100, 'all of them went to the thread that answers')
  await pool.abandon()
  t.equal(await poison, 503)
})

t.test(
  'a thread that ends by itself takes no read with it, and what ended two is not tried a third time',
  async (t) => {
    const { pool, begun, replaced } = open(t, 1)
    await document(pool, 'echo')
    const waiting = document(pool, 'wait-once')
    await until(() => timesBegun(begun, 'wait-once') === 1, { what: 'the waiting task to have begun 1 times' })
    Atomics.add(new Int32Array(begun), 2, 2) // the next try is the fourth: it is answered
    t.same(await document(pool, 'exit-once'), { order: 'exit-once', body: 0 })
    t.same(await waiting, { order: 'wait-once', body: 0 })
    t.same(replaced, ['ended'])
  },
)

t.test('what main comes too late for is not held against a thread', async (t) => {
  // Every look seems to come minutes after the last one.
  const clock: Clock = { ...systemClock, monotonicMs: () => performance.now() * 1000 }
  const { pool, replaced } = open(t, 1, { clock, stuckMs: 5_000 })
  await document(pool, 'echo')
  await until(() => pool.answering > 0, { what: 'a pool thread to answer' })
  t.same(await document(pool, 'block'), { order: 'block', body: 0 })
  t.same(replaced, [])
})

t.test('a pool with a stuck thread closes', async (t) => {
  const { pool, begun } = open(t, 1)
  await document(pool, 'echo')
  const poison = codeOf(document(pool, 'stick'))
  await until(() => timesBegun(begun, 'stick') === 1, { what: 'the sticking task to have begun' })
  let closed = false
  void pool.close().then(() => {
    closed = true
  })
  await until(() => closed, { what: 'the pool to be closed' })
  t.equal(await poison, 503)
  t.equal(await codeOf(document(pool, 'echo')), 503)
})
