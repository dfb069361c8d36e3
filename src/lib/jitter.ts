/** Thread: any. */
export type Random = () => number

/** A duration of at least `baseMs`, up to `baseMs * (1 + factor)`; spreads the loops of many processes. */
export function jitter(baseMs: number, factor: number, random: Random = Math.random): number {
  return baseMs * (1 + factor * random())
}

/** Exponential backoff with full jitter on its upper half: attempt 0 waits about `baseMs`, never more than `capMs`. */
export function backoff(attempt: number, baseMs: number, capMs: number, random: Random = Math.random): number {
  const ceiling = Math.min(capMs, baseMs * 2 ** Math.min(attempt, 30))
  return ceiling / 2 + (ceiling / 2) * random()
}
