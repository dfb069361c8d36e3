/** Thread: main. Bounds the memory that one front end uses for copies of lists whose clients read slowly. */

/**
 * The most bytes that one list may copy, so that there is something left for others. A list that needs more is reopened
 * instead (list-body.ts).
 */
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

  /** Takes bytes from the budget; false when the list is too large or the budget is used up. */
  take(bytes: number): boolean {
    if (bytes > this.#eachBytes || this.#usedBytes + bytes > this.#totalBytes) return false
    this.#usedBytes += bytes
    return true
  }

  give(bytes: number): void {
    this.#usedBytes -= bytes
  }
}
