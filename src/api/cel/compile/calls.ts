/** Thread: any. Closures of calls: straight to the one overload that types leave, or by the types that values have. */
import type { Overload } from '../function-declaration.js'
import type { CelType } from '../types.js'
import { equalValues } from '../values/equality.js'
import { type MapKey, mapKey } from '../values/maps.js'
import { traversalCost } from '../values/strings.js'
import { isOfType } from '../values/type-value.js'
import { CelError, type CelValue, numberOf } from '../values/value.js'
import { type Closure, type Frame, NO_OVERLOAD } from './frame.js'
import type { Part } from './part.js'

const needsLook = ({ kind }: CelType): boolean => kind === 'dyn' || kind === 'any' || kind === 'parameter'

export function callClosure(name: string, overloads: readonly Overload[], args: readonly Part[]): Closure {
  const fast = fastClosure(name, overloads, args)
  if (fast !== undefined) return fast
  if (args.length > 0 && args.every(({ constant }) => constant !== undefined)) return foldedClosure(overloads, args)
  const [only] = overloads
  const looks = overloads.length > 1 || args.some(({ type }, i) => needsLook(type) && !needsLook(only!.parameters[i]!))
  if (looks) return dispatchClosure(overloads, args)
  const literals = args.map(({ constant }) => constant?.value)
  const prepared = literals.some((one) => one !== undefined) ? only!.prepare?.(literals) : undefined
  return directClosure(prepared === undefined ? only! : { ...only!, call: prepared }, args)
}

const apply = (overload: Overload, frame: Frame, a: CelValue, b: CelValue, c: CelValue, d: CelValue): CelValue => {
  const result = overload.call(a, b, c, d, frame)
  frame.cost += overload.cost === undefined ? 1 : overload.cost(result, a, b, c, d, frame)
  return result
}

function directClosure(overload: Overload, args: readonly Part[]): Closure {
  const [first, second] = args.map(({ closure }) => closure)
  if (first !== undefined && args.length === 1)
    return (frame) => {
      const a = first(frame)
      return a instanceof CelError ? a : apply(overload, frame, a, null, null, null)
    }
  if (first !== undefined && second !== undefined && args.length === 2)
    return (frame) => {
      const a = first(frame)
      if (a instanceof CelError) return a
      const b = second(frame)
      return b instanceof CelError ? b : apply(overload, frame, a, b, null, null)
    }
  return (frame) => {
    const values = evaluateAll(frame, args)
    if (values instanceof CelError) return values
    return apply(overload, frame, values[0] ?? null, values[1] ?? null, values[2] ?? null, values[3] ?? null)
  }
}

function evaluateAll(frame: Frame, args: readonly Part[]): CelValue[] | CelError {
  const values: CelValue[] = []
  for (const { closure } of args) {
    const value = closure(frame)
    if (value instanceof CelError) return value
    values.push(value)
  }
  return values
}

function dispatchClosure(overloads: readonly Overload[], args: readonly Part[]): Closure {
  return (frame) => {
    const values = evaluateAll(frame, args)
    if (values instanceof CelError) return values
    const fitting = overloads.find(({ parameters }) => parameters.every((type, i) => isOfType(values[i]!, type)))
    if (fitting === undefined) {
      frame.cost++
      return NO_OVERLOAD
    }
    return apply(fitting, frame, values[0] ?? null, values[1] ?? null, values[2] ?? null, values[3] ?? null)
  }
}

/** A call with literals only: functions are pure, so it runs once, when it is first needed. */
function foldedClosure(overloads: readonly Overload[], args: readonly Part[]): Closure {
  const closure = dispatchClosure(overloads, args)
  let folded: { readonly value: CelValue; readonly cost: number } | undefined
  return (frame) => {
    if (folded === undefined) {
      const before = frame.cost
      const value = closure(frame)
      folded = { value, cost: frame.cost - before }
      return value
    }
    frame.cost += folded.cost
    return folded.value
  }
}

type IntComparison = (a: number | bigint, b: number | bigint) => boolean
const INT_COMPARISONS: ReadonlyMap<string, IntComparison> = new Map<string, IntComparison>([
  ['_<_', (a, b) => a < b],
  ['_<=_', (a, b) => a <= b],
  ['_>_', (a, b) => a > b],
  ['_>=_', (a, b) => a >= b],
])

const EQUALITIES = new Set(['_==_', '_!=_'])

/** What rules are made of: comparisons of ints, equality of strings and ints, what a string begins with. */
function fastClosure(name: string, overloads: readonly Overload[], args: readonly Part[]): Closure | undefined {
  if (args.length !== 2 || overloads.length !== 1) return undefined
  const [left, right] = args as readonly [Part, Part]
  const kinds = `${left.type.kind},${right.type.kind}`
  const compare = INT_COMPARISONS.get(name)
  if (compare !== undefined && kinds === 'int,int') return comparisonClosure(name, compare, left, right)
  if (EQUALITIES.has(name) && kinds === 'string,string')
    return equalStringsClosure(left.closure, right.closure, name === '_==_')
  if (EQUALITIES.has(name) && kinds === 'int,int') return equalIntsClosure(left.closure, right.closure, name === '_==_')
  const [{ id }] = overloads as readonly [Overload]
  if (id === 'starts_with_string' && kinds === 'string,string') return startsWithClosure(left.closure, right)
  return undefined
}

/** With a number on the right that is known before, the commonest of all. */
function comparisonClosure(name: string, compare: IntComparison, left: Part, right: Part): Closure {
  const limit = right.constant?.value
  if (typeof limit === 'number') return againstNumber(name, left.closure, limit)
  const [first, second] = [left.closure, right.closure]
  return (frame) => {
    const a = first(frame)
    if (typeof a !== 'number' && typeof a !== 'bigint') return a
    const b = second(frame)
    if (typeof b !== 'number' && typeof b !== 'bigint') return b
    frame.cost++
    return compare(a, b)
  }
}

/** A closure an operator, so that each of them compares without a call. */
function againstNumber(name: string, left: Closure, limit: number): Closure {
  switch (name) {
    case '_<_':
      return (frame) => {
        const a = left(frame)
        if (typeof a !== 'number' && typeof a !== 'bigint') return a
        frame.cost++
        return a < limit
      }
    case '_<=_':
      return (frame) => {
        const a = left(frame)
        if (typeof a !== 'number' && typeof a !== 'bigint') return a
        frame.cost++
        return a <= limit
      }
    case '_>_':
      return (frame) => {
        const a = left(frame)
        if (typeof a !== 'number' && typeof a !== 'bigint') return a
        frame.cost++
        return a > limit
      }
    default:
      return (frame) => {
        const a = left(frame)
        if (typeof a !== 'number' && typeof a !== 'bigint') return a
        frame.cost++
        return a >= limit
      }
  }
}

const equalStringsClosure =
  (left: Closure, right: Closure, wanted: boolean): Closure =>
  (frame) => {
    const a = left(frame)
    if (a instanceof CelError) return a
    const b = right(frame)
    if (typeof a !== 'string' || typeof b !== 'string') return equalOr(frame, a, b, wanted)
    frame.cost += traversalCost(a.length < b.length ? a : b)
    return (a === b) === wanted
  }

/** Where null stands for a string that may be null. */
const equalOr = (frame: Frame, a: CelValue, b: CelValue, wanted: boolean): CelValue => {
  if (b instanceof CelError) return b
  frame.cost++
  const equal = equalValues(a, b, frame)
  return typeof equal === 'boolean' ? equal === wanted : equal
}

const equalIntsClosure =
  (left: Closure, right: Closure, wanted: boolean): Closure =>
  (frame) => {
    const a = left(frame)
    if (a instanceof CelError) return a
    const b = right(frame)
    if (b instanceof CelError) return b
    frame.cost++
    return (a === b) === wanted
  }

function startsWithClosure(text: Closure, { closure, constant }: Part): Closure {
  const part = constant?.value
  if (typeof part === 'string')
    return (frame) => {
      const a = text(frame)
      if (typeof a !== 'string') return a
      frame.cost += traversalCost(a)
      return a.startsWith(part)
    }
  return (frame) => {
    const a = text(frame)
    if (typeof a !== 'string') return a
    const b = closure(frame)
    if (typeof b !== 'string') return b
    frame.cost += traversalCost(a)
    return a.startsWith(b)
  }
}

const isPrimitive = (value: CelValue): boolean =>
  typeof value === 'string' || typeof value === 'boolean' || numberOf(value) !== undefined

/**
 * `x in ['a', 'b']`: a set that is made once. As in Kubernetes it costs what `x` costs. Undefined: the list is not of strings,
 * bools and whole numbers.
 */
export function membershipClosure(value: Closure, list: CelValue): Closure | undefined {
  if (!Array.isArray(list)) return undefined
  const items = list as readonly CelValue[]
  const keys = items.map((item) => (isPrimitive(item) ? mapKey(item) : undefined))
  if (keys.includes(undefined)) return undefined
  const known = new Set<MapKey | undefined>(keys)
  return (frame) => {
    const found = value(frame)
    if (typeof found === 'string') return known.has(found)
    return found instanceof CelError ? found : isPrimitive(found) && known.has(mapKey(found))
  }
}
