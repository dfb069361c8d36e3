/**
 * Thread: any. How much of a range is left to those who choose a number themselves: a share of it, within limits, so that
 * what the server gives out seldom meets what people wrote down beforehand.
 */
export interface BandRule {
  readonly min: number
  readonly max: number
  /** One in so many. */
  readonly step: number
}

export const IP_BAND: BandRule = { min: 16, max: 256, step: 16 }
export const PORT_BAND: BandRule = { min: 16, max: 128, step: 32 }

export function bandOf(size: number, { min, max, step }: BandRule): number {
  if (size <= min) return 0
  return Math.min(max, Math.max(min, Math.floor(size / step)))
}
