/**
 * Looks at the server while it is under load: its memory each second, and the longest delay of the event loop of each front end,
 * without the time in which the thread stood ready and the machine gave it no processor.
 */
import { readFileSync } from 'node:fs'
import type { AttackedServer } from '../attack/attacked-server.js'

export interface MemorySample {
  readonly atMs: number
  /** Heaps and shared memory. */
  readonly anonymousMiB: number
  /** Also the pages of files that are mapped: the engine's. */
  readonly residentMiB: number
}

export interface LoopDelay {
  readonly thread: string
  readonly atMs: number
  /** As the thread itself measured it. */
  readonly delayMs: number
  /** The longest that the machine let the thread wait within so long a time, near it. */
  readonly unscheduledMs: number
}

interface Waited {
  readonly atMs: number
  readonly waitedMs: number
}

const MEMORY_MS = 1000
const WAITED_MS = 50
/** Threads look at themselves every five seconds: nothing they say is missed. */
const SCRAPE_MS = 2000
/** How far back a delay that a scrape tells of may be. */
const KEPT_MS = 15_000
/** Delays below are not kept. */
const NOTEWORTHY_MS = 50
const TICK_MS = 10
const DELAY = /^keelson_event_loop_delay_seconds\{thread="((?:main|front-end)[^"]*)",quantile="1"\} (\S+)/gm

export class SoakProbe {
  readonly memory: MemorySample[] = []
  /** Those above NOTEWORTHY_MS. */
  readonly delays: LoopDelay[] = []
  /** Threads whose delays were seen at all. */
  readonly threads = new Set<string>()
  readonly #server: AttackedServer
  readonly #started = performance.now()
  readonly #waited = new Map<string, Waited[]>()
  #kernelThreads = new Map<string, number>()
  #timers: NodeJS.Timeout[] = []

  constructor(server: AttackedServer) {
    this.#server = server
  }

  async start(): Promise<void> {
    const { text } = await this.#server.admin('GET', '/debug/pprof/threads')
    const reports = JSON.parse(text) as { readonly thread: string; readonly kernelThread: number }[]
    this.#kernelThreads = new Map(
      reports
        .filter(({ thread }) => /^(?:main|front-end)/.test(thread))
        .map(({ thread, kernelThread }) => [thread, kernelThread]),
    )
    this.#timers = [
      setInterval(() => this.#lookAtMemory(), MEMORY_MS),
      setInterval(() => this.#lookAtWaits(), WAITED_MS),
      setInterval(() => void this.#scrape(), SCRAPE_MS),
    ]
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  /** The median of what was seen in a span of time. */
  memoryBetween(fromMs: number, toMs: number): Omit<MemorySample, 'atMs'> {
    const seen = this.memory.filter(({ atMs }) => atMs >= fromMs && atMs < toMs)
    const median = (of: (sample: MemorySample) => number): number =>
      seen.map(of).sort((a, b) => a - b)[seen.length >> 1] ?? 0
    return { anonymousMiB: median((s) => s.anonymousMiB), residentMiB: median((s) => s.residentMiB) }
  }

  get #elapsedMs(): number {
    return performance.now() - this.#started
  }

  #lookAtMemory(): void {
    const status = readFileSync(`/proc/${this.#server.pid}/status`, 'latin1')
    const of = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0) / 1024
    const anonymousMiB = of('RssAnon') + of('RssShmem')
    this.memory.push({ atMs: this.#elapsedMs, anonymousMiB, residentMiB: of('VmRSS') })
  }

  #lookAtWaits(): void {
    const atMs = this.#elapsedMs
    // What a machine above this one took away is told for all cores together.
    const stolenMs = Number(readFileSync('/proc/stat', 'latin1').split('\n', 1)[0]!.split(/\s+/)[8] ?? 0) * TICK_MS
    for (const [thread, kernelThread] of this.#kernelThreads) {
      const schedstat = readFileSync(`/proc/${this.#server.pid}/task/${kernelThread}/schedstat`, 'latin1')
      const waited = this.#waited.get(thread) ?? []
      waited.push({ atMs, waitedMs: Number(schedstat.split(' ')[1]) / 1e6 + stolenMs })
      while (waited[0]!.atMs < atMs - KEPT_MS) waited.shift()
      this.#waited.set(thread, waited)
    }
  }

  async #scrape(): Promise<void> {
    const { text } = await this.#server.admin('GET', '/metrics')
    for (const [, thread = '', seconds] of text.matchAll(DELAY)) {
      this.threads.add(thread)
      const delayMs = Number(seconds) * 1000
      // A period of five seconds is seen by several scrapes.
      const isKnown = this.delays.some((known) => known.thread === thread && known.delayMs === delayMs)
      if (delayMs < NOTEWORTHY_MS || isKnown) continue
      this.delays.push({ thread, atMs: this.#elapsedMs, delayMs, unscheduledMs: this.#longestWait(thread, delayMs) })
    }
  }

  /** Of all spans of time that are as long as the delay, the one in which the thread waited most for a processor. */
  #longestWait(thread: string, delayMs: number): number {
    const waited = this.#waited.get(thread) ?? []
    let [longest, from] = [0, 0]
    for (const [to, { atMs, waitedMs }] of waited.entries()) {
      while (from < to - 1 && atMs - waited[from]!.atMs > delayMs + 2 * WAITED_MS) from++
      longest = Math.max(longest, waitedMs - waited[from]!.waitedMs)
    }
    return Math.min(longest, delayMs)
  }
}
