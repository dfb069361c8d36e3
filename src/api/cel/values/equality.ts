/** Thread: any. Whether two values are equal, and which comes first. Values of different types are not equal; numbers are one type. */
import { Bytes } from './bytes.js'
import { type CelList, isList, listItems, listSize } from './lists.js'
import { type AnyMap, isMap, mapGet, mapKeys, mapSize } from './maps.js'
import { compareStrings } from './strings.js'
import { Duration, Timestamp } from './times.js'
import { TypedObject } from './typed-json.js'
import { Boxed, type CelError, type CelValue, isDouble, ListValue, type Meter, numberOf } from './value.js'

export function equalValues(a: CelValue, b: CelValue, meter?: Meter): boolean | CelError {
  if (a === b) return true
  if (a instanceof Boxed) return a.equals(b, meter)
  if (b instanceof Boxed) return b.equals(a, meter)
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
    return (
      typeof a !== typeof b && isNumber(a) && isNumber(b) && (isDouble(a) || isDouble(b)) && Number(a) === Number(b)
    )
  if (isList(a)) return isList(b) && equalLists(a, b, meter)
  return isMap(a) && isMap(b) && equalMaps(a, b, meter)
}

function equalLists(a: CelList, b: CelList, meter?: Meter): boolean | CelError {
  if (listSize(a) !== listSize(b)) return false
  meter?.spend(listSize(a) + 1)
  const keyOf = (a instanceof ListValue ? a.keyOf : undefined) ?? (b instanceof ListValue ? b.keyOf : undefined)
  const [left, right] = [listItems(a), listItems(b)]
  if (keyOf === undefined)
    return everyEqual(
      left.map((item, i) => [item, right[i]!]),
      meter,
    )
  const others = new Map(right.map((item) => [keyOf(item), item]))
  const pairs = left.map((item) => [item, others.get(keyOf(item))] as const)
  return (
    pairs.every(([, other]) => other !== undefined) && everyEqual(pairs as (readonly [CelValue, CelValue])[], meter)
  )
}

function equalMaps(a: AnyMap, b: AnyMap, meter?: Meter): boolean | CelError {
  const size = mapSize(a)
  meter?.spend(size + 1)
  if (size !== mapSize(b)) return false
  if (a instanceof TypedObject && b instanceof TypedObject && !haveSameUnknown(a, b, meter)) return false
  const keys = mapKeys(a)
  if (keys.length !== mapKeys(b).length) return false
  const pairs = keys.map((key) => [mapGet(a, key)!, mapGet(b, key)] as const)
  return (
    pairs.every(([, other]) => other !== undefined) && everyEqual(pairs as (readonly [CelValue, CelValue])[], meter)
  )
}

/** Whether the fields that expressions cannot see, since their type is not declared, are the same in both. */
const haveSameUnknown = (a: TypedObject, b: TypedObject, meter?: Meter): boolean =>
  a.unknownProperties.every(
    (key) => Object.hasOwn(b.json, key) && equalValues(a.json[key]!, b.json[key]!, meter) === true,
  )

/** An error counts only when nothing differs. */
function everyEqual(pairs: readonly (readonly [CelValue, CelValue])[], meter?: Meter): boolean | CelError {
  let error: CelError | undefined
  for (const [a, b] of pairs) {
    const equal = equalValues(a, b, meter)
    if (equal === false) return false
    if (equal !== true) error ??= equal
  }
  return error ?? true
}

/** Negative, zero or positive; undefined when there is no order between the two (other types, NaN). */
export function compareValues(a: CelValue, b: CelValue): number | undefined {
  if (typeof a === 'string') return typeof b === 'string' ? compareStrings(a, b) : undefined
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : undefined
  const [x, y] = [numberOf(a), numberOf(b)]
  if (x !== undefined && y !== undefined) return compareNumbers(a, b, x, y)
  if (a instanceof Bytes) return b instanceof Bytes ? Buffer.compare(a.value, b.value) : undefined
  if (a instanceof Duration) return b instanceof Duration ? order(a.nanoseconds, b.nanoseconds) : undefined
  if (a instanceof Timestamp && b instanceof Timestamp) return a.seconds - b.seconds || a.nanos - b.nanos
  return undefined
}

const isNumber = (value: CelValue): value is number | bigint => typeof value === 'number' || typeof value === 'bigint'

/** With a double, as doubles: 9223372036854775807 is 9223372036854775808.0. */
function compareNumbers(a: CelValue, b: CelValue, x: number | bigint, y: number | bigint): number | undefined {
  const asDoubles = isDouble(a) || isDouble(b)
  const [left, right] = asDoubles ? [Number(x), Number(y)] : [x, y]
  return left < right ? -1 : left > right ? 1 : Number.isNaN(left) || Number.isNaN(right) ? undefined : 0
}

const order = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0)
