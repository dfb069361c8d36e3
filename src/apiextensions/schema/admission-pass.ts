/**
 * Thread: any. The one pass over a custom object that comes in: fields that the schema does not know are taken out, nulls that
 * may not be there too, metadata of embedded objects is made to fit its type, and defaults are put in.
 *
 * Kubernetes takes four walks for it (prune, drop nulls, coerce, default); a value needs to be met only once, because each
 * step looks at nothing but the value, its schema, and what the step before left of it.
 */

import { DecodedSizeError, MAX_DECODED_VALUES } from '../../api/decoded-size.js'
import { countMembers, type JsonPath, pathText } from '../../api/json/decode.js'
import { DecodeError } from '../../api/json/decode-error.js'
import { setMember } from '../../api/json/reader.js'
import { isJsonObject, type Json, type JsonObject } from '../../api/object.js'
import type { StructSchema } from '../../api/schema.js'
import type { ObjectOrigin } from './interface.js'
import { coerceMetadata, salvageMetadata } from './object-metadata.js'
import { NOTHING, type SchemaNode } from './schema-node.js'

export interface PassOptions {
  readonly origin: ObjectOrigin
  /** False for a definition that preserves unknown fields as a whole. */
  readonly prunes: boolean
  readonly metadataType: StructSchema
}

/** What every object has, whatever its schema says. */
const TYPE_FIELDS: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata'])

export class AdmissionPass {
  readonly #options: PassOptions
  readonly #defaults: boolean
  readonly #filler = new DefaultsFiller()
  readonly #path: (string | number)[] = []
  readonly #unknown: string[] = []
  readonly #unknownInMetadata: string[] = []
  #unknownInRoot: readonly string[] = []
  readonly #counts: boolean
  /** Of requests only: whoever reads what is stored does not ask. */
  members = 0
  #changed = false

  constructor(options: PassOptions) {
    this.#options = options
    this.#defaults = options.origin !== 'converted'
    this.#counts = options.origin === 'request'
  }

  /** Whether the object prints otherwise than before. */
  get changed(): boolean {
    return this.#changed || this.#filler.filled > 0
  }

  /** `unknown field "a.b"`, as Kubernetes orders them; of requests only. */
  get strictErrors(): string[] {
    if (this.#options.origin !== 'request') return []
    const sorted = (paths: string[]): string[] => paths.sort().map((path) => `unknown field "${path}"`)
    return [...this.#unknownInRoot, ...sorted(this.#unknown), ...this.#unknownInMetadata.sort()]
  }

  root(object: JsonObject, node: SchemaNode): void {
    const { metadata } = object
    const found = metadata === undefined ? undefined : this.#metadata(metadata)
    this.#unknownInRoot = found?.strictErrors ?? []
    this.#object(object, node, true, node.preserves)
    // What the schema says of metadata takes nothing out of it.
    if (found === undefined) return
    if (this.#options.origin === 'stored' && (found.metadata['generation'] ?? null) === null) {
      found.metadata['generation'] = 1
      this.#changed = true
    }
    const property = node.properties.get('metadata')
    if (property !== undefined && this.#defaults) this.#filler.fill(found.metadata, property)
    object['metadata'] = found.metadata
  }

  #object(object: JsonObject, node: SchemaNode, isRoot: boolean, keeps: boolean): void {
    const { properties } = node
    for (const key in object) {
      this.members++
      const value = object[key] as Json
      // Printed and read again it would not be there, and a default might.
      if (value === undefined) this.#changed = true
      const isTypeField = (isRoot || node.embedded) && TYPE_FIELDS.has(key)
      if (isRoot && isTypeField) {
        this.#count(value)
        continue
      }
      const child = properties.get(key) ?? node.additional
      if (value === null && child !== undefined && !child.nullable) {
        // A null for the kind of an embedded object is refused, even where a default could stand for it.
        const isReadFirst = isTypeField && child.defaultValue !== undefined
        if (!isReadFirst && this.#replaceNull(object, key, child)) continue
      }
      if (isTypeField) this.#typeField(object, key, value)
      else if (child === undefined) this.#unknownField(object, key, value, keeps)
      else if (typeof value === 'object' && value !== null) this.#nested(key, value, child)
      if (isTypeField && child !== undefined) this.#defaultsWithin(object[key], child)
    }
    if (this.#defaults) this.#filler.fillMissing(object, node)
  }

  #nested(key: string | number, value: Json[] | JsonObject, node: SchemaNode): void {
    this.#path.push(key)
    this.#container(value, node, node.preserves)
    this.#path.pop()
  }

  #container(value: Json[] | JsonObject, node: SchemaNode, keeps: boolean): void {
    if (Array.isArray(value)) this.#list(value, node, keeps)
    else this.#object(value, node, false, keeps)
  }

  /** Unknown fields that a list keeps its items keep too, whatever the schema of the items says. */
  #list(list: Json[], node: SchemaNode, keeps: boolean): void {
    const items = node.items ?? (keeps || !this.#options.prunes ? undefined : NOTHING)
    if (items === undefined) {
      for (const item of list) this.#count(item)
      return
    }
    for (let i = 0; i < list.length; i++) {
      const item = list[i]!
      if (item === null) {
        if (this.#defaults && !items.nullable && items.defaultValue !== undefined) {
          list[i] = this.#filler.defaultOf(items) ?? null
          this.#changed = true
        }
      } else if (typeof item === 'object') {
        this.#path.push(i)
        this.#container(item, items, keeps || items.preserves)
        this.#path.pop()
      }
    }
  }

  /** A null that may not be there: its default stands for it, or nothing. False when it stays. */
  #replaceNull(object: JsonObject, key: string, node: SchemaNode): boolean {
    if (node.defaultValue !== undefined) {
      if (!this.#defaults) return false
      setMember(object, key, this.#filler.defaultOf(node) ?? null)
    } else if (this.#options.prunes) delete object[key]
    else return false
    this.#changed = true
    return true
  }

  #unknownField(object: JsonObject, key: string, value: Json, keeps: boolean): void {
    this.#count(value)
    if (keeps || !this.#options.prunes) return
    if (this.#options.origin === 'request') this.#unknown.push(pathText([...this.#path, key]))
    delete object[key]
    this.#changed = true
  }

  /** apiVersion, kind or metadata of an embedded object. */
  #typeField(object: JsonObject, key: string, value: Json): void {
    this.#count(value)
    if (key === 'metadata') {
      const found = this.#metadata(value)
      if (found === undefined) return
      this.#unknownInMetadata.push(...found.strictErrors)
      object[key] = found.metadata
    } else if (typeof value !== 'string') {
      if (this.#options.origin !== 'stored')
        throw new DecodeError(`${pathText([...this.#path, key])}: must be a string`, '')
      delete object[key]
      this.#changed = true
    }
  }

  #metadata(value: Json): ReturnType<typeof salvageMetadata> {
    const { origin, metadataType } = this.#options
    const at: JsonPath = [...this.#path, 'metadata']
    const found =
      origin === 'stored' ? salvageMetadata(value, metadataType, at) : coerceMetadata(value, metadataType, at)
    if (found?.changed === true) this.#changed = true
    return found
  }

  #count(value: Json): void {
    if (this.#counts) this.members += countMembers(value)
  }

  #defaultsWithin(value: Json | undefined, node: SchemaNode): void {
    if (this.#defaults && typeof value === 'object' && value !== null) this.#filler.fill(value, node)
  }
}

/** Puts defaults where nothing stands. A schema can ask for more of them than an object may hold: they are counted. */
export class DefaultsFiller {
  #left = MAX_DECODED_VALUES
  /** How many defaults were put in. */
  filled = 0

  /** A copy of the node's default, with the defaults within it. */
  defaultOf(node: SchemaNode): Json | undefined {
    if (node.defaultValue === undefined) return undefined
    const copy = this.#copy(node.defaultValue)
    if (typeof copy === 'object' && copy !== null) this.fill(copy, node)
    return copy
  }

  fill(value: Json[] | JsonObject, node: SchemaNode): void {
    if (Array.isArray(value)) this.#fillList(value, node)
    else this.#fillObject(value, node)
  }

  /** The defaults of properties that are not there; those that are there are left alone. */
  fillMissing(object: JsonObject, node: SchemaNode): void {
    const { defaulted } = node
    for (let i = 0; i < defaulted.length; i++) {
      const { name, node: property } = defaulted[i]!
      if (Object.hasOwn(object, name)) continue
      setMember(object, name, this.defaultOf(property) ?? null)
      this.filled++
    }
  }

  #fillObject(object: JsonObject, node: SchemaNode): void {
    const { properties } = node
    for (const key in object) {
      const child = properties.get(key) ?? node.additional
      if (child === undefined) continue
      const value = object[key]
      if (value === null && !child.nullable) {
        if (child.defaultValue === undefined) continue
        setMember(object, key, this.defaultOf(child) ?? null)
        this.filled++
      } else if (typeof value === 'object' && value !== null) this.fill(value, child)
    }
    this.fillMissing(object, node)
  }

  #fillList(list: Json[], node: SchemaNode): void {
    const { items } = node
    if (items === undefined) return
    for (let i = 0; i < list.length; i++) {
      const item = list[i]!
      if (item === null && !items.nullable) {
        list[i] = this.defaultOf(items) ?? null
        this.filled++
      } else if (typeof item === 'object' && item !== null) this.fill(item, items)
    }
  }

  #copy(value: Json): Json {
    if (--this.#left < 0) throw new DecodedSizeError()
    if (Array.isArray(value)) return value.map((item) => this.#copy(item))
    if (!isJsonObject(value)) return value
    const copy: JsonObject = {}
    for (const key in value) setMember(copy, key, this.#copy(value[key] ?? null))
    return copy
  }
}

/** Whether a value has fields that would be taken out of it. */
export function hasUnknownFields(value: Json, node: SchemaNode, keeps = node.preserves): boolean {
  if (Array.isArray(value)) {
    const items = node.items ?? (keeps ? undefined : NOTHING)
    return items !== undefined && value.some((item) => hasUnknownFields(item, items, keeps || items.preserves))
  }
  if (!isJsonObject(value)) return false
  return Object.entries(value).some(([field, one]) => {
    if (node.embedded && TYPE_FIELDS.has(field)) return false
    const child = node.properties.get(field) ?? node.additional
    return child === undefined ? !keeps : hasUnknownFields(one ?? null, child)
  })
}
