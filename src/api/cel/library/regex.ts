/** Thread: any. What regular expressions (RE2) find in a text: Kubernetes' own `find` and `findAll`. */
import type { RE2JS } from 're2js'
import {
  addRanges,
  type CallEstimate,
  type EstimatedValue,
  exactly,
  multiplyRanges,
  REGEX_LENGTH_FACTOR,
  STRING_TRAVERSAL_FACTOR,
  scaleRange,
} from '../cost/estimate.js'
import type { Library, Overload } from '../function-declaration.js'
import { INT, listOf, STRING } from '../types.js'
import { codePointCount } from '../values/strings.js'
import { CelError, type CelValue, type Meter } from '../values/value.js'
import { type Costs, declare, method, sizeOrNone } from './overload.js'
import { countNextSearch, countSearch, patternOf } from './patterns.js'

type Found = (text: string, pattern: RE2JS, limit: number, meter: Meter) => CelValue

const find: Found = (text, pattern, _limit, meter) => {
  countSearch(pattern, text, meter)
  const matcher = pattern.matcher(text)
  return matcher.find() ? (matcher.group() ?? '') : ''
}

/** All of them; what is empty right behind another one does not count. Each may take a search of all the rest. */
const findAll: Found = (text, pattern, limit, meter) => {
  const found: string[] = []
  if (limit === 0) return found
  const matcher = pattern.matcher(text)
  let end = -1
  while (found.length !== limit) {
    if (end < 0) countSearch(pattern, text, meter)
    else countNextSearch(pattern, text, meter, end)
    if (!matcher.find()) break
    const [from, to] = [matcher.start(), matcher.end()]
    if (from !== to || from !== end) found.push(text.slice(from, to))
    end = to
  }
  return found
}

/** Negative: all. An overload without a limit gets whatever stands for none. */
const limitOf = (limit: CelValue | undefined): number =>
  typeof limit === 'number' || typeof limit === 'bigint' ? Number(limit) : -1

/** A pattern that the expression says literally is compiled once. */
const by = (apply: Found): Pick<Overload, 'call' | 'prepare'> => {
  const run = (text: string, pattern: RE2JS | CelError, limit: CelValue, meter: Meter): CelValue => {
    if (pattern instanceof CelError) return pattern
    return apply(text, pattern, limitOf(limit), meter)
  }
  return {
    call: (text: string, source: string, limit, _d, meter) => run(text, patternOf(source, meter), limit, meter),
    prepare: ([, source]) => {
      if (typeof source !== 'string') return undefined
      const pattern = patternOf(source)
      return (text, _source, limit, _d, meter) => run(text as string, pattern, limit, meter)
    },
  }
}

const patternCost = (text: string, source: string): number =>
  Math.ceil((1 + codePointCount(text)) * STRING_TRAVERSAL_FACTOR) *
  Math.ceil(codePointCount(source) * REGEX_LENGTH_FACTOR)

const patternEstimate = (text?: EstimatedValue, source?: EstimatedValue): CallEstimate['cost'] =>
  multiplyRanges(
    scaleRange(addRanges(sizeOrNone(text), exactly(1)), STRING_TRAVERSAL_FACTOR),
    scaleRange(sizeOrNone(source), REGEX_LENGTH_FACTOR),
  )

const FINDS: Costs = {
  cost: (_result: CelValue, text: string, source: string) => patternCost(text, source),
  estimate: (text, source) => ({ cost: patternEstimate(text, source), size: { min: 0, max: sizeOrNone(text).max } }),
}

const first = by(find)
const all = by(findAll)
const S = STRING

export const regex: Library = {
  functions: [
    declare('find', { ...method('string_find_string', [S, S], S, first.call, FINDS), ...first }),
    declare(
      'findAll',
      { ...method('string_find_all_string', [S, S], listOf(S), all.call, FINDS), ...all },
      { ...method('string_find_all_string_int', [S, S, INT], listOf(S), all.call, FINDS), ...all },
    ),
  ],
}
