/**
 * A time to wait for something, of which a turn of looking and waiting takes no more than a second: a process that was frozen for minutes,
 * with everything that it waits for, has not waited.
 */
const LONGEST_TURN_MS = 1000

export class Patience {
  #leftMs: number
  #turnMs = performance.now()

  constructor(ms: number) {
    this.#leftMs = ms
  }

  /** To be called each time that somebody has looked. */
  isOver(): boolean {
    const nowMs = performance.now()
    this.#leftMs -= Math.min(nowMs - this.#turnMs, LONGEST_TURN_MS)
    this.#turnMs = nowMs
    return this.#leftMs < 0
  }
}
