/**
 * Thread: any. Writes a message from its end to its beginning: the length of what a message holds is known when its
 * head is written, so nothing is measured first and nothing is moved.
 */

const FIRST_SIZE = 16 * 1024
/** A buffer that one large object made grow is not kept for the small ones after it. */
const KEPT_SIZE = 1024 * 1024
/** Up to this length a loop over the characters is faster than the call into the runtime. */
const SHORT = 40
const LONE_SURROGATE = /\p{Surrogate}/u
const TWO_32 = 4294967296

export class BackwardWriter {
  /** A note of whoever writes: so far, reading what is written gives what was given. The writer itself says of strings when it does not. */
  isCanonical = true
  #bytes = Buffer.allocUnsafeSlow(FIRST_SIZE)
  /** The first byte that is written. */
  #at = FIRST_SIZE

  /** How much is written: a length is the difference of two of these. */
  get length(): number {
    return this.#bytes.length - this.#at
  }

  /** A copy of all that is written; the next message starts anew. */
  take(): Buffer {
    const taken = Buffer.allocUnsafe(this.length)
    this.#bytes.copy(taken, 0, this.#at)
    this.reset()
    return taken
  }

  reset(): void {
    this.isCanonical = true
    if (this.#bytes.length > KEPT_SIZE) this.#bytes = Buffer.allocUnsafeSlow(FIRST_SIZE)
    this.#at = this.#bytes.length
  }

  byte(value: number): void {
    if (this.#at === 0) this.#grow(1)
    this.#bytes[--this.#at] = value
  }

  /** A whole number from 0 to 2^53. */
  varint(value: number): void {
    if (value < 0x80) {
      this.byte(value)
      return
    }
    if (value < 0x4000) {
      if (this.#at < 2) this.#grow(2)
      this.#bytes[--this.#at] = value >>> 7
      this.#bytes[--this.#at] = (value & 0x7f) | 0x80
      return
    }
    let size = 1
    for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 128)) size++
    if (this.#at < size) this.#grow(size)
    this.#at -= size
    let at = this.#at
    let rest = value
    while (rest >= 0x80) {
      this.#bytes[at++] = (rest % 128) | 0x80
      rest = Math.floor(rest / 128)
    }
    this.#bytes[at] = rest
  }

  /** Negative ones take ten bytes, as 64 bits of two's complement. */
  int64(value: number | bigint): void {
    if (typeof value === 'number' && value >= 0) {
      this.varint(value)
      return
    }
    const bits = BigInt.asUintN(64, BigInt(value))
    const groups: number[] = []
    for (let rest = bits; groups.length === 0 || rest > 0n; rest >>= 7n) groups.push(Number(rest & 0x7fn))
    for (let i = groups.length - 1; i >= 0; i--) this.byte(groups[i]! | (i === groups.length - 1 ? 0 : 0x80))
  }

  double(value: number): void {
    if (this.#at < 8) this.#grow(8)
    this.#at -= 8
    this.#bytes.writeDoubleLE(value, this.#at)
  }

  /** The text's bytes and before them their length. */
  string(text: string): void {
    const { length } = text
    if (length > SHORT || !this.#ascii(text, length)) {
      const size = Buffer.byteLength(text)
      // A surrogate without its other half is written as the replacement character.
      if (size !== length && LONE_SURROGATE.test(text)) this.isCanonical = false
      if (this.#at < size) this.#grow(size)
      this.#at -= size
      this.#bytes.write(text, this.#at, size, 'utf8')
      this.varint(size)
      return
    }
    this.byte(length)
  }

  #ascii(text: string, length: number): boolean {
    if (this.#at < length) this.#grow(length)
    const bytes = this.#bytes
    const start = this.#at - length
    for (let i = 0; i < length; i++) {
      const c = text.charCodeAt(i)
      if (c >= 0x80) return false
      bytes[start + i] = c
    }
    this.#at = start
    return true
  }

  /** Bytes without a length. */
  bytes(value: Uint8Array): void {
    const { length } = value
    if (this.#at < length) this.#grow(length)
    this.#at -= length
    this.#bytes.set(value, this.#at)
  }

  #grow(needed: number): void {
    const used = this.length
    const size = Math.max(this.#bytes.length * 2, used + needed)
    if (size >= TWO_32) throw new RangeError('a message of 4 GB')
    const larger = Buffer.allocUnsafeSlow(size)
    this.#bytes.copy(larger, size - used, this.#at)
    this.#at = size - used
    this.#bytes = larger
  }
}
