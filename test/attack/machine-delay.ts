/**
 * How much of a time span is the machine's doing: how late a plain timer of this process came, and how long threads of the
 * server stood ready to run without a processor, which Linux counts for each.
 */
import { readdirSync, readFileSync } from 'node:fs'

export interface Delay {
  /** How late the timer came at most. */
  readonly timerLateMs: number
  /** Of the server's thread that waited longest for a processor. */
  readonly unscheduledMs: number
}

export interface DelayWindow {
  lateMs: number
  readonly waits: Map<string, number>
}

const TICK_MS = 10
/** Older windows are compared with numbers this old at most. */
const SAMPLE_MS = 100

export class MachineDelay {
  longestLateMs = 0
  readonly #pid: number
  readonly #open = new Set<DelayWindow>()
  #expected = 0
  #waits = new Map<string, number>()
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
    const window = { lateMs: 0, waits: this.#sample() }
    this.#open.add(window)
    return window
  }

  close(window: DelayWindow): Delay {
    this.#open.delete(window)
    const late = performance.now() - this.#expected
    const now = this.#sample()
    let unscheduledMs = 0
    for (const [thread, waited] of now)
      unscheduledMs = Math.max(unscheduledMs, waited - (window.waits.get(thread) ?? 0))
    return { timerLateMs: Math.max(window.lateMs, late), unscheduledMs }
  }

  #tick(): void {
    const now = performance.now()
    const late = Math.max(0, now - this.#expected)
    this.#expected = now + TICK_MS
    this.longestLateMs = Math.max(this.longestLateMs, late)
    for (const window of this.#open) window.lateMs = Math.max(window.lateMs, late)
  }

  /** Milliseconds on the run queue by thread. */
  #sample(): Map<string, number> {
    if (performance.now() - this.#sampledAt < SAMPLE_MS) return this.#waits
    this.#sampledAt = performance.now()
    const waits = new Map<string, number>()
    const folder = `/proc/${this.#pid}/task`
    try {
      for (const thread of readdirSync(folder)) {
        const [, waitedNs = '0'] = readFileSync(`${folder}/${thread}/schedstat`, 'latin1').split(' ')
        waits.set(thread, Number(waitedNs) / 1e6)
      }
    } catch {
      // A thread, or the server, ended between the two reads: what is known so far has to do.
      return this.#waits
    }
    this.#waits = waits
    return waits
  }
}
