/** Thread: any. `'%s has %d'.format([…])`: clauses, and the text of values in them, as English has them. */

import { Bytes } from '../values/bytes.js'
import { type CelList, isList, listItem, listItems, listSize } from '../values/lists.js'
import { type AnyMap, isMap, mapGet, mapKeys } from '../values/maps.js'
import { compareStrings } from '../values/strings.js'
import { formatDuration, formatTimestamp } from '../values/time-formats.js'
import { Duration, Timestamp } from '../values/times.js'
import { runtimeTypeName, TypeValue, valueType } from '../values/type-value.js'
import { CelError, type CelValue, type Meter, numberOf } from '../values/value.js'
import { fixedDouble, goQuote, shortestDouble } from './go-numbers.js'
import { MAX_TEXT_LENGTH } from './text-search.js'

const DEFAULT_PRECISION = 6
/** Doubles have no more digits than some thousand; further ones are zeros that somebody would have to make. */
const MAX_PRECISION = 10_000

class FormatError extends Error {
  override readonly name = 'FormatError'
}

const kindOf = (value: CelValue): string => valueType(value).kind
const nameOf = (value: CelValue): string => runtimeTypeName(valueType(value))
const isInteger = (value: CelValue): boolean => kindOf(value) === 'int' || kindOf(value) === 'uint'

export function formatString(format: string, args: CelList, meter: Meter): CelValue {
  try {
    return formatted(format, args, meter)
  } catch (error) {
    if (error instanceof FormatError) return new CelError(error.message)
    throw error
  }
}

const CLAUSE = /%(?:%|(?:\.(\d*))?([\s\S]?))/g

/** What stands between clauses, and the clauses; the last part is text. `%%` is a clause without a verb. */
function* parts(format: string): Generator<{ readonly text: string; readonly clause: RegExpMatchArray | undefined }> {
  let from = 0
  for (const clause of format.matchAll(CLAUSE)) {
    yield { text: format.slice(from, clause.index), clause }
    from = clause.index + clause[0].length
  }
  yield { text: format.slice(from), clause: undefined }
}

const isPercent = (clause: RegExpMatchArray): boolean => clause[0] === '%%'

function formatted(format: string, args: CelList, meter: Meter): string {
  const made: string[] = []
  let length = 0
  let used = 0
  for (const { text, clause } of parts(format)) {
    made.push(text)
    const value = clause === undefined ? '' : isPercent(clause) ? '%' : clauseText(clause, args, used++, meter)
    made.push(value)
    length += text.length + value.length
    if (length > MAX_TEXT_LENGTH) throw new FormatError('operation cancelled: actual cost limit exceeded')
  }
  return made.join('')
}

/**
 * Verbs of the clauses of a format, for a look before it is used. What is wrong with a clause itself ends them.
 * `count`: how many arguments there are.
 */
export function* formatVerbs(format: string, count: number): Generator<string | CelError> {
  let used = 0
  for (const { clause } of parts(format)) {
    if (clause === undefined || isPercent(clause)) continue
    try {
      if (clause[0] === '%') throw new FormatError('unexpected end of string')
      if (used >= count) throw new FormatError(`index ${used} out of range`)
      precisionOf(clause[1], clause[2])
      yield verbOf(clause)
    } catch (error) {
      if (!(error instanceof FormatError)) throw error
      yield new CelError(error.message)
      return
    }
    used++
  }
}

function verbOf([, , verb = '']: RegExpMatchArray): string {
  if (!CLAUSES.has(verb))
    throw new FormatError(`could not parse formatting clause: unrecognized formatting clause "${verb}"`)
  return verb
}

function clauseText(clause: RegExpMatchArray, args: CelList, index: number, meter: Meter): string {
  if (index >= listSize(args)) throw new FormatError(`index ${index} out of range`)
  if (clause[0] === '%') throw new FormatError('unexpected end of string')
  const digits = precisionOf(clause[1], clause[2])
  return CLAUSES.get(verbOf(clause))!.text(listItem(args, index), digits, meter)
}

function precisionOf(precision: string | undefined, verb: string | undefined): number {
  if (precision === undefined) return DEFAULT_PRECISION
  const where = 'could not parse formatting clause: error while parsing precision'
  if (verb === '') throw new FormatError(`${where}: could not find end of precision specifier`)
  if (precision === '')
    throw new FormatError(
      `${where}: error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax`,
    )
  if (Number(precision) > MAX_PRECISION) throw new FormatError('operation cancelled: actual cost limit exceeded')
  return Number(precision)
}

const wrong = (limits: string, value: CelValue): FormatError =>
  new FormatError(`error during formatting: ${limits}, was given ${nameOf(value)}`)

const TEXTS =
  'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps'
const DECIMALS = 'decimal clause can only be used on integers'
const FIXED = 'fixed-point clause can only be used on doubles'
const SCIENTIFIC = 'scientific clause can only be used on doubles'
const BINARY = 'only integers and bools can be formatted as binary'
const HEX = 'only integers, byte buffers, and strings can be formatted as hex'
const OCTAL = 'octal clause can only be used on integers'

/** As `%s` gives a value that stands alone. */
export function textOf(value: CelValue, meter?: Meter): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return String(value)
  const number = numberOf(value)
  if (number !== undefined) return isInteger(value) ? String(number) : shortestDouble(Number(number))
  if (value instanceof Timestamp) return formatTimestamp(value)
  if (value instanceof Duration) return formatDuration(value)
  if (value instanceof Bytes) return bytesText(value)
  if (value instanceof TypeValue) return runtimeTypeName(value.named)
  if (isList(value)) return listText(value, meter)
  if (isMap(value) && kindOf(value) === 'map') return mapText(value, meter)
  throw wrong(TEXTS, value)
}

function bytesText({ value }: Bytes): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value)
  } catch (error) {
    if (error instanceof TypeError)
      throw new FormatError(
        'error during formatting: could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string',
      )
    throw error
  }
}

/** As a value stands in a list or a map: as an expression would write it. */
function innerText(value: CelValue, meter: Meter | undefined): string {
  if (typeof value === 'string') return goQuote(value)
  if (value instanceof Bytes) return `b${goQuote(bytesText(value))}`
  if (value instanceof Timestamp) return `timestamp(${goQuote(formatTimestamp(value))})`
  if (value instanceof Duration) return `duration(${goQuote(formatDuration(value))})`
  const number = numberOf(value)
  if (number === undefined || isInteger(value)) return textOf(value, meter)
  const double = Number(number)
  return Number.isFinite(double) ? fixedDouble(double, DEFAULT_PRECISION) : goQuote(shortestDouble(double))
}

/** Lists may hold one list many times: what is written is counted, and ends before it is more than a text may have. */
function joined(count: number, textAt: (i: number) => string): string {
  const parts: string[] = []
  let length = 0
  for (let i = 0; i < count; i++) {
    const part = textAt(i)
    length += part.length + 2
    if (length > MAX_TEXT_LENGTH) throw new FormatError('operation cancelled: actual cost limit exceeded')
    parts.push(part)
  }
  return parts.join(', ')
}

function listText(list: CelList, meter: Meter | undefined): string {
  meter?.spend(listSize(list) + 1)
  const items = listItems(list)
  return `[${joined(items.length, (i) => innerText(items[i]!, meter))}]`
}

function mapText(map: AnyMap, meter: Meter | undefined): string {
  const keys = mapKeys(map)
  meter?.spend(keys.length + 1)
  const named = keys.map((key) => [innerText(key, meter), key] as const)
  named.sort(([a], [b]) => compareStrings(a, b))
  return `{${joined(named.length, (i) => `${named[i]![0]}:${innerText(mapGet(map, named[i]![1])!, meter)}`)}}`
}

function decimal(value: CelValue): string {
  if (!isInteger(value)) throw wrong(DECIMALS, value)
  return String(numberOf(value))
}

const SPECIAL: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
])

/** A double, or one of three words for what JSON cannot say. */
function doubleOf(value: CelValue, limits: string): number {
  const special = typeof value === 'string' ? SPECIAL.get(value) : undefined
  if (special !== undefined) return special
  if (kindOf(value) !== 'double') throw wrong(limits, value)
  return Number(numberOf(value))
}

const notFinite = (value: number): string => (Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '-∞')

function fixed(value: CelValue, precision: number): string {
  const double = doubleOf(value, FIXED)
  if (!Number.isFinite(double)) return notFinite(double)
  const [whole = '', fraction] = fixedDouble(double, precision).split('.')
  const sign = whole.startsWith('-') ? '-' : ''
  const digits = whole.slice(sign.length)
  const groups: string[] = []
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end))
  return `${sign}${groups.join(',')}${fraction === undefined ? '' : `.${fraction}`}`
}

const RAISED = '⁰¹²³⁴⁵⁶⁷⁸⁹'

/** Six digits whatever the clause says: in Kubernetes' version the precision is taken for a width. */
function scientific(value: CelValue): string {
  const double = doubleOf(value, SCIENTIFIC)
  if (!Number.isFinite(double)) return notFinite(double)
  const [mantissa = '', exponent = '0'] = double.toExponential(DEFAULT_PRECISION).split('e')
  const power = Number(exponent)
  const raised = [...String(Math.abs(power)).padStart(2, '0')].map((digit) => RAISED[Number(digit)]).join('')
  return `${mantissa}\u202f×\u202f10${power < 0 ? '⁻' : ''}${raised}`
}

function binary(value: CelValue): string {
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (!isInteger(value)) throw wrong(BINARY, value)
  return numberOf(value)!.toString(2)
}

function octal(value: CelValue): string {
  if (!isInteger(value)) throw wrong(OCTAL, value)
  return numberOf(value)!.toString(8)
}

function hex(value: CelValue): string {
  if (typeof value === 'string') return Buffer.from(value).toString('hex')
  if (value instanceof Bytes) return Buffer.from(value.value).toString('hex')
  if (!isInteger(value)) throw wrong(HEX, value)
  return numberOf(value)!.toString(16)
}

interface Clause {
  readonly text: (value: CelValue, digits: number, meter: Meter) => string
  /** Types that it takes, as far as they are known before, and what is said of others. */
  readonly kinds: ReadonlySet<string>
  readonly limits: string
}

const clause = (text: Clause['text'], limits: string, ...kinds: readonly string[]): Clause => ({
  text,
  limits,
  kinds: new Set(['dyn', ...kinds]),
})

const hexClause = (text: Clause['text']): Clause => clause(text, HEX, 'int', 'uint', 'string', 'bytes')

/** By verb. */
export const CLAUSES: ReadonlyMap<string, Clause> = new Map([
  [
    's',
    clause(
      (value, _digits, meter) => textOf(value, meter),
      TEXTS,
      ...['list', 'map', 'int', 'uint', 'double', 'bool', 'string', 'timestamp', 'bytes', 'duration', 'type', 'null'],
    ),
  ],
  ['d', clause(decimal, DECIMALS, 'int', 'uint')],
  ['f', clause(fixed, FIXED, 'double', 'string')],
  ['e', clause(scientific, SCIENTIFIC, 'double', 'string')],
  ['b', clause(binary, BINARY, 'int', 'uint', 'bool')],
  ['x', hexClause(hex)],
  ['X', hexClause((value) => hex(value).toUpperCase())],
  ['o', clause(octal, OCTAL, 'int', 'uint')],
])
