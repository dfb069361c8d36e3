/**
 * Thread: main, or a front end's own. /debug: CPU profiles and heap snapshots of any thread, and what is in shared memory. Who
 * may see it is for authorization to say, as everywhere.
 */
import type { MessagePort } from 'node:worker_threads'
import { fromErrorRecord } from '../../protocol/error-record.js'
import type { CacheCosts, HealthProbe, OwnerHealth } from '../../protocol/main-owner.js'
import type { InspectionAnswer, InspectionQuestion } from '../../protocol/thread-inspection.js'
import type { Exchange } from '../http/exchange.js'
import type { ResponseHead } from '../http/response-head.js'
import type { ResponseStream } from '../http/response-stream.js'
import type { NonResourcePaths } from './non-resource-paths.js'

/** What a front end asks of the process, which has the threads. */
export interface DebugLine {
  threads(): Promise<readonly string[]>
  /** A line to a thread (protocol/thread-inspection.ts); undefined when there is no such thread. */
  visit(thread: string): Promise<MessagePort | undefined>
  cacheCosts(): Promise<CacheCosts>
  health(probe: HealthProbe): Promise<OwnerHealth>
  /** Follows writes for so long; gives how long they were in each stage, as text. */
  traceWrites(seconds: number): Promise<string>
}

export interface DebugPathsOptions {
  readonly line: DebugLine
  /** --profiling */
  readonly profiling: boolean
  /** The oldest revision that memory still serves of a resource, and the newest. */
  readonly window: (resource: string) => { readonly oldest: number; readonly newest: number } | undefined
}

const TEXT = 'text/plain; charset=utf-8'
const JSON_TYPE = 'application/json'
/** The default of Go's profiler. */
const DEFAULT_SECONDS = 30
const MAX_SECONDS = 600
const DEFAULT_TRACE_SECONDS = 5

export function installDebugPaths(paths: NonResourcePaths, { line, profiling, window }: DebugPathsOptions): void {
  paths.exact('/debug/cache', async (exchange) => {
    const [costs, { clusters, resources }] = await Promise.all([line.cacheCosts(), line.health('health')])
    const arenas = Object.entries(resources)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([resource, health]) => ({ resource, ...health, ...costs.resources[resource], revisions: window(resource) }))
    respondJson(exchange, { clusters: clusters.map((cluster, i) => ({ ...cluster, ...costs.clusters[i] })), arenas })
  })
  if (!profiling) return
  paths.exact('/debug/pprof', async (exchange) => {
    exchange.respond({ status: 200, contentType: TEXT }, index(await line.threads()))
  })
  paths.exact('/debug/pprof/threads', async (exchange) => {
    const reports = await Promise.all((await line.threads()).map((thread) => report(line, thread)))
    respondJson(
      exchange,
      reports.filter((found) => found !== undefined),
    )
  })
  paths.exact('/debug/pprof/profile', async (exchange, query) => {
    const seconds = askedSeconds(exchange, query, DEFAULT_SECONDS)
    if (seconds !== undefined) await show(exchange, line, query, { type: 'profile', seconds }, 'cpuprofile')
  })
  paths.exact('/debug/pprof/writes', async (exchange, query) => {
    const seconds = askedSeconds(exchange, query, DEFAULT_TRACE_SECONDS)
    if (seconds !== undefined) exchange.respond({ status: 200, contentType: TEXT }, await line.traceWrites(seconds))
  })
  paths.exact('/debug/pprof/heap', (exchange, query) => show(exchange, line, query, { type: 'heap' }, 'heapsnapshot'))
}

/** Undefined when what was asked for is no time, and the client was told so. */
function askedSeconds(exchange: Exchange, query: URLSearchParams, usual: number): number | undefined {
  const asked = query.get('seconds') ?? String(usual)
  const seconds = Number(asked)
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds
  const said = `seconds must be a number above 0 and not above ${MAX_SECONDS}, not ${JSON.stringify(asked)}\n`
  exchange.respond({ status: 400, contentType: TEXT }, said)
  return undefined
}

const index = (threads: readonly string[]): string => `/debug/pprof/

threads    /debug/pprof/threads                       heap and utilization of each thread
profile    /debug/pprof/profile?thread=main&seconds=${DEFAULT_SECONDS}  a CPU profile, for Chrome's tools (.cpuprofile)
writes     /debug/pprof/writes?seconds=${DEFAULT_TRACE_SECONDS}               how long writes are in each stage of their way
heap       /debug/pprof/heap?thread=main              a heap snapshot (.heapsnapshot); the thread stands still meanwhile

Threads: ${threads.join(' ')}
`

function respondJson(exchange: Exchange, value: unknown): void {
  exchange.respond({ status: 200, contentType: JSON_TYPE }, `${JSON.stringify(value)}\n`)
}

/** Answers with what a thread says to a question. */
async function show(
  exchange: Exchange,
  line: DebugLine,
  query: URLSearchParams,
  question: InspectionQuestion,
  extension: string,
): Promise<void> {
  const thread = query.get('thread') ?? 'main'
  const port = await line.visit(thread)
  if (port === undefined) {
    const said = `there is no thread ${JSON.stringify(thread)}; there are ${(await line.threads()).join(', ')}\n`
    exchange.respond({ status: 404, contentType: TEXT }, said)
    return
  }
  const disposition = `attachment; filename="${thread}.${extension}"`
  const head = { status: 200, contentType: JSON_TYPE, headers: ['Content-Disposition', disposition] }
  await relay(exchange, head, port, question)
}

/** Passes the pieces on as the client takes them. Rejects when it fails before the first piece. */
function relay(exchange: Exchange, head: ResponseHead, port: MessagePort, question: InspectionQuestion): Promise<void> {
  return new Promise((resolve, reject) => {
    const waiting: Buffer[] = []
    let stream: ResponseStream | undefined
    let ended = false
    let blocked = false
    const flush = (): void => {
      while (stream !== undefined && !blocked && waiting.length > 0) blocked = !stream.write(waiting.shift()!)
      if (ended && waiting.length === 0) {
        stream?.end()
        port.close()
      }
    }
    const begin = (): ResponseStream | undefined => {
      // A profile is a file: who asks for it by a WebSocket gets it in plain HTTP.
      const begun = exchange.startPlainStream(head)
      begun?.onDrain(() => {
        blocked = false
        flush()
      })
      return begun
    }
    exchange.onAbort(() => port.close())
    port.on(
      'close',
      exchange.guard(() => {
        // The thread ended before it had sent everything.
        if (!ended) exchange.breakOff()
        resolve()
      }),
    )
    port.on(
      'message',
      exchange.guard((answer: InspectionAnswer) => {
        if (answer.type === 'failed') {
          ended = true
          if (stream === undefined) reject(fromErrorRecord(answer.error))
          else exchange.breakOff()
          port.close()
          return
        }
        if (answer.type === 'piece') {
          stream ??= begin()
          waiting.push(Buffer.from(answer.text))
        } else ended = true
        flush()
      }),
    )
    port.postMessage(question)
  })
}

/** The report of a thread; undefined when the thread has ended meanwhile. */
async function report(line: DebugLine, thread: string): Promise<unknown> {
  const port = await line.visit(thread)
  if (port === undefined) return undefined
  return new Promise((resolve) => {
    port.on('close', () => resolve(undefined))
    port.on('message', (answer: InspectionAnswer) => {
      if (answer.type === 'piece') resolve(JSON.parse(answer.text))
      port.close()
    })
    port.postMessage({ type: 'report' } satisfies InspectionQuestion)
  })
}
