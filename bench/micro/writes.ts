/**
 * Question: what does a write cost the pool thread? Workload: a pool worker in this thread, as a server has it, with an owner thread on
 * the embedded engine in memory; 16 writes under way; no HTTP and no crossing from a front end. Microseconds of this thread's
 * processor a write: of the first 1,000 of its kind after the start, and of the best 1,000 later. The note has what all
 * threads of the process took, the owner and the collectors of garbage included.
 *
 * `node --cpu-prof build/bench/micro/index.js writes` shows where the time goes; WRITES=pod,apply chooses kinds.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import type { KubeObject } from '#keelson/api/object.js'
import { Lifecycle } from '#keelson/lib/lifecycle.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { systemThreadId } from '#keelson/lib/thread-wait.js'
import { installDefinitions } from '#keelson/main/composition/definitions.js'
import { openProcessParts } from '#keelson/main/composition/process-parts.js'
import { startStorageThreads } from '#keelson/main/composition/storage-threads.js'
import { serveDefinitions } from '#keelson/main/composition/upkeep.js'
import { complete } from '#keelson/main/flags/config.js'
import { parseFlags } from '#keelson/main/flags/flags.js'
import { FLAGS } from '#keelson/main/flags/options.js'
import { NO_QUERY, resolveRequestInfo } from '#keelson/main/request/request-info-resolver.js'
import { NO_SLOT } from '#keelson/protocol/main-pool.js'
import { PoolPulse } from '#keelson/protocol/pool-pulse.js'
import { StageTimes } from '#keelson/protocol/stage-times.js'
import type { PoolWorker } from '#keelson/workers/pool-worker/pool-worker.js'
import { openPoolWorker } from '#keelson/workers/pool-worker/worker-assembly.js'
import { CREATED as CUSTOM, definition } from '../suite/custom-thing.js'
import { configMap, pod } from './sample-objects.js'

const AT_ONCE = 16
const COUNT = 1000
const ROUNDS = 6
const NAMESPACE = '/api/v1/namespaces/default'

interface Write {
  readonly method: string
  readonly path: string
  readonly query?: string
  readonly contentType?: string
  readonly body: object | string
}

interface Kind {
  readonly name: string
  /** What is there before; `make` writes to it. */
  readonly prepared?: (i: number) => Write
  readonly make: (i: number) => Write
}

const { status: _, metadata: podMetadata, ...podRest } = pod
const { uid: _uid, generation: _generation, creationTimestamp: _created, ...givenMetadata } = podMetadata
const newPod = (name: string): object => ({ ...podRest, metadata: { ...givenMetadata, name } })
const { uid: _mapUid, generation: _mapGeneration, creationTimestamp: _mapCreated, ...mapMetadata } = configMap.metadata
const newMap = (name: string, mode: string): object => ({
  ...configMap,
  metadata: { ...mapMetadata, name },
  data: { ...configMap.data, mode },
})
const custom = definition(0)

const post = (path: string, body: object | string): Write => ({ method: 'POST', path, body })
const patch = (path: string, kind: string, body: object, query = ''): Write => ({
  method: 'PATCH',
  path,
  query,
  contentType: `application/${kind}`,
  body,
})
/** Objects that are changed again and again, each by one request at a time. */
const one = (kind: string, i: number): string => `${kind}-${i % AT_ONCE}`

const KINDS: Readonly<Record<string, Kind>> = {
  configmap: {
    name: 'create a 1 KB ConfigMap',
    make: (i) => post(`${NAMESPACE}/configmaps`, newMap(`create-${i}`, 'production')),
  },
  pod: { name: 'create a 4 KB pod', make: (i) => post(`${NAMESPACE}/pods`, newPod(`create-${i}`)) },
  custom: { name: 'create a 12.8 KB custom object', make: () => post(custom.path, CUSTOM) },
  update: {
    name: 'update a 1 KB ConfigMap',
    prepared: (i) => post(`${NAMESPACE}/configmaps`, newMap(one('update', i), 'none')),
    make: (i) => ({
      method: 'PUT',
      path: `${NAMESPACE}/configmaps/${one('update', i)}`,
      body: newMap(one('update', i), `mode-${i}`),
    }),
  },
  status: {
    name: 'status patch of a 4 KB pod',
    prepared: (i) => post(`${NAMESPACE}/pods`, newPod(one('status', i))),
    make: (i) =>
      patch(`${NAMESPACE}/pods/${one('status', i)}/status`, 'strategic-merge-patch+json', {
        status: { phase: 'Running', message: `message ${i}`, conditions: pod.status.conditions },
      }),
  },
  apply: {
    name: 'server-side apply of a 4 KB pod, one annotation',
    prepared: (i) => applied(one('apply', i), 0),
    make: (i) => applied(one('apply', i), i + 1),
  },
}

function applied(name: string, i: number): Write {
  const annotations = { ...podMetadata.annotations, 'example.com/turn': String(i) }
  const body = { ...podRest, metadata: { ...givenMetadata, name, annotations } }
  return patch(`${NAMESPACE}/pods/${name}`, 'apply-patch+yaml', body, 'fieldManager=bench&force=true')
}

export async function run(): Promise<{ name: string; figure: string; note?: string }[]> {
  const folder = mkdtempSync(path.join(tmpdir(), 'keelson-bench-'))
  const lifecycle = new Lifecycle()
  try {
    const worker = await openWorker(folder, lifecycle)
    const namespace = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'default' } }
    await send(worker, post('/api/v1/namespaces', namespace))
    const chosen = process.env['WRITES']?.split(',') ?? Object.keys(KINDS)
    const rows: { name: string; figure: string; note?: string }[] = []
    for (const kind of chosen) rows.push(await measured(worker, KINDS[kind]!))
    return rows
  } finally {
    await lifecycle.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measured(
  worker: PoolWorker,
  { name, prepared, make }: Kind,
): Promise<{ name: string; figure: string; note: string }> {
  if (prepared !== undefined) for (let i = 0; i < AT_ONCE; i++) await send(worker, prepared(i))
  const rounds: { thread: number; process: number }[] = []
  for (let round = 0; round < ROUNDS; round++) rounds.push(await timed(worker, make, round * COUNT))
  const [first, ...later] = rounds
  const best = later.reduce((a, b) => (b.thread < a.thread ? b : a))
  return {
    name,
    figure: `${best.thread.toFixed(0)} µs`,
    note: `first 1,000: ${first!.thread.toFixed(0)} µs; all threads: ${best.process.toFixed(0)} µs, first ${first!.process.toFixed(0)} µs`,
  }
}

async function timed(
  worker: PoolWorker,
  make: Kind['make'],
  from: number,
): Promise<{ thread: number; process: number }> {
  const writes = Array.from({ length: COUNT }, (_, i) => ready(make(from + i)))
  const thread = threadMicroseconds()
  const before = process.cpuUsage()
  let next = 0
  const work = async (): Promise<void> => {
    while (next < writes.length) await carryOut(worker, writes[next++]!)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const { user, system } = process.cpuUsage(before)
  return { thread: (threadMicroseconds() - thread) / COUNT, process: (user + system) / COUNT }
}

type Task = Parameters<PoolWorker['run']>[0]

/** The request as the front end hands it over; making it is not measured. */
function ready({ method, path: target, query = '', contentType = 'application/json', body }: Write): Task {
  return {
    type: 'write',
    slot: NO_SLOT,
    input: {
      info: resolveRequestInfo(method, target, query === '' ? NO_QUERY : new URLSearchParams(query)),
      method,
      query,
      user: { name: 'bench', uid: '', groups: ['system:masters', 'system:authenticated'], extra: {} },
      accept: 'application/json',
      contentType,
      userAgent: 'bench/1',
      body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
      auditId: 'bench',
      deadlineMs: Date.now() + 60_000,
    },
  }
}

const send = (worker: PoolWorker, write: Write): Promise<void> => carryOut(worker, ready(write))

async function carryOut(worker: PoolWorker, task: Task): Promise<void> {
  const { status, body } = (await worker.run(task)) as { status: number; body: Uint8Array }
  if (status > 201) throw new Error(`${status} ${Buffer.from(body).toString().slice(0, 300)}`)
}

/** Of the calling thread, where the system counts it; else of the process. */
function threadMicroseconds(): number {
  const thread = systemThreadId()
  if (thread === 0) return process.cpuUsage().user + process.cpuUsage().system
  return Number(readFileSync(`/proc/self/task/${thread}/schedstat`, 'latin1').split(' ')[0]) / 1000
}

/** The worker of this thread, beside a pool of one thread that serves the definition of the custom objects. */
async function openWorker(folder: string, lifecycle: Lifecycle): Promise<PoolWorker> {
  const flags = [
    '--data-dir=memory',
    `--cert-dir=${folder}`,
    '--pool-threads=1',
    '--disable-admission-plugins=ServiceAccount',
  ]
  const completed = complete(parseFlags(flags, FLAGS).values)
  if ('errors' in completed) throw new Error(completed.errors.join('\n'))
  const { config } = completed
  const onFatal = (error: Error): never => {
    throw error
  }
  const parts = await openProcessParts({ config, logger: nullLogger, onFatal }, lifecycle)
  const storage = await startStorageThreads(parts)
  await serveDefinitions(parts, storage)
  await installDefinitions(parts, storage, [custom.body as KubeObject])
  const { port1, port2 } = new MessageChannel()
  lifecycle.own('changes', { close: () => port1.close() })
  return openPoolWorker({
    start: {
      ...config,
      authentication: parts.credentials.authentication,
      connection: config.kubelet,
      cancelFlags: new SharedArrayBuffer(4),
      pulse: PoolPulse.create(1).buffer,
      stageTimes: StageTimes.create(1).memory,
    },
    line: {
      port: await storage.owner.attach(),
      changes: port2,
      definitions: storage.resources.definitions(),
      access: storage.access.current(),
    },
    recorder: parts.metrics.recorder,
  })
}
