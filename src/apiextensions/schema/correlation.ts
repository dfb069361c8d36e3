/**
 * Thread: any. Which old value belongs to a new one, and whether the two are the same: what did not change is not held against
 * a schema that became stricter. As in Kubernetes, values belong together by field, by key of a map, and by the keys of a list of
 * type `map`; items of other lists do not. Fields that the schema does not know make an object a changed one.
 */
import { isDeepStrictEqual } from 'node:util'
import { isJsonObject, type Json, type JsonObject } from '../../api/object.js'
import { isSet } from './json-schema.js'
import { NOTHING, type SchemaNode } from './schema-node.js'

/** The schema by which values of a field belong together; undefined when they do not. */
function fieldNode(node: SchemaNode, field: string): SchemaNode | undefined {
  const child = node.properties.get(field) ?? node.additional
  return child === NOTHING ? undefined : child
}

/** The old value of a field; undefined when there is none that belongs to it. */
export function oldField(node: SchemaNode, field: string, old: Json): Json | undefined {
  if (!isJsonObject(old) || !Object.hasOwn(old, field)) return undefined
  return fieldNode(node, field) === undefined ? undefined : old[field]
}

/** The old items of a list by the keys of new ones; undefined for lists whose items do not belong together. */
export function oldItems(node: SchemaNode, old: Json): ItemsByKey | undefined {
  if (!Array.isArray(old) || node.schema['x-kubernetes-list-type'] !== 'map') return undefined
  return new ItemsByKey(node.schema['x-kubernetes-list-map-keys'] ?? [], old)
}

export class ItemsByKey {
  readonly #keys: readonly string[]
  readonly #items = new Map<string, JsonObject>()

  constructor(keys: readonly string[], items: readonly Json[]) {
    this.#keys = keys
    for (const item of items) {
      const key = this.#keyOf(item)
      if (key !== undefined && !this.#items.has(key)) this.#items.set(key, item as JsonObject)
    }
  }

  get(item: Json): JsonObject | undefined {
    const key = this.#keyOf(item)
    return key === undefined ? undefined : this.#items.get(key)
  }

  /** Undefined for an item that lacks a key, or has one that is no scalar. */
  #keyOf(item: Json): string | undefined {
    if (!isJsonObject(item)) return undefined
    let text = ''
    for (const name of this.#keys) {
      const value = Object.hasOwn(item, name) ? item[name] : undefined
      if (!isSet(value) || typeof value === 'object') return undefined
      text += `${typeof value}:${value}\0`
    }
    return text
  }
}

/** Whether nothing changed from an old value to the new one that belongs to it. */
export function isUnchanged(node: SchemaNode, value: Json, old: Json): boolean {
  if (Array.isArray(value)) return Array.isArray(old) && isUnchangedList(node, value, old)
  if (isJsonObject(value)) return isJsonObject(old) && isUnchangedObject(node, value, old)
  return value === old
}

function isUnchangedList(node: SchemaNode, list: readonly Json[], old: readonly Json[]): boolean {
  if (list.length !== old.length) return false
  const items = oldItems(node, old as Json[])
  if (items === undefined || node.items === undefined) return isDeepStrictEqual(list, old)
  for (const item of list) {
    const before = items.get(item)
    if (before === undefined || !isUnchanged(node.items, item, before)) return false
  }
  return true
}

function isUnchangedObject(node: SchemaNode, object: JsonObject, old: JsonObject): boolean {
  if (Object.keys(object).length !== Object.keys(old).length) return false
  for (const field in object) {
    const child = fieldNode(node, field)
    if (child === undefined || !Object.hasOwn(old, field)) return false
    if (!isUnchanged(child, object[field] ?? null, old[field] ?? null)) return false
  }
  return true
}
