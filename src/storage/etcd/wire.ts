/**
 * Thread: any. Protocol Buffers on the wire, as far as etcd's messages need it: varints, bytes, nested messages.
 *
 * The writer fills its buffer from the end towards the front, fields in reverse order. A nested message is then
 * complete before its length is written, so nothing is measured twice or moved, and a value is copied once.
 */

const enum WireType {
  Varint = 0,
  Fixed64 = 1,
  Bytes = 2,
  Fixed32 = 5,
}

const GRPC_HEADER_BYTES = 5
const TWO_32 = 2 ** 32

export class WireWriter {
  #buffer: Buffer
  /** Where the written bytes begin; they go on to the end of the buffer. */
  #at: number

  constructor(sizeHint: number) {
    this.#buffer = Buffer.allocUnsafe(sizeHint)
    this.#at = sizeHint
  }

  /** Bytes written so far; hand it to `message` to enclose what is written after this moment. */
  mark(): number {
    return this.#buffer.length - this.#at
  }

  /** Encloses what was written since `mark` as a nested message. */
  message(field: number, mark: number): void {
    this.#varint(this.mark() - mark)
    this.#tag(field, WireType.Bytes)
  }

  number(field: number, value: number): void {
    this.#varint(value)
    this.#tag(field, WireType.Varint)
  }

  /** Leaves out 0, the default, as protobuf 3 does. */
  numberUnlessZero(field: number, value: number): void {
    if (value !== 0) this.number(field, value)
  }

  flag(field: number, value: boolean): void {
    if (value) this.number(field, 1)
  }

  int64(field: number, value: bigint): void {
    const unsigned = BigInt.asUintN(64, value)
    let rest = unsigned
    let size = 1
    while (rest >= 0x80n) {
      rest >>= 7n
      size++
    }
    let at = this.#reserve(size)
    rest = unsigned
    for (; rest >= 0x80n; rest >>= 7n) this.#buffer[at++] = Number(rest & 0x7fn) | 0x80
    this.#buffer[at] = Number(rest)
    this.#tag(field, WireType.Varint)
  }

  bytes(field: number, value: Uint8Array): void {
    // Reserved first, because reserving may replace the buffer.
    const at = this.#reserve(value.length)
    this.#buffer.set(value, at)
    this.#varint(value.length)
    this.#tag(field, WireType.Bytes)
  }

  string(field: number, value: string): void {
    const length = Buffer.byteLength(value)
    const at = this.#reserve(length)
    this.#buffer.write(value, at, length, 'utf8')
    this.#varint(length)
    this.#tag(field, WireType.Bytes)
  }

  finish(): Buffer {
    return this.#buffer.subarray(this.#at)
  }

  /** The message with gRPC's prefix: a flag for "not compressed", and the length. */
  finishFrame(): Buffer {
    const length = this.mark()
    const at = this.#reserve(GRPC_HEADER_BYTES)
    this.#buffer[at] = 0
    this.#buffer.writeUInt32BE(length, at + 1)
    return this.finish()
  }

  #tag(field: number, type: WireType): void {
    this.#varint(field * 8 + type)
  }

  #varint(value: number): void {
    if (value < 0x80) {
      const at = this.#reserve(1)
      this.#buffer[at] = value
      return
    }
    let size = 2
    for (let limit = 0x4000; value >= limit; limit *= 128) size++
    let at = this.#reserve(size)
    let rest = value
    while (rest >= 0x80) {
      this.#buffer[at++] = (rest % 128) | 0x80
      rest = Math.floor(rest / 128)
    }
    this.#buffer[at] = rest
  }

  #reserve(size: number): number {
    if (size > this.#at) this.#grow(size)
    this.#at -= size
    return this.#at
  }

  #grow(size: number): void {
    const written = this.finish()
    const length = Math.max(this.#buffer.length * 2, written.length + size)
    this.#buffer = Buffer.allocUnsafe(length)
    this.#at = length - written.length
    this.#buffer.set(written, this.#at)
  }
}

/** Walks over the fields of one message. It gives out views, not copies, which keep the whole reply alive. */
export class WireReader {
  readonly #buffer: Buffer
  #at: number
  #end: number
  #type: WireType = WireType.Varint

  constructor(buffer: Buffer, start = 0, end = buffer.length) {
    this.#buffer = buffer
    this.#at = start
    this.#end = end
  }

  /** The number of the next field; 0 at the end of the message. */
  nextField(): number {
    if (this.#at >= this.#end) {
      if (this.#at > this.#end) throw new RangeError('protobuf: a field runs over the end of its message')
      return 0
    }
    const tag = this.number()
    this.#type = tag & 7
    return tag >>> 3
  }

  /** An int64 as a number; exact below 2^53. */
  number(): number {
    const first = this.#byte()
    if (first < 0x80) return first
    let low = first & 0x7f
    let high = 0
    for (let shift = 7; shift < 70; shift += 7) {
      const byte = this.#byte()
      const bits = byte & 0x7f
      if (shift < 28) low |= bits << shift
      else if (shift === 28) {
        low |= bits << 28
        high = bits >>> 4
      } else high |= bits << (shift - 32)
      if (byte < 0x80) return (high | 0) * TWO_32 + (low >>> 0)
    }
    throw new RangeError('protobuf: a varint has more than ten bytes')
  }

  int64(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asIntN(64, value)
    }
    throw new RangeError('protobuf: a varint has more than ten bytes')
  }

  flag(): boolean {
    return this.number() !== 0
  }

  bytes(): Buffer {
    const end = this.#endOfBytes()
    const value = this.#buffer.subarray(this.#at, end)
    this.#at = end
    return value
  }

  string(): string {
    const end = this.#endOfBytes()
    const value = this.#buffer.toString('utf8', this.#at, end)
    this.#at = end
    return value
  }

  /** Reads the nested message with `read`, which sees its fields only. */
  message<T>(read: (reader: WireReader) => T): T {
    const outerEnd = this.#end
    this.#end = this.#endOfBytes()
    const value = read(this)
    this.#at = this.#end
    this.#end = outerEnd
    return value
  }

  skip(): void {
    switch (this.#type) {
      case WireType.Varint:
        while (this.#byte() >= 0x80);
        return
      case WireType.Fixed64:
        this.#at += 8
        return
      case WireType.Bytes:
        this.#at = this.#endOfBytes()
        return
      case WireType.Fixed32:
        this.#at += 4
        return
      default:
        throw new RangeError(`protobuf: unknown wire type ${this.#type as number}`)
    }
  }

  #endOfBytes(): number {
    const length = this.number()
    const end = this.#at + length
    if (length < 0 || end > this.#end) throw new RangeError('protobuf: a field runs over the end of its message')
    return end
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new RangeError('protobuf: the message ends within a field')
    return this.#buffer[this.#at++]!
  }
}
