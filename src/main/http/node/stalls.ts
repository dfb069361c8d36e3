/**
 * Thread: main, or a front end's own. Gives up waiting for a client that does nothing: one that does not take its
 * answer, or does not send its body. uWebSockets.js does this by itself; Node does not. One timer looks at all waits.
 */
import type { Clock, Timer } from '../../../lib/clock.js'

/** A wait without progress is given up after this time, which is that of uWebSockets.js. */
export const STALL_MS = 10_000
const LOOK_MS = 2_000

export interface Waiting {
  /** Called when there was no progress for STALL_MS. */
  giveUp(): void
}

export class Stalls {
  readonly #clock: Clock
  /**
   * The time of the last progress of each wait. It holds at most two waits a request under way: one for its answer, one
   * for its body.
   */
  readonly #since = new Map<Waiting, number>()
  #timer: Timer | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Starts a wait, or starts its time anew because there was progress. */
  wait(waiting: Waiting): void {
    this.#since.set(waiting, this.#clock.monotonicMs())
    this.#timer ??= this.#clock.after(LOOK_MS, () => this.#look())
  }

  /** Starts the time of a wait anew; has no effect on what does not wait. */
  touch(waiting: Waiting): void {
    if (this.#since.has(waiting)) this.wait(waiting)
  }

  over(waiting: Waiting): void {
    this.#since.delete(waiting)
  }

  #look(): void {
    const last = this.#clock.monotonicMs() - STALL_MS
    for (const [waiting, sinceMs] of this.#since) {
      if (sinceMs > last) continue
      this.#since.delete(waiting)
      waiting.giveUp()
    }
    this.#timer = this.#since.size === 0 ? undefined : this.#clock.after(LOOK_MS, () => this.#look())
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#since.clear()
  }
}
