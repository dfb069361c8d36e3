/** A sequential client: its decisions depend on its random numbers alone, so a seed repeats them; only the timing differs. */

import { pause } from '../../attack/attack.js'
import { Random } from '../../support/fuzz.js'

export interface Load {
  readonly seed: number
  /** Set off when the load is over. */
  readonly signal: AbortSignal
  /** Between two steps of a lane, at most. */
  readonly pauseMs: number
}

export async function runLane(load: Load, number: number, step: (random: Random) => Promise<void>): Promise<void> {
  const random = new Random(load.seed * 7919 + number)
  while (!load.signal.aborted) {
    await step(random)
    await pause(random.below(load.pauseMs), load.signal)
  }
}

/** Names that many lanes work on at once, and only for a while: so every object has a short history. */
export class SharedNames {
  readonly #stem: string
  readonly #count: number
  readonly #uses: number
  #used = 0

  constructor({ stem, count, uses }: { readonly stem: string; readonly count: number; readonly uses: number }) {
    this.#stem = stem
    this.#count = count
    this.#uses = uses
  }

  pick(random: Random): string {
    const generation = Math.floor(this.#used++ / (this.#uses * this.#count))
    return `${this.#stem}${generation}-${random.below(this.#count)}`
  }
}
