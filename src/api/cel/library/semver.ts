/** Thread: any. Semantic versions in expressions: `semver('v1.2', true).isLessThan(semver('1.3.0'))`. */
import type { Library } from '../function-declaration.js'
import { BOOL, type CelType, INT, opaque, STRING } from '../types.js'
import { Boxed, CelError, type CelValue, intValue } from '../values/value.js'
import { goQuote } from './go-numbers.js'
import { declare, method, plain, walks } from './overload.js'

const SEMVER = opaque('kubernetes.Semver')
const MAX_UINT64 = 2n ** 64n - 1n
const MAX_DIGITS = 20

type Identifier = bigint | string

class SemverValue extends Boxed {
  readonly numbers: readonly bigint[]
  readonly preRelease: readonly Identifier[]

  constructor(numbers: readonly bigint[], preRelease: readonly Identifier[]) {
    super()
    this.numbers = numbers
    this.preRelease = preRelease
  }

  get type(): CelType {
    return SEMVER
  }

  equals(other: CelValue): boolean | CelError {
    return other instanceof SemverValue ? compare(this, other) === 0 : new CelError('no such overload')
  }

  /** A part as an int of 64 bits, whose sign Kubernetes does not look at. */
  part(index: number): number | bigint {
    return intValue(BigInt.asIntN(64, this.numbers[index]!))
  }
}

const NAMES = ['major', 'minor', 'patch'] as const
const DIGITS = /^\d+$/
const IDENTIFIER = /^[0-9A-Za-z-]+$/

/** A number without leading zeros that fits into 64 bits; otherwise what is wrong. */
function numberOf(text: string, what: string): bigint | CelError {
  const capital = what[0]!.toUpperCase() + what.slice(1)
  if (!DIGITS.test(text)) return new CelError(`Invalid character(s) found in ${what} number ${goQuote(text)}`)
  if (text.length > 1 && text.startsWith('0'))
    return new CelError(`${capital} number must not contain leading zeroes ${goQuote(text)}`)
  if (text.length > MAX_DIGITS || BigInt(text) > MAX_UINT64)
    return new CelError(`strconv.ParseUint: parsing ${goQuote(text)}: value out of range`)
  return BigInt(text)
}

function identifierOf(text: string): Identifier | CelError {
  if (text === '') return new CelError('Prerelease is empty')
  if (DIGITS.test(text)) {
    if (text.length > 1 && text.startsWith('0'))
      return new CelError(`Numeric PreRelease version must not contain leading zeroes ${goQuote(text)}`)
    return numberOf(text, 'pre-release')
  }
  return IDENTIFIER.test(text) ? text : new CelError(`Invalid character(s) found in prerelease ${goQuote(text)}`)
}

/** The first that is an error, or all of them. */
function allOf<T extends Identifier>(values: readonly (T | CelError)[]): readonly T[] | CelError {
  return values.find((value) => value instanceof CelError) ?? (values as readonly T[])
}

/** At most `count` pieces; the last holds what remains. */
function splitAt(text: string, separator: string, count: number): string[] {
  const pieces = text.split(separator)
  return pieces.length <= count ? pieces : [...pieces.slice(0, count - 1), pieces.slice(count - 1).join(separator)]
}

function parse(text: string): SemverValue | CelError {
  if (text === '') return new CelError('Version string empty')
  const parts = splitAt(text, '.', NAMES.length)
  if (parts.length !== NAMES.length) return new CelError('No Major.Minor.Patch elements found')
  const [rest = '', build] = splitAt(parts[2]!, '+', 2)
  const [patch = '', preRelease] = splitAt(rest, '-', 2)
  const numbers = allOf([parts[0]!, parts[1]!, patch].map((part, i) => numberOf(part, NAMES[i]!)))
  if (numbers instanceof CelError) return numbers
  const identifiers = allOf(preRelease === undefined ? [] : preRelease.split('.').map(identifierOf))
  if (identifiers instanceof CelError) return identifiers
  const wrong = build?.split('.').find((part) => !IDENTIFIER.test(part))
  if (wrong === '') return new CelError('Build meta data is empty')
  if (wrong !== undefined) return new CelError(`Invalid character(s) found in build meta data ${goQuote(wrong)}`)
  return new SemverValue(numbers, identifiers)
}

/** Without a leading v, with what is missing as zero, without leading zeros. */
function parseNormalized(text: string): SemverValue | CelError {
  const parts = splitAt(text.startsWith('v') ? text.slice(1) : text, '.', NAMES.length).map(withoutZeros)
  if (parts.length < NAMES.length && /[+-]/.test(parts.at(-1)!))
    return new CelError('short version cannot contain PreRelease/Build meta data')
  while (parts.length < NAMES.length) parts.push('0')
  return parse(parts.join('.'))
}

function withoutZeros(part: string): string {
  if (part.length <= 1) return part
  const bare = part.replace(/^0+/, '')
  return /^\d/.test(bare) ? bare : `0${bare}`
}

const order = (a: Identifier, b: Identifier): number => (a < b ? -1 : a > b ? 1 : 0)

/** Numbers come before words. */
function compareIdentifiers(a: Identifier, b: Identifier): number {
  if (typeof a === typeof b) return order(a, b)
  return typeof a === 'bigint' ? -1 : 1
}

/** A pre-release comes before what it precedes; build metadata says nothing. */
function compare(a: SemverValue, b: SemverValue): number {
  for (const [i, number] of a.numbers.entries()) if (number !== b.numbers[i]) return order(number, b.numbers[i]!)
  const [x, y] = [a.preRelease, b.preRelease]
  if (x.length === 0 || y.length === 0) return Math.sign(y.length - x.length)
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const result = compareIdentifiers(x[i]!, y[i]!)
    if (result !== 0) return result
  }
  return Math.sign(x.length - y.length)
}

const read = (text: string, normalize = false): SemverValue | CelError =>
  normalize ? parseNormalized(text) : parse(text)
const isSemver = (text: string, normalize = false): boolean => !(read(text, normalize) instanceof CelError)
const V = SEMVER

export const semver: Library = {
  types: [SEMVER],
  functions: [
    declare(
      'semver',
      plain('string_to_semver', [STRING], V, (text: string) => read(text), walks()),
      plain('string_bool_to_semver', [STRING, BOOL], V, read, walks()),
    ),
    declare(
      'isSemver',
      plain('is_semver_string', [STRING], BOOL, (text: string) => isSemver(text), walks()),
      plain('is_semver_string_bool', [STRING, BOOL], BOOL, isSemver, walks()),
    ),
    declare(
      'isGreaterThan',
      method('semver_is_greater_than', [V, V], BOOL, (a: SemverValue, b: SemverValue) => compare(a, b) > 0),
    ),
    declare(
      'isLessThan',
      method('semver_is_less_than', [V, V], BOOL, (a: SemverValue, b: SemverValue) => compare(a, b) < 0),
    ),
    declare('compareTo', method('semver_compare_to', [V, V], INT, compare)),
    ...NAMES.map((name, i) =>
      declare(
        name,
        method(`semver_${name}`, [V], INT, (v: SemverValue) => v.part(i)),
      ),
    ),
  ],
}
