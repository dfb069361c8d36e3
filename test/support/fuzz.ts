/** Seeded randomness for fuzz tests. KEELSON_FUZZ=N runs N times as many rounds, KEELSON_FUZZ_SEED=N other ones. */

export const fuzzRounds = (rounds: number): number => rounds * Number(process.env['KEELSON_FUZZ'] ?? '1')

export const fuzzSeed = (): number => Number(process.env['KEELSON_FUZZ_SEED'] ?? '1')

/** xorshift32: the same numbers for the same seed on every machine. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = (seed * 2654435761) >>> 0 || 1
  }

  /** A whole number below the limit. */
  below(limit: number): number {
    this.#state ^= this.#state << 13
    this.#state ^= this.#state >>> 17
    this.#state ^= this.#state << 5
    this.#state >>>= 0
    return this.#state % limit
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!
  }

  chance(percent: number): boolean {
    return this.below(100) < percent
  }
}
