/** Thread: any. The strings extension, at the version that Kubernetes has: positions are code points. */
import {
  addRanges,
  type CallEstimate,
  type EstimatedValue,
  multiplyRanges,
  type Range,
  STRING_TRAVERSAL_FACTOR,
  scaleRange,
  UNBOUNDED,
} from '../cost/estimate.js'
import type { Library } from '../function-declaration.js'
import { type CelType, DYN, INT, listOf, STRING } from '../types.js'
import { type CelList, listItems } from '../values/lists.js'
import { treeCost } from '../values/size.js'
import { codePointCount, traversalCost } from '../values/strings.js'
import { CelError, type CelValue, type Meter } from '../values/value.js'
import { formatString } from './format-string.js'
import { SHORT_ESCAPES } from './go-numbers.js'
import { declare, method, plain, sizeOrNone, WALKS_AND_COPIES, walks } from './overload.js'
import { MAX_TEXT_LENGTH, TextSearch } from './text-search.js'

type Int = number | bigint

const outOfRange = (index: Int): CelError => new CelError(`index out of range: ${index}`)
const tooLong = (): CelError => new CelError('operation cancelled: actual cost limit exceeded')
const SURROGATES = /[\ud800-\udfff]/

/** Where a code point begins, in units; the caller knows that it is there. */
function unitAt(text: string, index: number): number {
  if (!SURROGATES.test(text)) return index
  let unit = 0
  for (let i = 0; i < index; i++) unit += text.codePointAt(unit)! > 0xffff ? 2 : 1
  return unit
}

const pointAt = (text: string, unit: number): number =>
  unit < 0 || !SURROGATES.test(text) ? unit : codePointCount(text.slice(0, unit))

function charAt(text: string, index: Int): CelValue {
  const length = codePointCount(text)
  if (index < 0 || index > length) return outOfRange(index)
  if (Number(index) === length) return ''
  return String.fromCodePoint(text.codePointAt(unitAt(text, Number(index)))!)
}

function indexOf(text: string, part: string, offset: Int = 0): CelValue {
  if (part === '') return offset
  if (offset < 0) return outOfRange(offset)
  if (offset >= codePointCount(text)) return -1
  return pointAt(text, new TextSearch(part).next(text, unitAt(text, Number(offset))))
}

function lastIndexOf(text: string, part: string, offset?: Int): CelValue {
  const length = codePointCount(text)
  if (part === '') return offset ?? length
  const from = offset ?? length - 1
  if (offset !== undefined && offset < 0) return outOfRange(offset)
  if (from < 0 || from >= length) return -1
  return pointAt(text, new TextSearch(part).last(text, unitAt(text, Number(from))))
}

function substring(text: string, start: Int, end?: Int): CelValue {
  const length = codePointCount(text)
  if (end !== undefined && start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`)
  if (start < 0 || start > length) return outOfRange(start)
  if (end !== undefined && (end < 0 || end > length)) return outOfRange(end)
  return text.slice(unitAt(text, Number(start)), end === undefined ? undefined : unitAt(text, Number(end)))
}

/** The pieces between the separators, at most `limit` of them; an empty separator parts code points. */
function pieces(text: string, separator: string, limit: number): string[] {
  if (limit === 0) return []
  if (separator === '') {
    const points = [...text]
    return points.length <= limit ? points : [...points.slice(0, limit - 1), points.slice(limit - 1).join('')]
  }
  const search = new TextSearch(separator)
  const found: string[] = []
  let from = 0
  while (found.length < limit - 1) {
    const at = search.next(text, from)
    if (at < 0) break
    found.push(text.slice(from, at))
    from = at + separator.length
  }
  found.push(text.slice(from))
  return found
}

const limitOf = (count: Int | undefined): number =>
  count === undefined || count < 0 ? Number.POSITIVE_INFINITY : Number(count)

const split = (text: string, separator: string, count?: Int): CelValue => pieces(text, separator, limitOf(count))

function replace(text: string, old: string, next: string, count?: Int): CelValue {
  const limit = limitOf(count)
  if (limit === 0) return text
  return old === '' ? spread(text, next, limit) : joined(pieces(text, old, limit + 1), next)
}

/** The empty text stands before every code point, and at the end. */
function spread(text: string, next: string, limit: number): CelValue {
  const points = [...text]
  const count = Math.min(limit, points.length + 1)
  if (text.length + count * next.length > MAX_TEXT_LENGTH) return tooLong()
  const parts = points.map((point, i) => (i < count ? next + point : point))
  if (count > points.length) parts.push(next)
  return parts.join('')
}

function joined(parts: readonly string[], separator: string): CelValue {
  let length = separator.length * Math.max(0, parts.length - 1)
  for (const part of parts) length += part.length
  return length > MAX_TEXT_LENGTH ? tooLong() : parts.join(separator)
}

function join(list: CelList, separator: string, meter: Meter): CelValue {
  const parts = listItems(list)
  meter.spend(parts.length)
  const other = parts.find((part) => typeof part !== 'string')
  if (other !== undefined) return new CelError(`join: invalid input: ${String(other)}`)
  return joined(parts as readonly string[], separator)
}

const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (part) => part.toLowerCase())
const upperAscii = (text: string): string => text.replace(/[a-z]+/g, (part) => part.toUpperCase())

/** Every escape of the language, and nothing else, is written as one. */
const quote = (text: string): string => `"${Array.from(text, (one) => SHORT_ESCAPES.get(one) ?? one).join('')}"`

/** Go's space: not quite that of JavaScript, which counts the byte order mark and not U+0085. */
const isSpace = (unit: number): boolean =>
  unit === 0x20 ||
  (unit >= 9 && unit <= 13) ||
  unit === 0x85 ||
  unit === 0xa0 ||
  unit === 0x1680 ||
  (unit >= 0x2000 && unit <= 0x200a) ||
  [0x2028, 0x2029, 0x202f, 0x205f, 0x3000].includes(unit)

export function trimSpace(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text.charCodeAt(start))) start++
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

/** Of texts and of lists: one walk over all that is in them. */
export const SEARCHES = {
  cost: (_result: CelValue, target: CelValue, _b: CelValue, _c: CelValue, _d: CelValue, meter: Meter) =>
    treeCost(target, meter),
  estimate: (target?: EstimatedValue): CallEstimate => ({
    cost: scaleRange(sizeOrNone(target), STRING_TRAVERSAL_FACTOR),
  }),
}

/** How long a text can become when parts of it are replaced. */
function replacedSize(text: Range, old: Range, next: Range): Range {
  const max =
    old.min === 0
      ? { count: text.max + 1, kept: text.max }
      : next.max <= old.min
        ? { count: 0, kept: text.max }
        : { count: Math.ceil(text.max / old.min), kept: 0 }
  const min =
    old.max === 0
      ? { count: text.min + 1, kept: text.min }
      : old.max <= next.min
        ? { count: 0, kept: text.min }
        : { count: Math.ceil(text.min / old.max), kept: 0 }
  return addRanges(multiplyRanges({ min: min.count, max: max.count }, next), { min: min.kept, max: max.kept })
}

const REPLACES = {
  ...walks(2),
  estimate: (text?: EstimatedValue, old?: EstimatedValue, next?: EstimatedValue): CallEstimate => ({
    cost: scaleRange(sizeOrNone(text), 2 * STRING_TRAVERSAL_FACTOR),
    size: replacedSize(sizeOrNone(text), sizeOrNone(old), sizeOrNone(next)),
  }),
}

const SPLITS = {
  ...walks(2),
  estimate: (text?: EstimatedValue, _separator?: EstimatedValue, count?: EstimatedValue): CallEstimate => {
    const literal = count?.literal
    const most = typeof literal === 'number' ? (literal < 0 ? UNBOUNDED : literal) : sizeOrNone(text).max
    return { cost: scaleRange(sizeOrNone(text), 2 * STRING_TRAVERSAL_FACTOR), size: { min: 0, max: most } }
  },
}

const JOINS = {
  cost: (result: CelValue) =>
    typeof result === 'string' ? Math.ceil(codePointCount(result) * 2 * STRING_TRAVERSAL_FACTOR) : 1,
  estimate: (list?: EstimatedValue, separator?: EstimatedValue): CallEstimate => {
    const count = sizeOrNone(list)
    const items = list?.items === undefined ? { min: 0, max: 0 } : multiplyRanges(count, list.items.size)
    const between = { min: Math.max(0, count.min - 1), max: Math.max(0, count.max - 1) }
    const size = separator === undefined ? items : addRanges(items, multiplyRanges(separator.size, between))
    return { cost: scaleRange(size, STRING_TRAVERSAL_FACTOR), size }
  },
}

const QUOTES = {
  cost: (_result: CelValue, text: string) => traversalCost(text),
  estimate: (text?: EstimatedValue): CallEstimate => ({
    cost: scaleRange(sizeOrNone(text), STRING_TRAVERSAL_FACTOR),
    size: { min: sizeOrNone(text).min + 2, max: Math.min(UNBOUNDED, sizeOrNone(text).max * 2 + 2) },
  }),
}

const S: CelType = STRING
const STRINGS = listOf(STRING)

export const strings: Library = {
  functions: [
    declare('charAt', method('string_char_at_int', [S, INT], S, charAt)),
    declare(
      'indexOf',
      method('string_index_of_string', [S, S], INT, (text: string, part: string) => indexOf(text, part), SEARCHES),
      method('string_index_of_string_int', [S, S, INT], INT, indexOf, SEARCHES),
    ),
    declare(
      'lastIndexOf',
      method(
        'string_last_index_of_string',
        [S, S],
        INT,
        (text: string, part: string) => lastIndexOf(text, part),
        SEARCHES,
      ),
      method('string_last_index_of_string_int', [S, S, INT], INT, lastIndexOf, SEARCHES),
    ),
    declare('lowerAscii', method('string_lower_ascii', [S], S, lowerAscii, WALKS_AND_COPIES)),
    declare('upperAscii', method('string_upper_ascii', [S], S, upperAscii, WALKS_AND_COPIES)),
    declare(
      'replace',
      method(
        'string_replace_string_string',
        [S, S, S],
        S,
        (text: string, old: string, next: string) => replace(text, old, next),
        REPLACES,
      ),
      method('string_replace_string_string_int', [S, S, S, INT], S, replace, REPLACES),
    ),
    declare(
      'split',
      method('string_split_string', [S, S], STRINGS, (text: string, part: string) => split(text, part), SPLITS),
      method('string_split_string_int', [S, S, INT], STRINGS, split, SPLITS),
    ),
    declare(
      'substring',
      method(
        'string_substring_int',
        [S, INT],
        S,
        (text: string, start: Int) => substring(text, start),
        WALKS_AND_COPIES,
      ),
      method('string_substring_int_int', [S, INT, INT], S, substring, WALKS_AND_COPIES),
    ),
    declare('trim', method('string_trim', [S], S, trimSpace, WALKS_AND_COPIES)),
    declare(
      'format',
      method(
        'string_format',
        [S, listOf(DYN)],
        S,
        (format: string, args: CelList, _c: CelValue, _d: CelValue, meter: Meter) => formatString(format, args, meter),
        walks(),
      ),
    ),
    declare('strings.quote', plain('strings_quote', [S], S, quote, QUOTES)),
    declare(
      'join',
      method(
        'list_join',
        [STRINGS],
        S,
        (list: CelList, _b: CelValue, _c: CelValue, _d: CelValue, meter: Meter) => join(list, '', meter),
        JOINS,
      ),
      method(
        'list_join_string',
        [STRINGS, S],
        S,
        (list: CelList, separator: string, _c: CelValue, _d: CelValue, meter: Meter) => join(list, separator, meter),
        JOINS,
      ),
    ),
  ],
}
