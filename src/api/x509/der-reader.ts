/** Thread: any. Reads DER: elements one after the other, each within the bounds of the one around it. */
export class DerError extends Error {
  override readonly name = 'DerError'
}

const SEQUENCE = 0x30
const SET = 0x31
const OBJECT_IDENTIFIER = 0x06
const UTF8 = new TextDecoder('utf-8', { fatal: true })
/** The tags of UTF8String, NumericString, PrintableString, TeletexString and IA5String. */
const BYTE_STRINGS: ReadonlySet<number> = new Set([0x0c, 0x12, 0x13, 0x14, 0x16])
const BMP_STRING = 0x1e

export class DerReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  done(): boolean {
    return this.#at >= this.#bytes.byteLength
  }

  /** The tag of the next element. */
  tag(): number {
    const tag = this.#bytes[this.#at]
    if (tag === undefined) throw new DerError('an element is missing')
    return tag
  }

  bytes(): Uint8Array {
    return this.#bytes.subarray(this.#at)
  }

  /** The content of the next element, which is stepped over. */
  next(): DerReader {
    this.tag()
    const first = this.#bytes[this.#at + 1]
    if (first === undefined) throw new DerError('a length is missing')
    let start = this.#at + 2
    let length = first
    if (first >= 0x80) {
      const digits = first & 0x7f
      if (digits === 0 || digits > 4) throw new DerError('a length is not DER')
      length = 0
      for (let i = 0; i < digits; i++) length = length * 256 + (this.#bytes[start + i] ?? 0)
      start += digits
    }
    if (start + length > this.#bytes.byteLength) throw new DerError('an element is cut off')
    this.#at = start + length
    return new DerReader(this.#bytes.subarray(start, start + length))
  }

  /** The next element with its head; it is stepped over. */
  raw(): Uint8Array {
    const start = this.#at
    this.next()
    return this.#bytes.subarray(start, this.#at)
  }

  expect(tag: number): DerReader {
    if (this.tag() !== tag) throw new DerError(`an element of type ${tag} is missing`)
    return this.next()
  }

  text(): string {
    const tag = this.tag()
    const content = this.next().bytes()
    try {
      if (BYTE_STRINGS.has(tag)) return UTF8.decode(content)
      if (tag === BMP_STRING && content.byteLength % 2 === 0)
        return new TextDecoder('utf-16be', { fatal: true }).decode(content)
    } catch (error) {
      throw new DerError(`a name is not text: ${String(error)}`)
    }
    throw new DerError('a name is of a type that is no text')
  }
}

export interface NameAttribute {
  /** The object identifier in hex. */
  readonly type: string
  /** Throws DerError when the value is no text. */
  readonly value: () => string
}

/** The attributes of a name (RDNSequence); values are read when they are asked for. */
export function readName(name: DerReader): NameAttribute[] {
  const found: NameAttribute[] = []
  while (!name.done()) {
    const set = name.expect(SET)
    while (!set.done()) {
      const attribute = set.expect(SEQUENCE)
      const type = Buffer.from(attribute.expect(OBJECT_IDENTIFIER).bytes()).toString('hex')
      const value = attribute.bytes()
      found.push({ type, value: () => new DerReader(value).text() })
    }
  }
  return found
}
