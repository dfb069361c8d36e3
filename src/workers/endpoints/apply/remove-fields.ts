/** Thread: any. An object without the fields of a set. What is emptied by it becomes null, which is not the same as absent. */

import { type FieldSet, hasChildren, isEmpty, isMember } from '../../../api/managed-fields/field-set.js'
import { fieldElement } from '../../../api/managed-fields/path-element.js'
import type { Json, JsonObject } from '../../../api/object.js'
import type { ListSchema, TypeSchema } from '../../../api/schema.js'
import { isObject, setMember } from '../patch/json-tree.js'
import { itemElement, memberType } from './typed-walk.js'

export function removeFields(type: TypeSchema, object: JsonObject, gone: FieldSet): JsonObject {
  if (isEmpty(gone)) return object
  return (removeFrom(type, object, gone) ?? {}) as JsonObject
}

function removeFrom(type: TypeSchema, value: Json, gone: FieldSet): Json {
  switch (type.kind) {
    case 'struct':
    case 'map':
      return isObject(value) && !type.atomic ? removeMembers(type, value, gone) : null
    case 'list':
      return Array.isArray(value) && type.listType !== 'atomic' ? removeItems(type, value, gone) : null
    case 'any':
      if (isObject(value)) return removeMembers(type, value, gone)
      return Array.isArray(value) ? null : value
    default:
      return value
  }
}

function removeMembers(type: TypeSchema, members: JsonObject, gone: FieldSet): Json {
  const out: JsonObject = {}
  let left = 0
  for (const name of Object.keys(members)) {
    const value = members[name]
    const entry = gone[fieldElement(name)]
    if (value === undefined || (entry !== undefined && isMember(entry))) continue
    setMember(out, name, entry === undefined ? value : removeFrom(memberType(type, name), value, entry))
    left++
  }
  return left === 0 ? null : out
}

function removeItems(list: ListSchema, items: readonly Json[], gone: FieldSet): Json {
  const out: Json[] = []
  for (const item of items) {
    const entry = gone[itemElement(list, item)]
    if (entry !== undefined && isMember(entry)) continue
    out.push(entry !== undefined && hasChildren(entry) ? removeFrom(list.items, item, entry) : item)
  }
  return out.length === 0 ? null : out
}
