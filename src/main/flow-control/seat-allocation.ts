/** Thread: any. Seats shared out in proportion to what each asks for, within each one's bounds. */

export interface SeatClaim {
  readonly lower: number
  readonly upper: number
  /** The seats that are asked for, at least `lower`. */
  readonly target: number
}

/** The least target: who asks for nothing still stands in proportion to somebody. */
const MIN_TARGET = 0.001
/** Each step halves the error of a double; more steps change nothing. */
const STEPS = 100

/**
 * Every claim gets `fraction` of its target, cut to its bounds, with the fraction at which they add up to `total`. The sum
 * only grows with the fraction, so halving finds it. Bounds that cannot add up to the total are all taken at their nearer end.
 */
export function allocateSeats(total: number, claims: readonly SeatClaim[]): { seats: number[]; fraction: number } {
  const at = (fraction: number): number[] =>
    claims.map(({ lower, upper, target }) => Math.min(upper, Math.max(lower, fraction * Math.max(target, MIN_TARGET))))
  const sum = (seats: readonly number[]): number => seats.reduce((a, b) => a + b, 0)
  let low = 0
  let high = Math.max(1, ...claims.map(({ upper, target }) => upper / Math.max(target, MIN_TARGET)))
  if (sum(at(high)) <= total) return { seats: at(high), fraction: high }
  if (sum(at(low)) >= total) return { seats: at(low), fraction: low }
  for (let i = 0; i < STEPS; i++) {
    const middle = (low + high) / 2
    if (sum(at(middle)) < total) low = middle
    else high = middle
  }
  return { seats: at(high), fraction: high }
}
