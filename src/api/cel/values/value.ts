/**
 * Thread: any. Values of expressions. Programs read parsed JSON as it is, without a wrapper around whole objects:
 *
 *   int        a number while it is a safe integer, a bigint beyond (never the other way round)
 *   double     a number that is no safe integer (0.5, 1e300, NaN), or a Double around one that is (1.0)
 *   bool, string, null   themselves
 *   list       an array, or a ListValue: JSON whose items need their declared type to be understood
 *   map        a JSON object, or a MapValue: a CelMap (made by an expression; keys of any kind), a TypedObject, a LazyObject
 *   all others a Boxed: Uint, Bytes, Timestamp, Duration, Optional, types, values of libraries, errors
 *
 * So every value tells its own type. JSON tells it too where its declared type is *plain* (typed-json.ts): strings, bools,
 * whole numbers, and lists and maps of them. Only what is not (dates, bytes, doubles that are whole, escaped names, lists
 * that are sets) is wrapped, when it is read. As in Kubernetes, a number without fraction in JSON of no declared type is int.
 *
 * An error is a value too, until it leaves the program: `&&`, `||`, `all` and `exists` take it and may do without it.
 */
import type { JsonObject } from '../../object.js'
import { type CelType, DOUBLE, UINT } from '../types.js'

export type CelValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly CelValue[]
  | JsonObject
  | Boxed
  | ListValue
  | MapValue

/**
 * Counts work that costs do not count: Kubernetes' numbers call some things cheap that take time (equality of what nests deep, say).
 * `spend` throws when an evaluation has done more of it than any may.
 */
export interface Meter {
  spend(steps: number): void
}

/** Whatever is neither JSON nor an array of values. */
export abstract class Wrapped {}

/** A list that is no array: JSON whose items are read by their declared type. Read lists with values/lists.ts. */
export abstract class ListValue extends Wrapped {
  abstract readonly type: CelType
  abstract readonly size: number
  /** The item at an index that there is. */
  abstract at(index: number): CelValue
  /** The same list as an array. */
  abstract readonly items: readonly CelValue[]
  /** By what items are told apart, for lists that are equal in any order (x-kubernetes-list-type set and map). */
  readonly keyOf: ((item: CelValue) => string) | undefined = undefined
}

/** A map or an object that is no plain JSON. Read maps with values/maps.ts. */
export abstract class MapValue extends Wrapped {
  abstract readonly type: CelType
  abstract readonly size: number
  /** Undefined: there is no such key. */
  abstract get(key: CelValue): CelValue | undefined
  abstract readonly keys: readonly CelValue[]
}

/** A value that JavaScript and JSON have no word for. */
export abstract class Boxed extends Wrapped {
  /** What `type(value)` gives. */
  abstract readonly type: CelType
  /** Whether another value, of whatever type, is the same one. */
  abstract equals(other: CelValue, meter?: Meter): boolean | CelError
}

/** What went wrong while an expression ran. It stands for no value: whatever is made of it is the same error. */
export class CelError extends Boxed {
  readonly message: string

  constructor(message: string) {
    super()
    this.message = message
  }

  get type(): CelType {
    return { kind: 'error' }
  }

  equals(): CelError {
    return this
  }
}

/** A double that is a whole number, which alone could not be told from an int. */
export class Double extends Boxed {
  readonly value: number

  constructor(value: number) {
    super()
    this.value = value
  }

  get type(): CelType {
    return DOUBLE
  }

  equals(other: CelValue): boolean {
    const number = numberOf(other)
    return number !== undefined && Number(number) === this.value
  }
}

/** An unsigned integer of 64 bits; JSON has none. */
export class Uint extends Boxed {
  readonly value: bigint

  constructor(value: bigint) {
    super()
    this.value = value
  }

  get type(): CelType {
    return UINT
  }

  equals(other: CelValue): boolean {
    const number = numberOf(other)
    if (number === undefined) return false
    return isDouble(other) ? Number(this.value) === Number(number) : this.value === BigInt(number)
  }
}

/** The number that a value is, whichever of the three types it has; undefined when it is none. */
export function numberOf(value: CelValue): number | bigint | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  return value instanceof Double || value instanceof Uint ? value.value : undefined
}

/** Whether a value is a double; doubles are compared with ints and uints as doubles, whatever digits are lost. */
export const isDouble = (value: CelValue): boolean =>
  value instanceof Double || (typeof value === 'number' && !Number.isSafeInteger(value))

/** A double as a value. */
export const doubleValue = (value: number): CelValue => (Number.isSafeInteger(value) ? new Double(value) : value)

/** An int as a value; it must be one of 64 bits. */
export const intValue = (value: bigint): number | bigint => {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}
