/** One change, many watchers: how many events a second come out, and how late. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { change } from '../load/generator.js'
import { processorSeconds, stop, type Target } from './servers.js'
import { CONFIGMAPS, request, WATCHED, WATCHED_OBJECTS } from './workload.js'

export type FanOutOrder =
  | {
      readonly type: 'open'
      readonly url: string
      readonly target: string
      readonly token: string
      readonly count: number
    }
  | { readonly type: 'begin' }
  | { readonly type: 'count' }
export type FanOutAnswer =
  | { readonly type: 'opened' }
  | { readonly type: 'begun' }
  | { readonly type: 'failed'; readonly reason: string }
  | {
      readonly type: 'seen'
      readonly events: number
      readonly latenciesMs: readonly number[]
      /** Of the reader, since it began to count. */
      readonly processorMicroseconds: number
    }

export interface FanOut {
  readonly eventsPerSecond: number
  /** Processor time of the server for one event at one watcher. */
  readonly microseconds: number | undefined
  /** The same of the reader. */
  readonly readerMicroseconds: number
  /** From before the writes were sent until a watcher had read their events; undefined for bare. */
  readonly full?: Latencies
  /** The same at a rate that is far below what any server can do. */
  readonly steady?: Latencies
}

export interface Latencies {
  readonly p50Ms: number
  readonly p99Ms: number
}

const WRITERS = 4
/** Writes a second while latencies are taken: far below what any server here can do. */
const STEADY_WRITES = 10

export interface FanOutOptions {
  readonly watchers: number
  readonly seconds: number
  readonly bare: boolean
  /** For files of the generator. */
  readonly folder: string
}

export async function fanOut(target: Target, { watchers, seconds, bare, folder }: FanOutOptions): Promise<FanOut> {
  const script = fileURLToPath(new URL('./watch-process.js', import.meta.url))
  const client = fork(script, { serialization: 'advanced' })
  try {
    const path = bare ? '/watch' : WATCHED
    await ask(client, { type: 'open', url: target.url, target: path, token: target.token, count: watchers })
    const before = processorSeconds(target.process)
    await ask(client, { type: 'begin' })
    const started = performance.now()
    if (bare) await delay(seconds * 1000)
    else await writeAll(target, seconds, folder)
    const { events, latenciesMs, processorMicroseconds } = await seen(client)
    const elapsed = performance.now() - started
    const used = processorSeconds(target.process)
    const figure = {
      eventsPerSecond: (events * 1000) / elapsed,
      microseconds: used === undefined || before === undefined ? undefined : ((used - before) / events) * 1e6,
      readerMicroseconds: processorMicroseconds / events,
    }
    if (bare) return figure
    return { ...figure, full: percentiles(latenciesMs), steady: await steadyLatencies(target, client, seconds) }
  } finally {
    await stop(client)
  }
}

async function steadyLatencies(target: Target, client: ChildProcess, seconds: number): Promise<Latencies> {
  await delay(500)
  await ask(client, { type: 'begin' })
  for (let i = 0; i < STEADY_WRITES * seconds; i++) {
    const next = performance.now() + 1000 / STEADY_WRITES
    await write(target, i % WATCHED_OBJECTS)
    await delay(Math.max(0, next - performance.now()))
  }
  await delay(500)
  return percentiles((await seen(client)).latenciesMs)
}

function percentiles(latenciesMs: readonly number[]): Latencies {
  const sorted = [...latenciesMs].sort((a, b) => a - b)
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  return { p50Ms: at(0.5), p99Ms: at(0.99) }
}

async function writeAll({ url, token }: Target, seconds: number, folder: string): Promise<void> {
  const { failed, total } = await change(
    { url: `${url}${CONFIGMAPS}/watched-`, objects: WATCHED_OBJECTS, seconds, connections: WRITERS, token },
    folder,
  )
  if (failed > 0) throw new Error(`${failed} of ${total} changes failed`)
}

async function write(target: Target, object: number): Promise<void> {
  // The monotonic clock is the machine's: another process can subtract it.
  const patch = { data: { sent: String(process.hrtime.bigint()) } }
  const path = `${CONFIGMAPS}/watched-${object}`
  const { status } = await request(target, 'PATCH', path, patch, 'application/merge-patch+json')
  if (status !== 200) throw new Error(`PATCH ${path}: ${status}`)
}

async function seen(client: ChildProcess): Promise<FanOutAnswer & { type: 'seen' }> {
  const answer = await ask(client, { type: 'count' })
  if (answer.type !== 'seen') throw new Error(`counts wanted, not ${answer.type}`)
  return answer
}

async function ask(client: ChildProcess, order: FanOutOrder): Promise<FanOutAnswer> {
  const answered = once(client, 'message')
  client.send(order)
  const [answer] = (await answered) as [FanOutAnswer]
  if (answer.type === 'failed') throw new Error(answer.reason)
  return answer
}
