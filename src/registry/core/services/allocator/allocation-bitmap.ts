/**
 * Thread: pool. Which numbers of a range are taken, as the `data` of a RangeAllocation keeps it: the bytes of one large
 * integer, most significant first, bit n for the n-th number, no zero bytes in front.
 */
import type { Random } from '../../../../lib/jitter.js'

export class AllocationBitmap {
  readonly size: number
  /** So many numbers at the start are left to those who choose one themselves, as long as there are others. */
  readonly band: number
  /** Byte i has the bits 8i to 8i+7. */
  readonly #bytes: Uint8Array

  constructor(size: number, band: number, data: Uint8Array = new Uint8Array(0)) {
    this.size = size
    this.band = band
    this.#bytes = new Uint8Array(Math.max(Math.ceil(size / 8), data.length))
    for (let i = 0; i < data.length; i++) this.#bytes[i] = data[data.length - 1 - i]!
  }

  has(index: number): boolean {
    return ((this.#bytes[index >> 3] ?? 0) & (1 << (index & 7))) !== 0
  }

  /** False when it is taken already. */
  take(index: number): boolean {
    if (this.has(index)) return false
    this.#bytes[index >> 3]! |= 1 << (index & 7)
    return true
  }

  release(index: number): void {
    if (this.has(index)) this.#bytes[index >> 3]! &= ~(1 << (index & 7))
  }

  /** A random free number of the upper band, then of the lower one; undefined when all are taken. */
  takeNext(random: Random): number | undefined {
    const found = this.#scan(this.band, this.size, random) ?? this.#scan(0, this.band, random)
    if (found !== undefined) this.take(found)
    return found
  }

  #scan(from: number, to: number, random: Random): number | undefined {
    const length = to - from
    const start = Math.floor(random() * length)
    for (let i = 0; i < length; i++) {
      const index = from + ((start + i) % length)
      if (!this.has(index)) return index
    }
    return undefined
  }

  *[Symbol.iterator](): Generator<number> {
    for (let i = 0; i < this.size; i++) if (this.has(i)) yield i
  }

  /** What restore() takes back. */
  save(): Uint8Array {
    return this.#bytes.slice()
  }

  restore(saved: Uint8Array): void {
    this.#bytes.set(saved)
  }

  toBytes(): Uint8Array {
    let length = this.#bytes.length
    while (length > 0 && this.#bytes[length - 1] === 0) length--
    return this.#bytes.slice(0, length).reverse()
  }
}
