/**
 * Thread: any. What a thread knows of itself: how busy its event loop is, its heap and its collections, its processor time.
 * Looked at now and then by the thread itself, so that a scrape need not ask it; a thread that is seen to be quiet collects its garbage.
 */
import {
  constants,
  type EventLoopUtilization,
  monitorEventLoopDelay,
  type NodeGCPerformanceDetail,
  type PerformanceEntry,
  PerformanceObserver,
  performance,
} from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { Clock, Timer } from '../lib/clock.js'
import { readProc } from '../lib/proc-file.js'
import { QuietCollector } from '../lib/quiet-collector.js'
import { systemThreadId } from '../lib/thread-wait.js'
import { processFamilies } from './families.js'
import type { Recorder } from './recorder.js'

const PERIOD_MS = 5000
/** So often it is looked whether the thread is quiet: what a start or a load took is given back some seconds after it. */
const QUIET_PERIOD_MS = 1000
const RESOLUTION_MS = 20
/** Linux counts processor time of threads in hundredths of a second. */
const TICKS_PER_SECOND = 100
const USER_TICKS = 11
const SYSTEM_TICKS = 12

/** Kinds of collections: of the young generation, of the whole heap, and steps of the latter between other work. */
const GC_KINDS: ReadonlyMap<number | undefined, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weak callbacks'],
])

/** What an entry of type `gc` has beside the others; the types of Node do not say so. */
type CollectionEntry = PerformanceEntry & { readonly detail: NodeGCPerformanceDetail }

export class ThreadProbe {
  readonly #thread: string
  readonly #recorder: Recorder
  readonly #clock: Clock
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  readonly #collections = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) this.#collected(entry)
  })
  readonly #quietCollector = new QuietCollector()
  readonly #statFile = ownStatFile()
  #timer: Timer | undefined
  #utilization: EventLoopUtilization | undefined
  #quietTimer: Timer | undefined
  #cpuSeconds = 0

  constructor(thread: string, recorder: Recorder, clock: Clock) {
    this.#thread = thread
    this.#recorder = recorder
    this.#clock = clock
  }

  start(): void {
    this.#delay.enable()
    this.#collections.observe({ entryTypes: ['gc'] })
    this.#look()
    this.#lookForQuiet()
  }

  stop(): void {
    this.#timer?.cancel()
    this.#quietTimer?.cancel()
    this.#delay.disable()
    this.#collections.disconnect()
  }

  #collected(entry: PerformanceEntry): void {
    const { detail, duration } = entry as CollectionEntry
    const kind = GC_KINDS.get(detail.kind) ?? 'other'
    if (kind === 'major') this.#quietCollector.collected()
    this.#recorder.series(processFamilies.threadGcSeconds, this.#thread, kind).add(duration / 1000)
    this.#recorder.series(processFamilies.threadGcRuns, this.#thread, kind).add(1)
  }

  #lookForQuiet(): void {
    this.#quietTimer = this.#clock.after(QUIET_PERIOD_MS, () => {
      this.#quietCollector.look()
      this.#lookForQuiet()
    })
  }

  #look(): void {
    const recorder = this.#recorder
    const now = performance.eventLoopUtilization()
    const since = performance.eventLoopUtilization(now, this.#utilization)
    this.#utilization = now
    recorder.series(processFamilies.loopUtilization, this.#thread).set(since.utilization)
    if (this.#delay.count > 0) {
      for (const quantile of [50, 99, 100]) {
        // The histogram holds whole intervals: only the time above the resolution is delay.
        const seconds = Math.max(0, this.#delay.percentile(quantile) / 1e9 - RESOLUTION_MS / 1000)
        recorder.series(processFamilies.loopDelay, this.#thread, String(quantile / 100)).set(seconds)
      }
      this.#delay.reset()
    }
    const { used_heap_size: used, total_heap_size: total, external_memory: external } = getHeapStatistics()
    for (const [kind, bytes] of Object.entries({ used, total, external }))
      recorder.series(processFamilies.threadHeap, this.#thread, kind).set(bytes)
    const cpuSeconds = this.#statFile === undefined ? now.active / 1000 : cpuSecondsOf(this.#statFile)
    // What cannot be told now is told by the next look, which adds all since the last one.
    if (cpuSeconds !== undefined) {
      recorder.series(processFamilies.threadCpu, this.#thread).add(Math.max(0, cpuSeconds - this.#cpuSeconds))
      this.#cpuSeconds = cpuSeconds
    }
    this.#timer = this.#clock.after(PERIOD_MS, () => this.#look())
  }
}

/**
 * The file in which Linux tells what the calling thread has used; without /proc the time that its event loop was busy
 * stands for it.
 */
function ownStatFile(): string | undefined {
  const thread = systemThreadId()
  return thread === 0 ? undefined : `self/task/${thread}/stat`
}

function cpuSecondsOf(statFile: string): number | undefined {
  const stat = readProc(statFile)
  if (stat === undefined || stat === 'absent') return undefined
  // The name of the thread, in parentheses, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[USER_TICKS]) + Number(fields[SYSTEM_TICKS])) / TICKS_PER_SECOND
}
