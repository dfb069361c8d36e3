/** Thread: any. Kubernetes' own functions of lists: in order, sum, smallest, largest, where something is. */
import {
  addRanges,
  type CallEstimate,
  type EstimatedValue,
  exactly,
  multiplyRanges,
  STRING_TRAVERSAL_FACTOR,
  scaleRange,
} from '../cost/estimate.js'
import type { Library, Overload } from '../function-declaration.js'
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  parameter,
  STRING,
  TIMESTAMP,
  UINT,
} from '../types.js'
import { compareValues, equalValues } from '../values/equality.js'
import { type CelList, listItems } from '../values/lists.js'
import { treeCost } from '../values/size.js'
import { Duration } from '../values/times.js'
import { CelError, type CelValue, doubleValue, intValue, type Meter, numberOf, Uint } from '../values/value.js'
import { declare, method, sizeOrNone } from './overload.js'

export const COMPARABLE: readonly (readonly [string, CelType])[] = [
  ['int', INT],
  ['uint', UINT],
  ['double', DOUBLE],
  ['bool', BOOL],
  ['duration', DURATION],
  ['timestamp', TIMESTAMP],
  ['string', STRING],
  ['bytes', BYTES],
]

/** One step an item, and a walk over each that is a string or bytes. */
const WALKS_LIST = {
  cost: (_result: CelValue, list: CelValue, _b: CelValue, _c: CelValue, _d: CelValue, meter: Meter) =>
    treeCost(list, meter),
  estimate: (list?: EstimatedValue): CallEstimate => {
    const item = list?.items
    const one = exactly(1)
    const isText = item?.type.kind === 'string' || item?.type.kind === 'bytes'
    const each = isText ? addRanges(one, scaleRange(item.size, STRING_TRAVERSAL_FACTOR)) : one
    return { cost: multiplyRanges(sizeOrNone(list), each) }
  },
}

function isSorted(list: CelList): boolean {
  const items = listItems(list)
  return items.every((item, i) => i === 0 || (compareValues(items[i - 1]!, item) ?? 0) <= 0)
}

/** The first of those that no other comes before (or after, when `sign` is 1). */
const extreme =
  (name: 'min' | 'max', sign: 1 | -1) =>
  (list: CelList): CelValue => {
    let best: CelValue | undefined
    for (const item of listItems(list))
      if (best === undefined || Math.sign(compareValues(best, item) ?? 0) === -sign) best = item
    return best ?? new CelError(`${name} called on empty list`)
  }

const MAX_INT64 = 2n ** 63n - 1n
const MAX_UINT64 = 2n ** 64n - 1n

function sumInts(list: CelList): CelValue {
  let sum = 0n
  for (const item of listItems(list)) {
    sum += BigInt(numberOf(item)!)
    if (sum > MAX_INT64 || sum < -MAX_INT64 - 1n) return new CelError('integer overflow')
  }
  return intValue(sum)
}

function sumUints(list: CelList): CelValue {
  let sum = 0n
  for (const item of listItems(list)) sum += BigInt(numberOf(item)!)
  return sum > MAX_UINT64 ? new CelError('unsigned integer overflow') : new Uint(sum)
}

function sumDurations(list: CelList): CelValue {
  let sum = 0n
  for (const item of listItems(list)) {
    sum += (item as Duration).nanoseconds
    if (Duration.of(sum) === undefined) return new CelError('duration overflow')
  }
  return new Duration(sum)
}

const sumDoubles = (list: CelList): CelValue =>
  doubleValue(listItems(list).reduce<number>((sum, item) => sum + Number(numberOf(item)), 0))

type Found = (list: CelList, item: CelValue, c: CelValue, d: CelValue, meter: Meter) => number
const indexOf: Found = (list, item, _c, _d, meter) =>
  listItems(list).findIndex((one) => equalValues(one, item, meter) === true)
const lastIndexOf: Found = (list, item, _c, _d, meter) =>
  listItems(list).findLastIndex((one) => equalValues(one, item, meter) === true)

const each = (make: (name: string, type: CelType) => Overload): Overload[] =>
  COMPARABLE.map(([name, type]) => make(name, type))

const A = parameter('A')

export const lists: Library = {
  functions: [
    declare(
      'isSorted',
      ...each((name, type) => method(`list_${name}_is_sorted_bool`, [listOf(type)], BOOL, isSorted, WALKS_LIST)),
    ),
    declare(
      'sum',
      method('list_int_sum_int', [listOf(INT)], INT, sumInts, WALKS_LIST),
      method('list_uint_sum_uint', [listOf(UINT)], UINT, sumUints, WALKS_LIST),
      method('list_double_sum_double', [listOf(DOUBLE)], DOUBLE, sumDoubles, WALKS_LIST),
      method('list_duration_sum_duration', [listOf(DURATION)], DURATION, sumDurations, WALKS_LIST),
    ),
    declare(
      'max',
      ...each((name, type) => method(`list_${name}_max_${name}`, [listOf(type)], type, extreme('max', 1), WALKS_LIST)),
    ),
    declare(
      'min',
      ...each((name, type) => method(`list_${name}_min_${name}`, [listOf(type)], type, extreme('min', -1), WALKS_LIST)),
    ),
    declare('indexOf', method('list_a_index_of_int', [listOf(A), A], INT, indexOf, WALKS_LIST)),
    declare('lastIndexOf', method('list_a_last_index_of_int', [listOf(A), A], INT, lastIndexOf, WALKS_LIST)),
  ],
}
