import type { Clock, Timer } from '#keelson/lib/clock.js'

/** A clock that stands still until advance() is called. */
export class FakeClock implements Clock {
  #nowMs: number
  #timers: { dueMs: number; callback: () => void }[] = []

  constructor(startMs = Date.UTC(2026, 0, 1)) {
    this.#nowMs = startMs
  }

  now(): number {
    return this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs
  }

  after(delayMs: number, callback: () => void): Timer {
    const timer = { dueMs: this.#nowMs + delayMs, callback }
    this.#timers.push(timer)
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((t) => t !== timer)
      },
    }
  }

  get pendingTimers(): number {
    return this.#timers.length
  }

  /** Moves on, firing what falls due in order, and lets what they started settle after each. */
  async advance(ms: number): Promise<void> {
    const until = this.#nowMs + ms
    for (;;) {
      const next = this.#timers.filter((t) => t.dueMs <= until).sort((a, b) => a.dueMs - b.dueMs)[0]
      if (next === undefined) break
      this.#timers = this.#timers.filter((t) => t !== next)
      this.#nowMs = next.dueMs
      next.callback()
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#nowMs = until
  }
}
