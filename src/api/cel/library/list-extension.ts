/** Thread: any. The lists extension of CEL: slices, ranges, sorting, flattening, each thing once. */
import {
  addRanges,
  type CallEstimate,
  type EstimatedValue,
  exactly,
  LIST_CREATE_COST,
  multiplyRanges,
  type Range,
  STRING_TRAVERSAL_FACTOR,
  scaleRange,
  UNBOUNDED,
} from '../cost/estimate.js'
import type { Library, Overload } from '../function-declaration.js'
import type { Macro } from '../macro.js'
import { ACCUMULATOR } from '../syntax.js'
import { DYN, INT, listOf, parameter } from '../types.js'
import { compareValues, equalValues } from '../values/equality.js'
import { type CelList, isList, listItems, listSize } from '../values/lists.js'
import { sizeOf } from '../values/size.js'
import { valueType } from '../values/type-value.js'
import { CelError, type CelValue, type Meter } from '../values/value.js'
import { COMPARABLE } from './lists.js'
import { declare, method, plain, sizeOrNone } from './overload.js'

type Int = number | bigint
/** What a list with more items would cost is more than an evaluation may cost. */
const MAX_ITEMS = 1_000_000
const limitExceeded = (): CelError => new CelError('operation cancelled: actual cost limit exceeded')

function slice(list: CelList, start: Int, end: Int): CelValue {
  const cannot = `cannot slice(${start}, ${end})`
  if (start < 0 || end < 0) return new CelError(`${cannot}, negative indexes not supported`)
  if (start > end) return new CelError(`${cannot}, start index must be less than or equal to end index`)
  if (end > listSize(list)) return new CelError(`${cannot}, list is length ${listSize(list)}`)
  return listItems(list).slice(Number(start), Number(end))
}

function flatten(list: CelList, depth: Int, meter: Meter): CelValue {
  if (depth < 0) return new CelError('level must be non-negative')
  const flat: CelValue[] = []
  const walk = (part: CelList, left: number): boolean => {
    meter.spend(listSize(part) + 1)
    return listItems(part).every((item) => {
      if (isList(item) && left > 0) return walk(item, left - 1)
      return flat.push(item) <= MAX_ITEMS
    })
  }
  return walk(list, Number(depth)) ? flat : limitExceeded()
}

function range(count: Int): CelValue {
  if (count > MAX_ITEMS) return limitExceeded()
  return Array.from({ length: Math.max(0, Number(count)) }, (_, i) => i)
}

const reverse = (list: CelList): CelValue => [...listItems(list)].reverse()

function distinct(list: CelList, _b: CelValue, _c: CelValue, _d: CelValue, meter: Meter): CelValue {
  if (listSize(list) ** 2 > MAX_ITEMS) {
    const known = scalarsOnce(list)
    if (known !== undefined) return known
    return limitExceeded()
  }
  const found: CelValue[] = []
  for (const item of listItems(list)) if (!found.some((one) => equalValues(item, one, meter) === true)) found.push(item)
  return found
}

/** Long lists cost the square of their length; strings and bools need not take it. */
function scalarsOnce(list: CelList): readonly CelValue[] | undefined {
  const items = listItems(list)
  return items.every((item) => typeof item === 'string' || typeof item === 'boolean') ? [...new Set(items)] : undefined
}

function sortBy(list: CelList, keys: CelList): CelValue {
  const items = listItems(list)
  const by = listItems(keys)
  if (items.length !== by.length)
    return new CelError(
      `@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got ${items.length} and ${by.length} elements respectively`,
    )
  const kind = by.length === 0 ? undefined : valueType(by[0]!).kind
  if (by.length === 1 && compareValues(by[0]!, by[0]!) === undefined && kind !== 'double')
    return new CelError('list elements must be comparable')
  if (by.some((key) => valueType(key).kind !== kind)) return new CelError('list elements must have the same type')
  const order = items.map((_, i) => i).sort((a, b) => compareValues(by[a]!, by[b]!) ?? 0)
  return order.map((i) => items[i]!)
}

/** What a call costs that makes a list: the call, the list, and `factor` a step. */
const allocates = (factor: number, size: Range): CallEstimate => ({
  cost: addRanges(scaleRange(size, factor), exactly(1 + LIST_CREATE_COST)),
  size,
})
const allocated = (factor: number, size: number): number => Math.floor(size * factor) + 1 + LIST_CREATE_COST

const literalOr = (value: EstimatedValue | undefined, other: number): number => {
  const literal = value?.literal
  return typeof literal === 'number' ? Math.max(0, literal) : other
}

const OUTPUT = { cost: (result: CelValue) => allocated(1, sizeOf(result)) }

const FLATTENS = {
  cost: (_result: CelValue, list: CelList, depth?: CelValue) =>
    allocated(typeof depth === 'number' ? depth : 1, listSize(list)),
  estimate: (list?: EstimatedValue, depth?: EstimatedValue): CallEstimate =>
    allocates(depth === undefined ? 1 : literalOr(depth, UNBOUNDED), sizeOrNone(list)),
}

const selfCompareFactor = (isText: boolean): number => (isText ? 2 + STRING_TRAVERSAL_FACTOR : 2)

function selfCompareCost(list: CelList): number {
  const size = listSize(list)
  if (size === 0) return allocated(2, 0)
  const { kind } = valueType(listItems(list)[0]!)
  return allocated(selfCompareFactor(kind === 'string' || kind === 'bytes'), size * size)
}

const square = (value: EstimatedValue | undefined): Range => multiplyRanges(sizeOrNone(value), sizeOrNone(value))

const DISTINCT = {
  cost: (_result: CelValue, list: CelList) => selfCompareCost(list),
  estimate: (list?: EstimatedValue): CallEstimate => allocates(2, square(list)),
}

const sortOverload = (name: string, type: (typeof COMPARABLE)[number][1]): Overload =>
  method(`list_${name}_sort`, [listOf(type)], listOf(type), (list: CelList) => sortBy(list, list), {
    cost: (_result: CelValue, list: CelList) => selfCompareCost(list),
    estimate: (list) => allocates(selfCompareFactor(name === 'string' || name === 'bytes'), square(list)),
  })

const T = parameter('T')
const LIST = listOf(T)

const sortByOverload = (name: string, type: (typeof COMPARABLE)[number][1]): Overload =>
  method(`list_${name}_sortByAssociatedKeys`, [LIST, listOf(type)], LIST, sortBy, {
    cost: (_result: CelValue, _list: CelList, keys: CelList) => selfCompareCost(keys),
    estimate: (_list, keys) => allocates(selfCompareFactor(name === 'string' || name === 'bytes'), square(keys)),
  })

/** As CEL calls the types in the names of overloads. */
const LONG_NAMES: ReadonlyMap<string, string> = new Map([
  ['duration', 'google.protobuf.Duration'],
  ['timestamp', 'google.protobuf.Timestamp'],
])
const named = COMPARABLE.map(([name, type]) => [LONG_NAMES.get(name) ?? name, type] as const)

const INPUT = '@__sortBy_input__'
const SORTABLE = new Set(['list', 'select', 'identifier', 'comprehension', 'call'])

/** `list.sortBy(x, key)`: the list by the keys that a walk over it gives; the list itself is evaluated once. */
const sortByMacro: Macro = {
  name: 'sortBy',
  member: true,
  arity: 2,
  expand: (make, [variable, key], target) => {
    if (!SORTABLE.has(target!.kind))
      return make.error(
        'sortBy can only be applied to a list, identifier, comprehension, call or select expression',
        target!,
      )
    if (variable!.kind !== 'identifier') return make.error('argument is not an identifier', variable!)
    const keys = make.comprehension({
      range: make.identifier(INPUT),
      variable: variable!.name,
      accumulator: ACCUMULATOR,
      init: make.list(),
      condition: make.literal(true),
      step: make.call('_+_', make.identifier(ACCUMULATOR), make.list(key!)),
      result: make.identifier(ACCUMULATOR),
    })
    return make.comprehension({
      range: make.list(),
      variable: '#unused',
      accumulator: INPUT,
      init: target!,
      condition: make.literal(false),
      step: make.identifier(INPUT),
      result: make.memberCall('@sortByAssociatedKeys', make.identifier(INPUT), keys),
    })
  },
}

export const listExtension: Library = {
  macros: [sortByMacro],
  functions: [
    declare(
      'slice',
      method('list_slice', [LIST, INT, INT], LIST, slice, {
        ...OUTPUT,
        estimate: (list, start, end) =>
          allocates(1, exactly(Math.max(0, literalOr(end, sizeOrNone(list).max) - literalOr(start, 0)))),
      }),
    ),
    declare(
      'flatten',
      method(
        'list_flatten',
        [listOf(LIST)],
        LIST,
        (list: CelList, _b: CelValue, _c: CelValue, _d: CelValue, meter: Meter) => flatten(list, 1, meter),
        FLATTENS,
      ),
      method(
        'list_flatten_int',
        [listOf(DYN), INT],
        listOf(DYN),
        (list: CelList, depth: Int, _c: CelValue, _d: CelValue, meter: Meter) => flatten(list, depth, meter),
        FLATTENS,
      ),
    ),
    declare('sort', ...named.map(([name, type]) => sortOverload(name, type))),
    declare('@sortByAssociatedKeys', ...named.map(([name, type]) => sortByOverload(name, type))),
    declare(
      'lists.range',
      plain('lists_range', [INT], listOf(INT), range, {
        ...OUTPUT,
        estimate: (count) => allocates(1, exactly(literalOr(count, UNBOUNDED))),
      }),
    ),
    declare(
      'reverse',
      method('list_reverse', [LIST], LIST, reverse, {
        ...OUTPUT,
        estimate: (list) => allocates(1, sizeOrNone(list)),
      }),
    ),
    declare('distinct', method('list_distinct', [LIST], LIST, distinct, DISTINCT)),
  ],
}
