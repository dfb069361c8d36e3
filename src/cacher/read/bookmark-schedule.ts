/** Thread: any. Decides when a watcher that asked for bookmarks gets one. */
import type { Clock } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'

/** A bookmark comes about every minute, spread out so that watchers that began together do not stay together. */
const INTERVAL_MS = 60_000
const SPREAD = 0.1
/** So long before the watch ends there is a last bookmark, so that the client's next watch begins close to now. */
const BEFORE_DEADLINE_MS = 2_000

export class BookmarkSchedule {
  readonly #clock: Clock
  readonly #random: Random
  #deadlineMs: number
  #nextMs: number

  /** `deadline` is the wall time at which the watch ends; undefined when it has no end. */
  constructor(options: { clock: Clock; random: Random; deadline: number | undefined }) {
    this.#clock = options.clock
    this.#random = options.random
    const now = this.#clock.monotonicMs()
    const left = options.deadline === undefined ? Number.POSITIVE_INFINITY : options.deadline - this.#clock.now()
    this.#deadlineMs = now + Math.max(left - BEFORE_DEADLINE_MS, 0)
    this.#nextMs = this.#following(now)
  }

  /** Milliseconds until the next bookmark: 0 when it is due, Infinity when there is none. */
  dueIn(): number {
    return Math.max(this.#nextMs - this.#clock.monotonicMs(), 0)
  }

  sent(): void {
    const now = this.#clock.monotonicMs()
    // The bookmark before the deadline is sent once.
    if (now >= this.#deadlineMs) this.#deadlineMs = Number.POSITIVE_INFINITY
    this.#nextMs = this.#following(now)
  }

  #following(now: number): number {
    return Math.min(now + INTERVAL_MS * (1 - SPREAD * this.#random()), this.#deadlineMs)
  }
}
