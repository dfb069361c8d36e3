/** Thread: any. Sizes of values, as `size()` gives them and as costs count them. */
import { Bytes } from './bytes.js'
import { isList, listItems, listSize } from './lists.js'
import { isMap, mapGet, mapKeys, mapSize } from './maps.js'
import { Optional } from './optional.js'
import { codePointCount } from './strings.js'
import type { CelValue, Meter } from './value.js'

/** Code points, bytes, items, entries; of an optional value those of what it holds; 1 for everything that has no size. */
export function sizeOf(value: CelValue): number {
  if (typeof value === 'string') return codePointCount(value)
  if (isList(value)) return listSize(value)
  if (value instanceof Bytes) return value.value.length
  if (value instanceof Optional && value.value !== undefined) return sizeOf(value.value)
  return isMap(value) ? mapSize(value) : 1
}

/** What walking over a whole tree costs, as Kubernetes counts it: 1 a value, a tenth a byte of strings, rounded down. */
export function treeCost(value: CelValue, meter: Meter): number {
  if (typeof value === 'string') return Math.floor(Buffer.byteLength(value) * 0.1)
  if (value instanceof Bytes) return Math.floor(value.value.length * 0.1)
  let cost = 0
  if (isList(value)) {
    meter.spend(listSize(value) + 1)
    for (const item of listItems(value)) cost += treeCost(item, meter)
    return cost
  }
  if (!isMap(value)) return 1
  meter.spend(mapSize(value) + 1)
  for (const key of mapKeys(value)) cost += treeCost(key, meter) + treeCost(mapGet(value, key)!, meter)
  return cost
}
