/**
 * Thread: any. The little of protobuf that the KMS messages need: bytes, strings, small enums and map<string, bytes>.
 * Zero values are left out, as proto3 does; fields go in ascending order and maps sorted, so equal input gives equal
 * bytes.
 */

import { TransformError } from '../../contract/transform-error.js'
import { concatBytes } from '../bytes.js'

export type Annotations = ReadonlyMap<string, Uint8Array>

const VARINT = 0
const FIXED64 = 1
const DELIMITED = 2
const FIXED32 = 5

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export class WireWriter {
  readonly #parts: Uint8Array[] = []

  bytes(field: number, value: Uint8Array): this {
    if (value.length > 0) this.#delimited(field, value)
    return this
  }

  string(field: number, value: string): this {
    return this.bytes(field, encoder.encode(value))
  }

  enum(field: number, value: number): this {
    if (value !== 0) this.#parts.push(varint(field * 8 + VARINT), varint(value))
    return this
  }

  map(field: number, entries: Annotations): this {
    for (const key of [...entries.keys()].sort()) {
      this.#delimited(field, new WireWriter().string(1, key).bytes(2, entries.get(key)!).finish())
    }
    return this
  }

  finish(): Uint8Array {
    return concatBytes(...this.#parts)
  }

  #delimited(field: number, value: Uint8Array): void {
    this.#parts.push(varint(field * 8 + DELIMITED), varint(value.length), value)
  }
}

export interface WireField {
  readonly field: number
  /** The number of a varint; 0 for other fields. */
  readonly number: number
  /** The bytes of a length-delimited field, as a view; empty for other fields. */
  readonly bytes: Uint8Array
}

const NO_BYTES = new Uint8Array(0)

/** The fields in the order in which they come; the caller skips those it does not know. */
export function* readWire(message: Uint8Array): Generator<WireField> {
  let at = 0
  const next = (): number => {
    let value = 0
    for (let scale = 1, i = 0; i < 10; i++, scale *= 128) {
      const byte = message[at++]
      if (byte === undefined) throw malformed('it ends inside a number')
      value += (byte % 128) * scale
      if (byte < 128) return value
    }
    throw malformed('a number in it is longer than 10 bytes')
  }
  const take = (length: number): Uint8Array => {
    if (length > message.length - at) throw malformed('it ends inside a field')
    at += length
    return message.subarray(at - length, at)
  }
  while (at < message.length) {
    const tag = next()
    const field = Math.floor(tag / 8)
    if (field === 0) throw malformed('it has a field number 0')
    switch (tag % 8) {
      case VARINT:
        yield { field, number: next(), bytes: NO_BYTES }
        break
      case FIXED64:
        take(8)
        break
      case DELIMITED:
        yield { field, number: 0, bytes: take(next()) }
        break
      case FIXED32:
        take(4)
        break
      default:
        throw malformed(`it has a field of wire type ${tag % 8}`)
    }
  }
}

export function readString(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch (cause) {
    throw new TransformError('malformed', 'a string in the message is not UTF-8', cause)
  }
}

export function readMapEntry(entry: Uint8Array, into: Map<string, Uint8Array>): void {
  let key = ''
  let value: Uint8Array = NO_BYTES
  for (const { field, bytes } of readWire(entry)) {
    if (field === 1) key = readString(bytes)
    else if (field === 2) value = bytes
  }
  into.set(key, value)
}

function varint(value: number): Uint8Array {
  const out: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) out.push((rest % 128) + 128)
  out.push(rest)
  return Uint8Array.from(out)
}

function malformed(why: string): TransformError {
  return new TransformError('malformed', `the protobuf message cannot be read: ${why}`)
}
