/**
 * Thread: any. Bytes to a JSON tree. JSON.parse does the work whenever it can; one scan of the bytes before it finds what
 * JSON.parse would lose (integers beyond 2^53, 1.0 for 1, halves of surrogate pairs) and then our own reader, about four
 * times slower, takes its place. The scan also counts members, so that the decoder, which visits every member anyway,
 * knows without a second pass whether a key was given twice.
 */
import { isUtf8 } from 'node:buffer'
import type { Json } from '../object.js'
import { JsonReader } from './reader.js'
import { JsonSyntaxError } from './syntax-error.js'

/** Go stops at 10,000; nothing real comes near 100, and a thousand levels fit our stack. */
export const MAX_DEPTH = 1000

export interface ParsedJson {
  readonly value: Json
  /** Members of all objects in the text, a key that is given twice counted twice. */
  readonly memberCount: number
  /** Numbers written with a fraction or exponent though they are whole: not integers to Go. By container, then key. */
  readonly wholeFloats: ReadonlyMap<object, ReadonlySet<string>> | undefined
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

interface Findings {
  members: number
  ascii: boolean
  needsReader: boolean
}

/** Outside strings, a run of this many digits may not be exact as a number. */
const EXACT_DIGITS = 15

function scan(bytes: Uint8Array): Findings {
  const end = bytes.length
  let members = 0
  let depth = 0
  let high = 0
  let needsReader = false
  let digits = 0
  let at = 0
  while (at < end) {
    const c = bytes[at++]!
    if (c === QUOTE) {
      for (;;) {
        if (at >= end) throw new JsonSyntaxError('unexpected end of JSON input', end)
        const s = bytes[at++]!
        if (s === QUOTE) break
        if (s === BACKSLASH) {
          // \ud800 to \udfff
          if (bytes[at] === 0x75 && (bytes[at + 1]! | 0x20) === 0x64 && bytes[at + 2]! >= 0x38) needsReader = true
          at++
        } else high |= s
      }
      digits = 0
    } else if (c >= 0x30 && c <= 0x39) {
      if (++digits > EXACT_DIGITS) needsReader = true
    } else {
      digits = 0
      if (c === 0x3a) members++
      else if (c === 0x7b || c === 0x5b) {
        if (++depth > MAX_DEPTH) throw new JsonSyntaxError('exceeded max depth', at - 1)
      } else if (c === 0x7d || c === 0x5d) depth--
      // A dot, or an exponent: the letter e of true and false follows another letter, not a digit.
      else if (c === 0x2e || ((c | 0x20) === 0x65 && at > 1 && isDigit(bytes[at - 2]!))) needsReader = true
    }
  }
  return { members, ascii: high < 0x80, needsReader }
}

const isDigit = (c: number): boolean => c >= 0x30 && c <= 0x39

export function parseJson(bytes: Uint8Array): ParsedJson {
  const { members, ascii, needsReader } = scan(bytes)
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (!ascii && !isUtf8(buffer)) throw new JsonSyntaxError('invalid UTF-8', invalidUtf8At(buffer))
  const text = buffer.toString(ascii ? 'latin1' : 'utf8')
  if (needsReader) {
    const reader = new JsonReader(text)
    return { value: reader.read(), memberCount: members, wholeFloats: reader.wholeFloats }
  }
  try {
    return { value: JSON.parse(text) as Json, memberCount: members, wholeFloats: undefined }
  } catch {
    // Read again for an error that says where.
    const value = new JsonReader(text).read()
    return { value, memberCount: members, wholeFloats: undefined }
  }
}

/** The first byte of the first sequence that is not UTF-8. */
function invalidUtf8At(bytes: Buffer): number {
  const good = bytes.toString('utf8')
  const at = good.indexOf('\ufffd')
  return at < 0 ? 0 : Buffer.byteLength(good.slice(0, at))
}

/** The paths of keys that were given more than once, in the order of the text. */
export function duplicateKeys(bytes: Uint8Array): (string | number)[][] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  const reader = new JsonReader(text, { findDuplicates: true })
  reader.read()
  return reader.duplicates
}
