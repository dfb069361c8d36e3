/** Thread: pool. What ConfigMaps and Secrets have in common: keys, the limit of size, and being immutable. */
import { isDeepStrictEqual } from 'node:util'
import { type FieldError, FieldPath, forbidden, invalid } from '../../api/field-error.js'
import type { KubeObject } from '../../api/object.js'

export const MAX_DATA_BYTES = 1024 * 1024
const KEY = /^[-._a-zA-Z0-9]+$/

export function keyErrors(field: string, key: string): FieldError[] {
  return keyReasons(key).map((reason) => invalid(FieldPath.of(field).key(key), key, reason))
}

export function keyReasons(key: string): string[] {
  const reasons: string[] = []
  if (Buffer.byteLength(key) > 253) reasons.push('must be no more than 253 bytes')
  if (!KEY.test(key)) reasons.push("a valid config key must consist of alphanumeric characters, '-', '_' or '.'")
  if (key === '.' || key === '..') reasons.push(`must not be '${key}'`)
  else if (key.startsWith('..')) reasons.push("must not start with '..'")
  return reasons
}

/** Once set, `immutable` stays, and so does what it protects. */
export function immutableErrors(object: KubeObject, old: KubeObject, fields: readonly string[]): FieldError[] {
  if (old['immutable'] !== true) return []
  const changed = fields.filter((field) => !isDeepStrictEqual(object[field], old[field]))
  if (object['immutable'] !== true) changed.unshift('immutable')
  return changed.map((field) => forbidden(FieldPath.of(field), 'field is immutable when `immutable` is set'))
}

/** Bytes that are null stand for none. */
export const base64Bytes = (text: string | null): number => Buffer.byteLength(text ?? '', 'base64')
