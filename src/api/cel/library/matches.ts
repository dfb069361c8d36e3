/** Thread: any. `matches`: patterns are RE2's, so that none can hold a thread. */
import type { RE2JS } from 're2js'
import {
  addRanges,
  exactly,
  multiplyRanges,
  REGEX_LENGTH_FACTOR,
  STRING_TRAVERSAL_FACTOR,
  scaleRange,
} from '../cost/estimate.js'
import type { Library, Overload } from '../function-declaration.js'
import { BOOL, STRING } from '../types.js'
import { codePointCount } from '../values/strings.js'
import { CelError, type CelValue, type Meter } from '../values/value.js'
import { countSearch, patternOf } from './patterns.js'

function test(text: string, pattern: RE2JS | CelError, meter: Meter): CelValue {
  if (pattern instanceof CelError) return pattern
  countSearch(pattern, text, meter)
  return pattern.matcher(text).find()
}

const matches: Omit<Overload, 'id'> = {
  parameters: [STRING, STRING],
  result: BOOL,
  call: (text: string, pattern: string, _c, _d, meter) => test(text, patternOf(pattern, meter), meter),
  prepare: ([, literal]) => {
    if (typeof literal !== 'string') return undefined
    const pattern = patternOf(literal)
    return (text: CelValue, _b, _c, _d, meter) => test(text as string, pattern, meter)
  },
}

const COSTS: Pick<Overload, 'cost' | 'estimate'> = {
  cost: (_result, text: string, pattern: string) =>
    Math.ceil((1 + codePointCount(text)) * STRING_TRAVERSAL_FACTOR) *
    Math.ceil(codePointCount(pattern) * REGEX_LENGTH_FACTOR),
  estimate: (text, pattern) => ({
    cost: multiplyRanges(
      scaleRange(addRanges(text!.size, exactly(1)), STRING_TRAVERSAL_FACTOR),
      scaleRange(pattern!.size, REGEX_LENGTH_FACTOR),
    ),
  }),
}

export const matching: Library = {
  functions: [
    {
      name: 'matches',
      overloads: [
        // As a plain function it costs 1, whatever it gets: Kubernetes knows a cost of the member only.
        { ...matches, id: 'matches' },
        { ...matches, ...COSTS, id: 'matches_string', member: true },
      ],
    },
  ],
}
