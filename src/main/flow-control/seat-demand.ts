/** Thread: any. How many seats a level could have used: over a period, and smoothed over many of them. */

/** A rise is followed at once; a fall halves about every thirty periods. */
const SMOOTHING = 0.977

export class SeatDemandMeter {
  #seats = 0
  #sinceMs: number
  #periodMs = 0
  #sum = 0
  #squares = 0
  #high = 0

  highWatermark = 0
  average = 0
  standardDeviation = 0
  smoothed = 0

  constructor(nowMs: number) {
    this.#sinceMs = nowMs
  }

  get seats(): number {
    return this.#seats
  }

  set(seats: number, nowMs: number): void {
    this.#integrate(nowMs)
    this.#seats = seats
    if (seats > this.#high) this.#high = seats
  }

  /** Ends a period: its figures are in the fields from now on. */
  endPeriod(nowMs: number): void {
    this.#integrate(nowMs)
    const period = this.#periodMs
    this.highWatermark = this.#high
    this.average = period > 0 ? this.#sum / period : this.#seats
    const variance = period > 0 ? this.#squares / period - this.average ** 2 : 0
    this.standardDeviation = Math.sqrt(Math.max(0, variance))
    const envelope = this.average + this.standardDeviation
    this.smoothed = Math.max(envelope, SMOOTHING * this.smoothed + (1 - SMOOTHING) * envelope)
    this.#periodMs = 0
    this.#sum = 0
    this.#squares = 0
    this.#high = this.#seats
  }

  #integrate(nowMs: number): void {
    const elapsed = nowMs - this.#sinceMs
    if (elapsed <= 0) return
    this.#sinceMs = nowMs
    this.#periodMs += elapsed
    this.#sum += elapsed * this.#seats
    this.#squares += elapsed * this.#seats * this.#seats
  }
}
