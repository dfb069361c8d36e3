/**
 * Thread: any. A JSON tree made to fit its type, in place: what the schema does not know is taken out and reported, every
 * value brought into its canonical form, what Go would not print left out and what it would print put in. The result is
 * what the encoder prints and reads back the same.
 */
import type { Json, JsonObject, KubeObject } from '../object.js'
import type { StructSchema } from '../schema.js'
import { DecodeError } from './decode-error.js'
import { duplicateKeys, type ParsedJson, parseJson } from './parse.js'
import { setMember } from './reader.js'
import { decodeScalar, MISMATCH } from './scalar.js'
import { type FieldPlan, fill, planOf, type StructPlan, type TypePlan, zeroValue } from './type-plan.js'

export interface Decoded {
  readonly object: KubeObject
  /** `unknown field "spec.foo"`, `duplicate field "data.k"`: errors when strict, warnings when not. */
  readonly strictErrors: readonly string[]
  /** Lists and maps that were written empty and are not printed. Go tells them from absent ones until they are stored. */
  readonly emptied: readonly JsonPath[]
  /** Of custom objects: whole numbers that were written as 4.0. */
  readonly wholeFloats?: ParsedJson['wholeFloats']
}

export interface DecodedTree extends Decoded {
  /** Whether the tree prints otherwise than before, but for what is put into the object itself. */
  readonly changed: boolean
}

export type JsonPath = readonly (string | number)[]

/** Decodes the JSON of an object. Throws JsonSyntaxError or DecodeError. */
export function decodeJson(bytes: Uint8Array, schema: StructSchema): Decoded {
  const parsed = parseJson(bytes)
  const decoder = new Decoder(parsed.wholeFloats)
  const object = decoder.decode(parsed.value, schema)
  const duplicates = decoder.members === parsed.memberCount ? [] : typedDuplicates(duplicateKeys(bytes), schema)
  const strictErrors = duplicates.length === 0 ? decoder.unknown : [...duplicates, ...decoder.unknown]
  return { object, strictErrors, emptied: decoder.emptied }
}

/** Decodes a tree that came from elsewhere: YAML, a patch, the object that it stands in at a path. The tree is used up. */
export function decodeTree(
  value: Json,
  schema: StructSchema,
  wholeFloats?: ParsedJson['wholeFloats'],
  at: JsonPath = [],
): DecodedTree {
  const decoder = new Decoder(wholeFloats, at)
  const object = decoder.decode(value, schema)
  return { object, strictErrors: decoder.unknown, emptied: decoder.emptied, changed: decoder.changed }
}

/** Keys in raw JSON and in unknown fields may come twice: nobody looks at them. */
function typedDuplicates(paths: readonly (string | number)[][], schema: StructSchema): string[] {
  const root: TypePlan = { op: 'struct', struct: planOf(schema), goType: '' }
  return paths.filter((path) => isTyped(path, root)).map((path) => `duplicate field ${JSON.stringify(pathText(path))}`)
}

function isTyped(path: readonly (string | number)[], root: TypePlan): boolean {
  let at: TypePlan | undefined = root
  for (const part of path) {
    if (at?.op === 'struct') at = at.struct.fields.get(String(part))?.type
    else if (at?.op === 'map') at = at.values
    else if (at?.op === 'list') at = at.items
    else return false
  }
  return at !== undefined
}

/** spec.containers[0].image */
export function pathText(path: readonly (string | number)[]): string {
  let text = ''
  for (const part of path) text += typeof part === 'number' ? `[${part}]` : text === '' ? part : `.${part}`
  return text
}

class Decoder {
  readonly unknown: string[] = []
  readonly emptied: JsonPath[] = []
  /** Members of objects seen, to be compared with those in the text. */
  members = 0
  changed = false
  readonly #wholeFloats: ParsedJson['wholeFloats']
  readonly #path: (string | number)[]
  /** The structs on the way down and the fields taken in them, for messages. */
  readonly #structs: StructPlan[] = []
  readonly #fields: string[] = []

  constructor(wholeFloats: ParsedJson['wholeFloats'], at: JsonPath = []) {
    this.#wholeFloats = wholeFloats
    this.#path = [...at]
  }

  decode(value: Json, schema: StructSchema): KubeObject {
    const plan = planOf(schema)
    // Go leaves a struct alone that it is to fill from null.
    if (value === null) return this.#struct({}, plan) as KubeObject
    if (!isObject(value))
      throw new DecodeError(`json: cannot unmarshal ${jsonKind(value)} into Go value of type ${plan.goName}`, '')
    return this.#struct(value, plan) as KubeObject
  }

  #struct(object: JsonObject, plan: StructPlan): JsonObject {
    let dropped: Set<string> | undefined
    this.#structs.push(plan)
    for (const key in object) {
      this.members++
      const value = object[key]
      const field = plan.fields.get(key)
      if (field === undefined) {
        this.members += countMembers(value)
        if (plan.preserveUnknown) continue
        this.#path.push(key)
        this.unknown.push(`unknown field ${JSON.stringify(pathText(this.#path))}`)
        this.#path.pop()
      } else {
        const decoded = this.#field(object, key, value, field)
        if (decoded !== undefined) {
          if (decoded !== value) {
            object[key] = decoded
            this.changed = true
          }
          continue
        }
      }
      if (value !== undefined) this.changed = true
      dropped ??= new Set()
      dropped.add(key)
    }
    this.#structs.pop()
    const result = dropped === undefined ? object : without(object, dropped)
    if (fill(result, plan) && this.#structs.length > 0) this.changed = true
    return result
  }

  /** The canonical value of a field; undefined when it is not printed. */
  #field(container: JsonObject, key: string, value: Json | undefined, field: FieldPlan): Json | undefined {
    if (value === null || value === undefined) return undefined
    this.#fields.push(key)
    const { type } = field
    let decoded: Json | undefined
    if (type.op === 'scalar') decoded = this.#scalar(container, key, value, type)
    else {
      this.#path.push(key)
      decoded = this.#value(value, type, container, key)
      this.#path.pop()
    }
    this.#fields.pop()
    if (!field.dropsZero || !isZero(decoded)) return decoded
    if (type.op === 'list' || type.op === 'map') this.emptied.push([...this.#path, key])
    return undefined
  }

  #value(value: Json, type: TypePlan, container: object, key: string): Json | undefined {
    switch (type.op) {
      case 'struct':
        if (!isObject(value)) this.#mismatch(value, type)
        return this.#struct(value, type.struct)
      case 'list':
        return this.#list(value, type)
      case 'map':
        return this.#map(value, type)
      case 'scalar':
        return this.#scalar(container, key, value, type)
    }
  }

  #list(value: Json, type: Extract<TypePlan, { op: 'list' }>): Json[] {
    if (!Array.isArray(value)) this.#mismatch(value, type)
    const { items } = type
    for (let i = 0; i < value.length; i++) {
      this.#path.push(i)
      const item = value[i]!
      const decoded = item === null ? undefined : this.#value(item, items, value, String(i))
      this.#path.pop()
      if (decoded === item) continue
      value[i] = decoded === undefined ? zeroValue(items) : decoded
      this.changed = true
    }
    return value
  }

  #map(value: Json, type: Extract<TypePlan, { op: 'map' }>): JsonObject {
    if (!isObject(value)) this.#mismatch(value, type)
    const { values } = type
    for (const key in value) {
      this.members++
      this.#path.push(key)
      const item = value[key]
      const decoded = item === null || item === undefined ? undefined : this.#value(item, values, value, key)
      this.#path.pop()
      if (decoded === item && decoded !== undefined) continue
      setMember(value, key, decoded === undefined ? zeroValue(values) : decoded)
      this.changed = true
    }
    return value
  }

  #scalar(container: object, key: string, value: Json, type: Extract<TypePlan, { op: 'scalar' }>): Json | undefined {
    const { kind } = type
    // The most frequent ones without a call.
    if (kind === 'string') {
      if (typeof value !== 'string') this.#mismatch(value, type)
      return value
    }
    if (kind === 'any') {
      if (type.objects !== undefined) return this.#objects(value, type.objects, key)
      this.members += countMembers(value)
      return value
    }
    const wholeFloat = typeof value === 'number' && (this.#wholeFloats?.get(container)?.has(key) ?? false)
    try {
      const decoded = decodeScalar(kind, value, wholeFloat)
      if (decoded === MISMATCH) this.#mismatch(value, type)
      return decoded
    } catch (error) {
      if (error instanceof DecodeError || !(error instanceof Error)) throw error
      throw new DecodeError(error.message, this.#fields.join('.'))
    }
  }

  /** Objects of a type, alone or in a list, among values that have none. */
  #objects(value: Json, plan: StructPlan, key: string): Json {
    this.#path.push(key)
    const decoded = Array.isArray(value)
      ? value.map((item) => (isObject(item) ? this.#struct(item, plan) : item))
      : isObject(value)
        ? this.#struct(value, plan)
        : value
    this.#path.pop()
    return decoded
  }

  #mismatch(value: Json, type: TypePlan): never {
    const field = this.#fields.join('.')
    const what = typeof value === 'number' || typeof value === 'bigint' ? numberText(value, type) : jsonKind(value)
    const owner = this.#structs.at(-1)?.goName ?? ''
    throw new DecodeError(
      `json: cannot unmarshal ${what} into Go struct field ${owner}.${field} of type ${type.goType}`,
      field,
    )
  }
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** How Go's messages call a kind of JSON value. */
function jsonKind(value: Json): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'boolean') return 'bool'
  return typeof value === 'bigint' ? 'number' : typeof value
}

/** A number that has the right kind and the wrong value is quoted. */
const numberText = (value: number | bigint, type: TypePlan): string =>
  type.op === 'scalar' && /^(int|float)/.test(type.goType) ? `number ${value}` : 'number'

function isZero(value: Json | undefined): boolean {
  if (value === undefined || value === '' || value === 0 || value === false) return true
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.length === 0
  for (const _key in value) return false
  return true
}

function without(object: JsonObject, dropped: ReadonlySet<string>): JsonObject {
  const kept: JsonObject = {}
  for (const key in object) if (!dropped.has(key)) setMember(kept, key, object[key]!)
  return kept
}

/** Members of all objects within a value. */
export function countMembers(value: Json | undefined): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) for (const item of value) count += countMembers(item)
  else for (const key in value) count += 1 + countMembers(value[key])
  return count
}
