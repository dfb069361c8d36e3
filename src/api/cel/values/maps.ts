/** Thread: any. Maps: those that expressions make, and how any map or object is read. */
import type { JsonObject } from '../../object.js'
import { type CelType, DYN, mapOf } from '../types.js'
import { Boxed, type CelValue, Double, intValue, ListValue, MapValue, Uint } from './value.js'

export type MapKey = string | number | bigint | boolean
const TYPE = mapOf(DYN, DYN)

/** A key as maps keep it: 1, 1u and 1.0 are one. Undefined: no map has such a key. */
export function mapKey(key: CelValue): MapKey | undefined {
  if (typeof key === 'string' || typeof key === 'boolean' || typeof key === 'bigint') return key
  if (typeof key === 'number') return Number.isSafeInteger(key) ? key : wholeKey(key)
  if (key instanceof Double) return key.value
  return key instanceof Uint ? intValue(key.value) : undefined
}

const wholeKey = (key: number): bigint | undefined => (Number.isInteger(key) ? BigInt(key) : undefined)

/** A map that an expression made; keys are strings, ints, uints and bools. */
export class CelMap extends MapValue {
  readonly #entries: ReadonlyMap<MapKey, readonly [CelValue, CelValue]>

  private constructor(entries: ReadonlyMap<MapKey, readonly [CelValue, CelValue]>) {
    super()
    this.#entries = entries
  }

  /** Later entries replace earlier ones; the caller knows that the keys are of a kind that keys may be. */
  static of(entries: Iterable<readonly [CelValue, CelValue]>): CelMap {
    const map = new Map<MapKey, readonly [CelValue, CelValue]>()
    for (const entry of entries) {
      const key = mapKey(entry[0])
      if (key !== undefined) map.set(key, entry)
    }
    return new CelMap(map)
  }

  get type(): CelType {
    return TYPE
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: CelValue): CelValue | undefined {
    const found = mapKey(key)
    return found === undefined ? undefined : this.#entries.get(found)?.[1]
  }

  get keys(): readonly CelValue[] {
    return [...this.#entries.values()].map(([key]) => key)
  }
}

/** Listing or counting a key of a large JSON object takes as long as so many other steps. */
export const STEPS_A_KEY = 4

export type AnyMap = JsonObject | MapValue

export const isMap = (value: CelValue): value is AnyMap =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Boxed) &&
  !(value instanceof ListValue)

/** Undefined: there is no such key. Null in JSON is null. */
export function mapGet(map: AnyMap, key: CelValue): CelValue | undefined {
  if (map instanceof MapValue) return map.get(key)
  return typeof key === 'string' && Object.hasOwn(map, key) ? map[key] : undefined
}

export const mapKeys = (map: AnyMap): readonly CelValue[] =>
  map instanceof MapValue ? map.keys : Object.keys(map).filter((key) => map[key] !== undefined)

export function mapSize(map: AnyMap): number {
  if (map instanceof MapValue) return map.size
  let size = 0
  for (const key in map) if (map[key] !== undefined) size++
  return size
}
