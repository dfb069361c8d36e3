/** Thread: any. How apply sees a value of a type: as one leaf, as fields and keys, or as items with names. */

import { scalarText, valueElement } from '../../../api/managed-fields/path-element.js'
import type { Json, JsonObject } from '../../../api/object.js'
import type { ListSchema, TypeSchema } from '../../../api/schema.js'
import { isObject } from '../patch/json-tree.js'
import { listPlanOf } from './type-plan.js'
import { TypedError } from './typed-error.js'

export const ANY: TypeSchema = { kind: 'any' }

export type Shape = 'leaf' | 'members' | 'items'

/** The shape of a value. Null takes the shape of its type, and members where the type is `any`. */
export function shapeOf(type: TypeSchema, value: Json): Shape {
  switch (type.kind) {
    case 'struct':
    case 'map':
      return type.atomic ? 'leaf' : 'members'
    case 'list':
      return type.listType === 'atomic' ? 'leaf' : 'items'
    case 'any':
      // What a Go type keeps as raw JSON is one value; what a custom resource leaves open is as granular as its value.
      return type.name === undefined && (value === null || isObject(value)) ? 'members' : 'leaf'
    default:
      return 'leaf'
  }
}

/** The type of a member: a field's, the values' of a map, anything where the type does not say. */
export function memberType(type: TypeSchema, name: string): TypeSchema {
  if (type.kind === 'struct') return type.fields.get(name)?.type ?? ANY
  return type.kind === 'map' ? type.values : ANY
}

export function isDeclared(type: TypeSchema, name: string): boolean {
  return type.kind === 'struct' && type.fields.has(name)
}

export const membersOf = (value: Json | undefined): JsonObject | undefined => (isObject(value) ? value : undefined)

export const itemsOf = (value: Json | undefined): Json[] | undefined => (Array.isArray(value) ? value : undefined)

/** The element that names an item of a set or of a list with keys. */
export function itemElement(list: ListSchema, item: Json): string {
  if (list.listType === 'map') return keyedItemElement(list, item)
  if (item === null) throw problem("associative list without keys has an element that's an explicit null")
  if (Array.isArray(item)) throw problem('not supported: associative list with lists as elements')
  if (typeof item === 'object') throw problem("associative list without keys has an element that's a map type")
  return valueElement(item)
}

function keyedItemElement(list: ListSchema, item: Json): string {
  if (item === null) throw problem('associative list with keys may not have a null element')
  if (!isObject(item)) throw problem('associative list with keys may not have non-map elements')
  let text = ''
  for (const { name, label, zero } of listPlanOf(list)) {
    const value = Object.hasOwn(item, name) ? item[name] : zero
    if (typeof value === 'object' && value !== null)
      throw problem('associative list with keys may not have non-scalar keys')
    if (value !== undefined) text += text === '' ? label + scalarText(value) : `,${label}${scalarText(value)}`
  }
  if (text !== '') return `k:{${text}}`
  const names = list.mapKeys.map((key) => JSON.stringify(key)).join(' ')
  throw problem(
    `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  )
}

const problem = (message: string): TypedError => new TypedError([{ path: '', message }])

/** The items of a list by their element; an element that occurs more than once leads to all of its items. */
export function indexItems(list: ListSchema, items: readonly Json[]): Map<string, Json | Json[]> {
  const index = new Map<string, Json | Json[]>()
  const repeated = new Set<string>()
  for (const item of items) {
    const element = itemElement(list, item)
    const present = index.get(element)
    if (present === undefined) index.set(element, item)
    else if (repeated.has(element)) (present as Json[]).push(item)
    else {
      repeated.add(element)
      index.set(element, [present, item])
    }
  }
  return index
}
