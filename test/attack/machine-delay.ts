/**
 * How much of a time span is the machine's doing: how late a plain timer of this process came, and how long threads of the
 * server stood ready to run without a processor, which Linux counts for each.
 */
import { readdirSync, readFileSync } from 'node:fs'

export interface Delay {
  /** How late the timer came at most. */
  readonly timerLateMs: number
  /** How long the server's threads stood ready without a processor: of those that waited longest, as many as a request passes. */
  readonly unscheduledMs: number
  /** How long the busiest thread of the server ran: what the time span would have been on a machine of its own. */
  readonly ranMs: number
}

interface ThreadTimes {
  readonly ranMs: number
  readonly waitedMs: number
}

export interface DelayWindow {
  lateMs: number
  readonly before: ReadonlyMap<string, ThreadTimes>
}

/** A front end, the pool and the owner wait one after the other for one request. */
const PASSED_THREADS = 3

const TICK_MS = 10
/** Older windows are compared with numbers this old at most. */
const SAMPLE_MS = 100

export class MachineDelay {
  longestLateMs = 0
  readonly #pid: number
  readonly #open = new Set<DelayWindow>()
  #expected = 0
  #times: ReadonlyMap<string, ThreadTimes> = new Map()
  #sampledAt = 0

  constructor(pid: number) {
    this.#pid = pid
  }

  /** Runs until the process ends; it does not keep it. */
  start(): void {
    this.#expected = performance.now() + TICK_MS
    setInterval(() => this.#tick(), TICK_MS).unref()
  }

  open(): DelayWindow {
    const window = { lateMs: 0, before: this.#sample() }
    this.#open.add(window)
    return window
  }

  close(window: DelayWindow): Delay {
    this.#open.delete(window)
    const late = performance.now() - this.#expected
    const waits: number[] = []
    let ranMs = 0
    for (const [thread, times] of this.#sample()) {
      const before = window.before.get(thread)
      waits.push(times.waitedMs - (before?.waitedMs ?? 0))
      ranMs = Math.max(ranMs, times.ranMs - (before?.ranMs ?? 0))
    }
    const longest = waits.sort((a, b) => b - a).slice(0, PASSED_THREADS)
    const unscheduledMs = longest.reduce((sum, wait) => sum + wait, 0)
    return { timerLateMs: Math.max(window.lateMs, late), unscheduledMs, ranMs }
  }

  #tick(): void {
    const now = performance.now()
    const late = Math.max(0, now - this.#expected)
    this.#expected = now + TICK_MS
    this.longestLateMs = Math.max(this.longestLateMs, late)
    for (const window of this.#open) window.lateMs = Math.max(window.lateMs, late)
  }

  #sample(): ReadonlyMap<string, ThreadTimes> {
    if (performance.now() - this.#sampledAt < SAMPLE_MS) return this.#times
    this.#sampledAt = performance.now()
    const times = new Map<string, ThreadTimes>()
    const folder = `/proc/${this.#pid}/task`
    try {
      for (const thread of readdirSync(folder)) {
        const [ranNs = 0, waitedNs = 0] = readFileSync(`${folder}/${thread}/schedstat`, 'latin1').split(' ').map(Number)
        times.set(thread, { ranMs: ranNs / 1e6, waitedMs: waitedNs / 1e6 })
      }
    } catch {
      // A thread, or the server, ended between the two reads: what is known so far has to do.
      return this.#times
    }
    this.#times = times
    return times
  }
}
