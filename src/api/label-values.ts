/**
 * Thread: any. The values that a requirement names, without repetition and in ascending order. A watch keeps them for hours, and
 * a selector may name thousands: those lie in one string, at 4 bytes each beside their characters instead of 70.
 */

/** Up to here the strings themselves are kept: that is as small, and faster. */
const FEW = 16

export class LabelValues {
  readonly size: number
  readonly #few: readonly string[] | undefined
  /** All of them with commas between: no valid value holds one. */
  readonly #text: string
  /** Where each ends in the text. */
  readonly #ends: Uint32Array | undefined

  /** Values are valid, unique and sorted. */
  constructor(values: readonly string[]) {
    this.size = values.length
    this.#text = values.join(',')
    if (values.length <= FEW) {
      this.#few = values
      return
    }
    this.#ends = new Uint32Array(values.length)
    let at = -1
    for (const [i, value] of values.entries()) {
      at += value.length + 1
      this.#ends[i] = at
    }
  }

  at(index: number): string {
    if (this.#few !== undefined) return this.#few[index]!
    return this.#text.slice(index === 0 ? 0 : this.#ends![index - 1]! + 1, this.#ends![index])
  }

  has(value: string): boolean {
    if (this.#few !== undefined) return this.#few.includes(value)
    let low = 0
    let high = this.size
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.at(middle) < value) low = middle + 1
      else high = middle
    }
    return low < this.size && this.at(low) === value
  }

  list(): string[] {
    return Array.from({ length: this.size }, (_, i) => this.at(i))
  }

  toString(): string {
    return this.#text
  }
}
