/** Thread: main. Memory of its own that a front end gives to lists whose clients read slowly, all of them together. */

/** One that needs more is reopened instead: it would leave nothing for others. */
const EACH_BYTES = 4 * 1024 * 1024
const TOTAL_BYTES = 16 * 1024 * 1024

export class CopyBudget {
  readonly #totalBytes: number
  readonly #eachBytes: number
  #usedBytes = 0

  constructor(totalBytes = TOTAL_BYTES, eachBytes = EACH_BYTES) {
    this.#totalBytes = totalBytes
    this.#eachBytes = eachBytes
  }

  get usedBytes(): number {
    return this.#usedBytes
  }

  /** False: so much is not to be had. */
  take(bytes: number): boolean {
    if (bytes > this.#eachBytes || this.#usedBytes + bytes > this.#totalBytes) return false
    this.#usedBytes += bytes
    return true
  }

  give(bytes: number): void {
    this.#usedBytes -= bytes
  }
}
