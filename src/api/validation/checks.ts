/** Thread: any. Small rules that many fields share. Each gives the errors of one value at one path. */
import { type FieldError, type FieldPath, forbidden, invalid, notSupported, required, tooLong } from '../field-error.js'
import type { Int64 } from '../scalar-types.js'
import {
  isDns1123Label,
  isDns1123Subdomain,
  isQualifiedName,
  isValidLabelValue,
  type NameRule,
  pathSegmentName,
} from './names.js'
import { IMMUTABLE } from './object-meta.js'

export type Errors = FieldError[]
/** A list in an object: Go prints some nil lists as null. */
export type List<T> = readonly T[] | null | undefined
type Check<T> = (value: T, path: FieldPath) => Errors

/** The errors of every item; items that are null are zero values in Go. */
export const each = <T>(
  list: List<T>,
  path: FieldPath,
  check: (item: T, at: FieldPath, index: number) => Errors,
): Errors => (list ?? []).flatMap((item, i) => check(item, path.index(i), i))

/** The reasons of a name rule as errors. */
export const because = (reasons: readonly string[], path: FieldPath, value: unknown): Errors =>
  reasons.map((reason) => invalid(path, value, reason))

export const named =
  (rule: NameRule): Check<string> =>
  (value, path) =>
    because(rule(value, false), path, value)

export const dnsLabel: Check<string> = (value, path) => because(isDns1123Label(value), path, value)
export const dnsSubdomain: Check<string> = (value, path) => because(isDns1123Subdomain(value), path, value)
export const qualifiedName: Check<string> = (value, path) => because(isQualifiedName(value), path, value)
export const labelValue: Check<string> = (value, path) => because(isValidLabelValue(value), path, value)
export const pathSegment: Check<string> = named(pathSegmentName)

/** Nothing is a Required error; something obeys the rule. */
export const requiredBy = (value: string | undefined, path: FieldPath, check?: Check<string>): Errors =>
  (value ?? '') === '' ? [required(path)] : (check?.(value!, path) ?? [])

/** Nothing is fine; something obeys the rule. */
export const optionalBy = (value: string | undefined, path: FieldPath, check: Check<string>): Errors =>
  (value ?? '') === '' ? [] : check(value!, path)

/** A pointer: the empty text obeys the rule too. */
export const givenBy = <T>(value: T | null | undefined, path: FieldPath, check: Check<T>): Errors =>
  value === undefined || value === null ? [] : check(value, path)

export const nonnegative = (value: Int64 | undefined, path: FieldPath): Errors =>
  (value ?? 0) < 0 ? [invalid(path, value, 'must be greater than or equal to 0')] : []

export const positive = (value: Int64 | undefined, path: FieldPath): Errors =>
  (value ?? 0) <= 0 ? [invalid(path, value ?? 0, 'must be greater than zero')] : []

export const inRange = (value: Int64, path: FieldPath, least: number, most: number): Errors =>
  value < least || value > most ? [invalid(path, value, `must be between ${least} and ${most}, inclusive`)] : []

export const notEmpty = (value: string | List<unknown>, path: FieldPath): Errors =>
  (value?.length ?? 0) === 0 ? [required(path)] : []

export const maxBytes = (value: string | undefined, path: FieldPath, limit: number): Errors =>
  Buffer.byteLength(value ?? '') > limit ? [tooLong(path, limit)] : []

/** A value out of a few; `empty` says what none at all is: one more unknown value, a Required error, or fine. */
export function oneOf(
  value: string | undefined,
  supported: readonly string[],
  path: FieldPath,
  empty: 'required' | 'unsupported' | 'allowed' = 'unsupported',
): Errors {
  const given = value ?? ''
  if (given === '' && empty === 'allowed') return []
  if (given === '' && empty === 'required') return [required(path)]
  return supported.includes(given) ? [] : [notSupported(path, given, supported)]
}

/**
 * Equal but for the difference between nothing and an empty list, map or string, which Go's encoding does not keep. The
 * equalButEmptyLists of pods takes only empty lists for nothing.
 */
export const sameValue = (a: unknown, b: unknown): boolean => equalBare(a, b, true)

type Members = Readonly<Record<string, unknown>>

/**
 * Equal where null and empty lists are nothing; with `dropsEmpty` also objects with nothing in them, and members that are ''. The two
 * are walked side by side: an update of a pod compares its whole spec, and copies without what is nothing cost 6 % of an apply.
 */
export function equalBare(a: unknown, b: unknown, dropsEmpty: boolean): boolean {
  if (Object.is(a, b)) return true
  if (isNothing(a, dropsEmpty) || isNothing(b, dropsEmpty)) return isNothing(a, dropsEmpty) && isNothing(b, dropsEmpty)
  if (typeof a !== 'object' || typeof b !== 'object' || Array.isArray(a) !== Array.isArray(b)) return false
  if (!Array.isArray(a) || !Array.isArray(b)) return equalMembers(a as Members, b as Members, dropsEmpty)
  return a.length === b.length && a.every((item, i) => equalBare(item, b[i], dropsEmpty))
}

function equalMembers(a: Members, b: Members, dropsEmpty: boolean): boolean {
  const isLeftOut = (value: unknown): boolean => (dropsEmpty && value === '') || isNothing(value, dropsEmpty)
  for (const name of Object.keys(a)) {
    const other = Object.hasOwn(b, name) ? b[name] : undefined
    if (isLeftOut(a[name]) ? !isLeftOut(other) : isLeftOut(other) || !equalBare(a[name], other, dropsEmpty))
      return false
  }
  for (const name of Object.keys(b)) if (!Object.hasOwn(a, name) && !isLeftOut(b[name])) return false
  return true
}

function isNothing(value: unknown, dropsEmpty: boolean): boolean {
  if (value === null || value === undefined) return true
  if (Array.isArray(value)) return value.length === 0
  if (!dropsEmpty || typeof value !== 'object') return false
  for (const member of Object.values(value)) if (member !== '' && !isNothing(member, true)) return false
  return true
}

export const immutable = (next: unknown, old: unknown, path: FieldPath): Errors =>
  sameValue(next, old) ? [] : [invalid(path, next ?? null, IMMUTABLE)]

export const immutableForbidden = (next: unknown, old: unknown, path: FieldPath, why = IMMUTABLE): Errors =>
  sameValue(next, old) ? [] : [forbidden(path, why)]

export const portNumber = (port: number, path: FieldPath): Errors => inRange(port, path, 1, 65535)

export function portNameReasons(name: string): string[] {
  const reasons: string[] = []
  if (Buffer.byteLength(name) > 15) reasons.push('must be no more than 15 characters')
  if (!/^[-a-z0-9]+$/.test(name)) reasons.push('must contain only lower case letters, digits and hyphens')
  if (!/[a-z]/.test(name)) reasons.push('must contain at least one letter')
  if (name.includes('--')) reasons.push('must not contain consecutive hyphens')
  if (name.startsWith('-') || name.endsWith('-')) reasons.push('must not begin or end with a hyphen')
  return reasons
}

export const portName: Check<string> = (name, path) => because(portNameReasons(name), path, name)

export const portNumberOrName = (port: number | string, path: FieldPath): Errors =>
  typeof port === 'number' ? portNumber(port, path) : portName(port, path)

const WILDCARD = /^\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/** A DNS name whose first label may be a star. */
export function hostPattern(host: string, path: FieldPath): Errors {
  if (!host.includes('*')) return dnsSubdomain(host, path)
  const errors: Errors = []
  if (Buffer.byteLength(host) > 253) errors.push(invalid(path, host, 'must be no more than 253 bytes'))
  if (!WILDCARD.test(host)) errors.push(invalid(path, host, "must start with '*.' followed by a DNS subdomain"))
  return errors
}

const HTTP_PATH = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/

/** acme.io/foo: a DNS subdomain and a path. */
export function domainPrefixedPath(value: string | undefined, path: FieldPath): Errors {
  const given = value ?? ''
  if (given === '') return [required(path)]
  const slash = given.indexOf('/')
  if (slash <= 0 || slash === given.length - 1) return [invalid(path, given, 'must be a domain-prefixed path')]
  const rest = given.slice(slash + 1)
  return [
    ...dnsSubdomain(given.slice(0, slash), path),
    ...(HTTP_PATH.test(rest) ? [] : [invalid(path, rest, 'must be a valid HTTP path')]),
  ]
}
