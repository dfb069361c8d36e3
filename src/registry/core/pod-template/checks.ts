/** Thread: any. Small rules of fields that only pods and what makes pods have. */
import { type FieldPath, invalid } from '../../../api/field-error.js'
import type { Int64 } from '../../../api/scalar-types.js'
import { because, type Errors, equalBare, inRange } from '../../../api/validation/checks.js'
import { isDns1123Subdomain } from '../../../api/validation/names.js'
import { IMMUTABLE } from '../../../api/validation/object-meta.js'

/** References to objects whose names are DNS subdomains; a dash at the end is a prefix's. */
export const namePrefix = (value: string, path: FieldPath): Errors =>
  because(isDns1123Subdomain(value.endsWith('-') ? `${value.slice(0, -1)}a` : value), path, value)

/**
 * Equal but for empty lists, which are as good as none. An empty object is not: it is something that was asked for. The
 * sameValue of api/validation/checks.ts also takes empty objects and empty strings for nothing.
 */
export const equalButEmptyLists = (a: unknown, b: unknown): boolean => equalBare(a, b, false)

export const immutableButEmptyLists = (next: unknown, old: unknown, path: FieldPath): Errors =>
  equalButEmptyLists(next, old) ? [] : [invalid(path, next ?? null, IMMUTABLE)]

const MAX_ID = 2 ** 31 - 1
export const userOrGroupId = (id: Int64 | undefined, path: FieldPath): Errors =>
  id === undefined ? [] : inRange(id, path, 0, MAX_ID)

export const fileMode = (mode: number | undefined, path: FieldPath): Errors =>
  mode !== undefined && (mode > 0o777 || mode < 0)
    ? [invalid(path, mode, 'must be a number between 0 and 0777 (octal), both inclusive')]
    : []

/** Any printable ASCII but `=`. */
export function envVarName(name: string, path: FieldPath): Errors {
  if (name === '') return [invalid(path, name, 'environment variable name must be non-empty')]
  return /^[ -<>-~]+$/.test(name)
    ? []
    : [invalid(path, name, "must consist of printable ASCII characters other than '='")]
}
