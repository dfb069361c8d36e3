/**
 * Thread: any. JSON that is read by its declared type. What is *plain* (strings, bools, whole numbers, lists and maps of them)
 * is its own value; all else is converted when it is read: dates, durations, bytes, doubles, escaped names.
 */
import { wordyDuration } from '../../formats/durations.js'
import type { Json, JsonObject } from '../../object.js'
import { isJsonObject } from '../../object.js'
import { fieldNamed } from '../names.js'
import type { CelType, ListType, MapType, ObjectType } from '../types.js'
import { typeName } from '../types.js'
import { Bytes } from './bytes.js'
import { type CelList, listItems, listSize } from './lists.js'
import { mapGet } from './maps.js'
import { parseDate, parseTimestamp } from './time-formats.js'
import { Duration } from './times.js'
import { CelError, type CelValue, doubleValue, ListValue, MapValue, type Meter, Wrapped } from './value.js'

export type Reader = (json: Json) => CelValue

/** What is a value already stays what it is: lists and loops hold both. */
const wrongType = (json: Json, type: CelType): CelValue =>
  (json as CelValue) instanceof Wrapped
    ? json
    : json === null
      ? new CelError('invalid data, got null for schema with nullable=false')
      : new CelError(`expected ${typeName(type)}, got ${Array.isArray(json) ? 'list' : typeof json}`)

/** JSON of this type needs no conversion at any depth. */
function isPlain(type: CelType, seen: ReadonlySet<CelType> = new Set()): boolean {
  switch (type.kind) {
    case 'string':
    case 'bool':
    case 'dyn':
    case 'any':
    case 'int':
      return true
    case 'list':
      return type.listType !== 'set' && type.listType !== 'map' && isPlain(type.element, seen)
    case 'map':
      return isPlain(type.value, seen)
    case 'object': {
      if (seen.has(type)) return true
      const inner = new Set([...seen, type])
      return [...type.fields].every(([name, field]) => field.property === name && isPlain(field.type, inner))
    }
    default:
      return false
  }
}

const readers = new WeakMap<CelType, Reader>()

/** How JSON of a type is read. */
export function readerOf(type: CelType): Reader {
  const known = readers.get(type)
  if (known !== undefined) return known
  const read = makeReader(type)
  const reader: Reader = type.nullable === true ? (json) => (json === null ? null : read(json)) : read
  readers.set(type, reader)
  return reader
}

function makeReader(type: CelType): Reader {
  switch (type.kind) {
    case 'string':
      return (json) => (typeof json === 'string' ? json : wrongType(json, type))
    case 'bool':
      return (json) => (typeof json === 'boolean' ? json : wrongType(json, type))
    case 'int':
      return (json) =>
        typeof json === 'bigint' || Number.isSafeInteger(json) ? (json as number) : wrongType(json, type)
    case 'double':
      return (json) =>
        typeof json === 'number' || typeof json === 'bigint' ? doubleValue(Number(json)) : wrongType(json, type)
    case 'bytes':
      return (json) => (typeof json === 'string' ? new Bytes(Buffer.from(json, 'base64')) : wrongType(json, type))
    case 'timestamp': {
      const parse = type.format === 'date' ? parseDate : parseTimestamp
      return (json) =>
        typeof json === 'string'
          ? (parse(json) ?? new CelError(`failed to parse date-time ${json}`))
          : wrongType(json, type)
    }
    case 'duration':
      return (json) => (typeof json === 'string' ? durationValue(json) : wrongType(json, type))
    case 'list': {
      const plain = isPlain(type)
      return (json) => (Array.isArray(json) ? (plain ? json : new TypedList(json, type)) : wrongType(json, type))
    }
    case 'map': {
      const plain = isPlain(type)
      return (json) => (isJsonObject(json) ? (plain ? json : new TypedMap(json, type)) : wrongType(json, type))
    }
    case 'object':
      return (json) =>
        json instanceof Wrapped ? json : isJsonObject(json) ? new TypedObject(json, type) : wrongType(json, type)
    default:
      return (json) => json
  }
}

function durationValue(text: string): CelValue {
  const nanos = wordyDuration(text)
  return nanos === undefined ? new CelError(`Invalid duration ${text}`) : new Duration(nanos)
}

export class TypedList extends ListValue {
  readonly json: readonly Json[]
  readonly type: ListType
  override readonly keyOf: ((item: CelValue) => string) | undefined
  #items: readonly CelValue[] | undefined

  constructor(json: readonly Json[], type: ListType) {
    super()
    this.json = json
    this.type = type
    this.keyOf = listKey(type)
  }

  get size(): number {
    return this.json.length
  }

  at(index: number): CelValue {
    return this.#items === undefined ? readerOf(this.type.element)(this.json[index]!) : this.#items[index]!
  }

  get items(): readonly CelValue[] {
    this.#items ??= this.json.map(readerOf(this.type.element))
    return this.#items
  }
}

/** Texts begin with a quote, which nothing else does. */
function keyText(value: CelValue | undefined): string {
  if (typeof value === 'string') return `"${value}`
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? String(one) : one)) ?? ''
}

function listKey({ listType, keys = [], element }: ListType): ((item: CelValue) => string) | undefined {
  if (listType === 'set') return keyText
  if (listType !== 'map') return undefined
  const fields = element.kind === 'object' ? [...element.fields] : []
  const names = keys.map((key) => fields.find(([, { property }]) => property === key)?.[0] ?? key)
  return (item) =>
    names.map((name) => keyText(item instanceof TypedObject ? item.get(name) : mapGet(item as JsonObject, name))).join()
}

/** `+` of lists that are sets or maps: what is in the second replaces what has its key in the first. Undefined for others. */
export function concatenate(a: CelList, b: CelList, meter: Meter): CelList | undefined {
  if (!(a instanceof ListValue) || a.keyOf === undefined) return undefined
  meter.spend(a.size + listSize(b))
  const { keyOf } = a
  const merged = new Map(listItems(a).map((item) => [keyOf(item), item]))
  for (const item of listItems(b)) merged.set(keyOf(item), item)
  return new UnitedList([...merged.values()], a.type, keyOf)
}

/** What `+` made of lists that are sets or maps, which is one again. */
class UnitedList extends ListValue {
  readonly items: readonly CelValue[]
  readonly type: CelType
  override readonly keyOf: (item: CelValue) => string

  constructor(items: readonly CelValue[], type: CelType, keyOf: (item: CelValue) => string) {
    super()
    this.items = items
    this.type = type
    this.keyOf = keyOf
  }

  get size(): number {
    return this.items.length
  }

  at(index: number): CelValue {
    return this.items[index]!
  }
}

class TypedMap extends MapValue {
  readonly #json: JsonObject
  readonly type: MapType

  constructor(json: JsonObject, type: MapType) {
    super()
    this.#json = json
    this.type = type
  }

  get size(): number {
    return Object.keys(this.#json).length
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.#json, key)) return undefined
    const found = this.#json[key]
    return found === undefined ? undefined : readerOf(this.type.value)(found)
  }

  get keys(): readonly CelValue[] {
    return Object.keys(this.#json)
  }
}

/** An object of a declared type; keys are escaped names. Null is absence, also where it may stand. */
export class TypedObject extends MapValue {
  readonly json: JsonObject
  readonly type: ObjectType

  constructor(json: JsonObject, type: ObjectType) {
    super()
    this.json = json
    this.type = type
  }

  /** Of everything that the JSON has, whether it is declared or not, as Kubernetes counts. */
  get size(): number {
    return Object.keys(this.json).length
  }

  get(key: CelValue): CelValue | undefined {
    const field = typeof key === 'string' ? fieldNamed(this.type.fields, key) : undefined
    if (field === undefined || !Object.hasOwn(this.json, field.property)) return undefined
    const found = this.json[field.property]
    return found === undefined || found === null ? undefined : readerOf(field.type)(found)
  }

  get keys(): readonly CelValue[] {
    return [...this.type.fields.keys()].filter((name) => this.get(name) !== undefined)
  }

  /** Fields that expressions cannot see, since their type is not declared. */
  get unknownProperties(): readonly string[] {
    const declared = propertiesOf(this.type)
    return Object.keys(this.json).filter((key) => !declared.has(key))
  }
}

const declaredProperties = new WeakMap<ObjectType, ReadonlySet<string>>()

function propertiesOf(type: ObjectType): ReadonlySet<string> {
  const known = declaredProperties.get(type) ?? new Set([...type.fields.values()].map(({ property }) => property))
  declaredProperties.set(type, known)
  return known
}

/** A value whose fields are made when they are read: `variables` of policies. */
export class LazyObject extends MapValue {
  readonly type: ObjectType
  readonly #read: (field: string) => CelValue | undefined

  constructor(type: ObjectType, read: (field: string) => CelValue | undefined) {
    super()
    this.type = type
    this.#read = read
  }

  get size(): number {
    return this.type.fields.size
  }

  get(key: CelValue): CelValue | undefined {
    return typeof key === 'string' ? this.#read(key) : undefined
  }

  get keys(): readonly CelValue[] {
    return [...this.type.fields.keys()]
  }
}
