/** Thread: any. Reads a record (record.fbs) where it lies. */
import type { AttributeSet } from '../../api/selector.js'
import { TWO_32 } from './memory-layout.js'
import {
  RECORD_BODY,
  RECORD_CREATE_REVISION,
  RECORD_FIELDS,
  RECORD_KEY_BYTES,
  RECORD_KEY_LENGTH,
  RECORD_LABELS,
  RECORD_MOD_REVISION,
  RECORD_REVISION_OFFSET,
  RECORD_UID,
} from './record-layout.js'
import { byteOffset, type Segment, type SegmentTable } from './segment-table.js'
import type { RecordView } from './shared-memory.js'

/**
 * The names and values of a record's labels or fields. Names are few: they are compared one after the other, byte by
 * byte.
 */
class RecordAttributes implements AttributeSet {
  readonly #record: RecordReader
  readonly #field: number

  constructor(record: RecordReader, field: number) {
    this.#record = record
    this.#field = field
  }

  has(name: string): boolean {
    return this.#find(name) !== 0
  }

  get(name: string): string | undefined {
    const value = this.#find(name)
    if (value === 0) return undefined
    const { bytes, words } = this.#record.segment
    return bytes.utf8Slice(value + 4, value + 4 + words[value >> 2]!)
  }

  /** Names and values in turn: name, value, name, value, … */
  toArray(): string[] {
    const { bytes, words } = this.#record.segment
    const vector = this.#vector()
    const texts: string[] = []
    for (let i = 0; i < words[vector >> 2]!; i++) {
      const text = vector + 4 + 4 * i + words[(vector >> 2) + 1 + i]!
      texts.push(bytes.utf8Slice(text + 4, text + 4 + words[text >> 2]!))
    }
    return texts
  }

  #vector(): number {
    const at = this.#record.start + this.#field
    return at + this.#record.segment.words[at >> 2]!
  }

  /** Where the value lies in the segment; 0 when the name is not there. */
  #find(name: string): number {
    const { bytes, words } = this.#record.segment
    const vector = this.#vector()
    const first = (vector >> 2) + 1
    const count = words[vector >> 2]!
    for (let i = 0; i < count; i += 2) {
      const text = ((first + i) << 2) + words[first + i]!
      if (sameText(bytes, words[text >> 2]!, text + 4, name)) return ((first + i + 1) << 2) + words[first + i + 1]!
    }
    return 0
  }
}

function sameText(bytes: Buffer, length: number, start: number, text: string): boolean {
  if (length < text.length) return false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code >= 0x80) return Buffer.from(text).equals(bytes.subarray(start, start + length))
    if (bytes[start + i] !== code) return false
  }
  return length === text.length
}

export class RecordReader implements RecordView {
  readonly #table: SegmentTable
  #labels: RecordAttributes | undefined
  #fields: RecordAttributes | undefined
  segment!: Segment
  /** Where the record begins in its segment. */
  start = 0

  constructor(table: SegmentTable, pointer?: number) {
    this.#table = table
    if (pointer !== undefined) this.point(pointer)
  }

  /** Makes this a view of another record. */
  point(pointer: number): this {
    this.segment = this.#table.of(pointer)
    this.start = byteOffset(pointer)
    return this
  }

  get labels(): RecordAttributes {
    this.#labels ??= new RecordAttributes(this, RECORD_LABELS)
    return this.#labels
  }

  get fields(): RecordAttributes {
    this.#fields ??= new RecordAttributes(this, RECORD_FIELDS)
    return this.#fields
  }

  get key(): string {
    const start = this.start + RECORD_KEY_BYTES
    return this.segment.bytes.utf8Slice(start, start + this.#word(RECORD_KEY_LENGTH))
  }

  get uid(): string {
    const text = this.start + RECORD_UID + this.#word(RECORD_UID)
    return this.segment.bytes.utf8Slice(text + 4, text + 4 + this.segment.words[text >> 2]!)
  }

  get modRevision(): number {
    return this.#revision(RECORD_MOD_REVISION)
  }

  get createRevision(): number {
    return this.#revision(RECORD_CREATE_REVISION)
  }

  /** Where in the body the digits of the object's resourceVersion begin. */
  get revisionOffset(): number {
    return this.#word(RECORD_REVISION_OFFSET)
  }

  body(): Uint8Array {
    const body = this.start + RECORD_BODY + this.#word(RECORD_BODY)
    return new Uint8Array(this.segment.buffer, body + 4, this.segment.words[body >> 2]!)
  }

  #word(at: number): number {
    return this.segment.words[(this.start + at) >> 2]!
  }

  #revision(at: number): number {
    return (this.#word(at + 4) >>> 0) * TWO_32 + (this.#word(at) >>> 0)
  }
}
