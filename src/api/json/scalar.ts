/** Thread: any. One scalar in its canonical form. */
import { formatDuration, parseDuration } from '../duration.js'
import type { Json } from '../object.js'
import { canonicalQuantity, QuantityError } from '../quantity.js'
import type { ScalarKind } from '../schema.js'
import { canonicalMicroTime, canonicalTime } from '../time.js'

/** The value has another JSON type than the field. */
export const MISMATCH: unique symbol = Symbol('mismatch')

const MAX_INT32 = 2147483647

/**
 * The canonical value, undefined for what Go takes for nothing (the zero time). Throws for text that cannot be read.
 * @param wholeFloat the number was written 1.0 or 1e3: not an integer to Go
 */
export function decodeScalar(
  kind: ScalarKind,
  value: Json,
  wholeFloat: boolean,
): Exclude<Json, object> | undefined | typeof MISMATCH {
  switch (kind) {
    case 'string':
      return typeof value === 'string' ? value : MISMATCH
    case 'boolean':
      return typeof value === 'boolean' ? value : MISMATCH
    case 'int32':
      return isInt32(value) && !wholeFloat ? value : MISMATCH
    case 'int64':
      return wholeFloat ? MISMATCH : decodeInt64(value)
    case 'double':
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : MISMATCH
    case 'bytes':
      return typeof value === 'string' ? canonicalBase64(value) : MISMATCH
    case 'time':
      return typeof value === 'string' ? canonicalTime(value) : MISMATCH
    case 'micro-time':
      return typeof value === 'string' ? canonicalMicroTime(value) : MISMATCH
    case 'duration':
      return typeof value === 'string' ? formatDuration(parseDuration(value)) : MISMATCH
    case 'quantity':
      return decodeQuantity(value)
    case 'int-or-string':
      return typeof value === 'string' || (isInt32(value) && !wholeFloat) ? value : MISMATCH
    case 'any':
      return MISMATCH
  }
}

const isInt32 = (value: Json): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value <= MAX_INT32 && value >= -MAX_INT32 - 1

function decodeInt64(value: Json): number | bigint | typeof MISMATCH {
  if (typeof value === 'bigint') return value
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : MISMATCH
}

/** A number is read as its text; surrounding space is forgiven, as Kubernetes does. */
function decodeQuantity(value: Json): string {
  if (typeof value === 'string') return canonicalQuantity(value.trim())
  if (typeof value === 'number' || typeof value === 'bigint') return canonicalQuantity(String(value))
  throw new QuantityError("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

function canonicalBase64(text: string): string {
  if (text.length % 4 !== 0 || !BASE64.test(text)) {
    const joined = text.replace(/[\r\n]/g, '')
    if (joined === text) throw new Error(`illegal base64 data at input byte ${badByte(text)}`)
    return canonicalBase64(joined)
  }
  // Bits beyond the last whole byte are dropped by decoding; only padded text can have them.
  return text.endsWith('=') ? Buffer.from(text, 'base64').toString('base64') : text
}

function badByte(text: string): number {
  const at = text.search(/[^A-Za-z0-9+/\r\n]/)
  return at < 0 ? text.length - (text.length % 4) : at
}
