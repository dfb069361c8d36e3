/**
 * Thread: any. Reads what messages are made of, never past the end that it is given. The bytes are turned into text
 * once: a short string is a slice of that text, which costs a fifth of a call into the runtime for each.
 */
import { Wire } from './message-plan.js'
import { ProtobufError } from './protobuf-error.js'

/** From here on scanning for bytes beyond ASCII costs more than the call. */
const SHORT = 64
const MAX_GROUPS = 100

export class ByteReader {
  readonly bytes: Buffer
  #text: string | undefined
  at: number

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.at = 0
  }

  /** A whole number from 0 to 2^64, beyond 2^53 not exact: tags and lengths, which are never that large. */
  varint(end: number): number {
    const { bytes } = this
    let at = this.at
    if (at < end && bytes[at]! < 0x80) {
      this.at = at + 1
      return bytes[at]!
    }
    let value = 0
    let factor = 1
    for (let i = 0; i < 10; i++) {
      if (at >= end) throw truncated(end)
      const b = bytes[at++]!
      value += (b & 0x7f) * factor
      if (b < 0x80) {
        this.at = at
        return value
      }
      factor *= 128
    }
    throw new ProtobufError(`a number of more than 64 bits at byte ${this.at}`)
  }

  /** Signed; exact, as a bigint where a number is not. */
  int64(end: number): number | bigint {
    const start = this.at
    const value = this.varint(end)
    if (value <= Number.MAX_SAFE_INTEGER) return value
    let bits = 0n
    for (let at = this.at - 1; at >= start; at--) bits = (bits << 7n) | BigInt(this.bytes[at]! & 0x7f)
    const signed = BigInt.asIntN(64, bits)
    const number = Number(signed)
    return Number.isSafeInteger(number) ? number : signed
  }

  int32(end: number): number {
    const value = this.int64(end)
    return typeof value === 'number' ? value | 0 : Number(BigInt.asIntN(32, value))
  }

  boolean(end: number): boolean {
    return this.varint(end) !== 0
  }

  double(end: number): number {
    if (end - this.at < 8) throw truncated(end)
    this.at += 8
    return this.bytes.readDoubleLE(this.at - 8)
  }

  /** The length of what comes, which lies within what is there. Returns its end. */
  delimited(end: number): number {
    const length = this.varint(end)
    if (length > end - this.at)
      throw new ProtobufError(`a length of ${length} at byte ${this.at} where ${end - this.at} bytes are left`)
    return this.at + length
  }

  string(end: number): string {
    const stop = this.delimited(end)
    const start = this.at
    this.at = stop
    if (stop - start > SHORT) return this.bytes.toString('utf8', start, stop)
    const { bytes } = this
    for (let i = start; i < stop; i++) if (bytes[i]! >= 0x80) return bytes.toString('utf8', start, stop)
    this.#text ??= bytes.toString('latin1')
    return this.#text.slice(start, stop)
  }

  /** A view, not a copy. */
  view(end: number): Buffer {
    const stop = this.delimited(end)
    const view = this.bytes.subarray(this.at, stop)
    this.at = stop
    return view
  }

  base64(end: number): string {
    return this.view(end).toString('base64')
  }

  /** Passes over a field that nobody knows. */
  skip(tag: number, end: number): void {
    let groups = 0
    for (let at = tag; ; at = this.varint(end)) {
      if (at >>> 3 === 0) throw new ProtobufError(`field number 0 at byte ${this.at}`)
      switch (at & 7) {
        case Wire.varint:
          this.varint(end)
          break
        case Wire.fixed64:
          this.#pass(8, end)
          break
        case Wire.bytes:
          this.at = this.delimited(end)
          break
        case Wire.startGroup:
          if (++groups > MAX_GROUPS) throw new ProtobufError('groups are nested too deeply')
          break
        case Wire.endGroup:
          if (--groups < 0) throw new ProtobufError(`the end of a group that has no beginning at byte ${this.at}`)
          break
        case Wire.fixed32:
          this.#pass(4, end)
          break
        default:
          throw new ProtobufError(`unknown wire type ${at & 7} at byte ${this.at}`)
      }
      if (groups === 0) return
    }
  }

  #pass(count: number, end: number): void {
    if (end - this.at < count) throw truncated(end)
    this.at += count
  }
}

const truncated = (end: number): ProtobufError => new ProtobufError(`unexpected end of the message at byte ${end}`)
