/**
 * The time of a run: while the machine is frozen, or gives this process nothing, it stands still. So faults come as far apart as they were
 * planned, and a run has as much load in it, however often it was interrupted.
 */

const TICK_MS = 25
/** A tick that comes later than this counts as so much: a busy machine keeps a process waiting for a moment now and then. */
const LONGEST_MS = 250

export class AwakeClock {
  readonly #timer: NodeJS.Timeout
  readonly #sleepers = new Set<{ readonly untilMs: number; readonly wake: () => void }>()
  #lastMs = performance.now()
  #nowMs = 0

  private constructor() {
    this.#timer = setInterval(() => this.#tick(), TICK_MS)
  }

  static start(): AwakeClock {
    return new AwakeClock()
  }

  sleep(ms: number): Promise<void> {
    return new Promise((wake) => this.#sleepers.add({ untilMs: this.#nowMs + ms, wake }))
  }

  /** Whoever sleeps is left asleep. */
  stop(): void {
    clearInterval(this.#timer)
  }

  #tick(): void {
    const nowMs = performance.now()
    this.#nowMs += Math.min(nowMs - this.#lastMs, LONGEST_MS)
    this.#lastMs = nowMs
    for (const sleeper of this.#sleepers) {
      if (sleeper.untilMs > this.#nowMs) continue
      this.#sleepers.delete(sleeper)
      sleeper.wake()
    }
  }
}
