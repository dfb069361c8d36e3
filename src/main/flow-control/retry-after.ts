/** Thread: any. How long a refused client is told to stay away: doubles while many are refused, and comes down by seconds. */

const MAX_SECONDS = 32
/** So many refusals for each second of the current delay make it longer. */
const MANY_PER_SECOND = 3

export class RetryAfter {
  #seconds = 1
  #raisedAt = 0
  #current = 0
  #count = 0
  #history: { second: number; count: number }[] = []

  get seconds(): number {
    return this.#seconds
  }

  refused(nowMs: number): void {
    const second = Math.floor(nowMs / 1000)
    if (second === this.#current) {
      this.#count++
      return
    }
    this.#history.push({ second: this.#current, count: this.#count })
    this.#history = this.#history.filter((past) => second - past.second <= Math.min(2 * this.#seconds, MAX_SECONDS))
    this.#current = second
    this.#count = 1
    this.#adjust(second)
  }

  #adjust(now: number): void {
    let recent = 0
    for (const { second, count } of this.#history) if (now - second <= this.#seconds) recent += count
    if (now - this.#raisedAt >= this.#seconds && recent >= MANY_PER_SECOND * this.#seconds) {
      this.#seconds = Math.min(MAX_SECONDS, this.#seconds * 2)
      this.#raisedAt = now
    } else if (recent < this.#seconds && this.#seconds > 1) this.#seconds--
  }
}
