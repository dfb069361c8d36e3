/**
 * Thread: any. What a schema says of a value beyond its keywords: items of lists of type `set` and `map` are unique, and an
 * embedded object has kind, version and metadata as objects have them. Parts of a schema that say none of it are not walked.
 */
import { duplicate, type FieldError, FieldPath, invalid, required } from '../../api/field-error.js'
import { parseGroupVersion } from '../../api/group-version.js'
import { DecodeError } from '../../api/json/decode-error.js'
import { goJson } from '../../api/managed-fields/go-json.js'
import { deepCopy, isJsonObject, type Json, type JsonObject, type ObjectMeta } from '../../api/object.js'
import type { StructSchema } from '../../api/schema.js'
import { isDns1035Label, pathSegmentName } from '../../api/validation/names.js'
import { validateObjectMeta } from '../../api/validation/object-meta.js'
import { coerceMetadata } from './object-metadata.js'
import type { SchemaNode } from './schema-node.js'

/** A step on the way to a value: a field, a key of a map, an index. */
type Step = string | number | { readonly key: string }

export class StructureChecks {
  readonly #metadataType: StructSchema
  readonly embedded: FieldError[] = []
  readonly lists: FieldError[] = []
  readonly #base: FieldPath
  readonly #steps: Step[] = []

  /** `base`: where the value stands. */
  constructor(metadataType: StructSchema, base: FieldPath = FieldPath.of()) {
    this.#metadataType = metadataType
    this.#base = base
  }

  walk(node: SchemaNode, value: Json): void {
    if (typeof value !== 'object' || value === null || !node.hasStructure) return
    if (Array.isArray(value)) this.#list(node, value)
    else this.#object(node, value)
  }

  #object(node: SchemaNode, object: JsonObject): void {
    if (node.embedded) this.#embeddedObject(object, this.#path())
    const { properties, additional } = node
    for (const field in object) {
      const value = object[field]
      if (typeof value !== 'object' || value === null) continue
      const property = properties.get(field)
      if (property !== undefined) this.#step(field, property, value)
      else if (additional !== undefined) this.#step({ key: field }, additional, value)
    }
  }

  #list(node: SchemaNode, list: Json[]): void {
    const listType = node.schema['x-kubernetes-list-type']
    if (listType === 'set')
      this.#repeated(
        list,
        (item) => item,
        (item) => item,
      )
    else if (listType === 'map') this.#keyedList(node.schema['x-kubernetes-list-map-keys'] ?? [], list)
    const { items } = node
    if (items?.hasStructure !== true) return
    for (let i = 0; i < list.length; i++) this.#step(i, items, list[i]!)
  }

  #step(step: Step, node: SchemaNode, value: Json): void {
    this.#steps.push(step)
    this.walk(node, value)
    this.#steps.pop()
  }

  #path(): FieldPath {
    return this.#steps.reduce<FieldPath>((path, step) => {
      if (typeof step === 'object') return path.key(step.key)
      return typeof step === 'number' ? path.index(step) : path.child(step)
    }, this.#base)
  }

  #keyedList(keys: readonly string[], list: Json[]): void {
    const wrong = list.findIndex((item) => item !== null && !isJsonObject(item))
    if (wrong >= 0) {
      const why = 'must be an object for an array of list-type map'
      this.lists.push(invalid(this.#path().index(wrong), list[wrong], why))
      return
    }
    const [only] = keys
    const shown = (item: Json): JsonObject => keysOf(item, keys)
    if (keys.length === 1) this.#repeated(list, (item) => keyOf(item, only!), shown)
    else this.#repeated(list, shown, shown)
  }

  /** Told once for a value, however often it comes again. Scalars are told apart by what they are, everything else as JSON. */
  #repeated(list: Json[], compared: (item: Json) => Json | undefined, shown: (item: Json) => Json): void {
    if (list.length < 2) return
    const times = new Map<unknown, number>()
    for (let i = 0; i < list.length; i++) {
      const value = compared(list[i]!)
      const same = typeof value === 'object' && value !== null ? `json ${goJson(value)}` : value
      // A string could be the JSON of something else.
      const key = typeof value === 'string' ? `text ${value}` : same
      const before = times.get(key) ?? 0
      times.set(key, before + 1)
      if (before === 1) this.lists.push(duplicate(this.#path().index(i), shown(list[i]!)))
    }
  }

  #embeddedObject(object: JsonObject, path: FieldPath): void {
    const { apiVersion, kind, metadata } = object
    const at = path.child('apiVersion')
    if (apiVersion === undefined) this.embedded.push(required(at))
    else if (typeof apiVersion !== 'string') this.embedded.push(invalid(at, apiVersion, 'must be a string'))
    else if (apiVersion === '') this.embedded.push(invalid(at, apiVersion, 'must not be empty'))
    else if (parseGroupVersion(apiVersion) === undefined)
      this.embedded.push(invalid(at, apiVersion, 'must be a version, or a group and a version'))
    this.#embeddedKind(kind, path.child('kind'))
    if (metadata !== undefined) this.#embeddedMetadata(metadata, path.child('metadata'))
  }

  #embeddedKind(kind: Json | undefined, at: FieldPath): void {
    if (kind === undefined) this.embedded.push(required(at))
    else if (typeof kind !== 'string') this.embedded.push(invalid(at, kind, 'must be a string'))
    else if (kind === '') this.embedded.push(invalid(at, kind, 'must not be empty'))
    else {
      const reasons = isDns1035Label(kind.toLowerCase())
      if (reasons.length > 0)
        this.embedded.push(invalid(at, kind, `may have mixed case, but should otherwise match: ${reasons.join(',')}`))
    }
  }

  #embeddedMetadata(value: Json, at: FieldPath): void {
    const meta = this.#decodedMetadata(value, at)
    if (meta === undefined) return
    const rules = { namespaceScoped: (meta.namespace ?? '') !== '', nameRule: pathSegmentName }
    // An object within another need not have a name.
    this.embedded.push(...validateObjectMeta({ ...meta, name: meta.name || 'fakename' }, rules, at))
  }

  #decodedMetadata(value: Json, at: FieldPath): ObjectMeta | undefined {
    try {
      return coerceMetadata(deepCopy(value), this.#metadataType, []).metadata as ObjectMeta
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error
      this.embedded.push(invalid(at, value, error.message))
      return undefined
    }
  }
}

const keyOf = (item: Json, key: string): Json | undefined =>
  isJsonObject(item) && Object.hasOwn(item, key) ? item[key] : undefined

function keysOf(item: Json, keys: readonly string[]): JsonObject {
  if (!isJsonObject(item)) return {}
  return Object.fromEntries(keys.filter((key) => Object.hasOwn(item, key)).map((key) => [key, item[key]]))
}
