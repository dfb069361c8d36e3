/** Thread: any. The fields that an applied configuration claims: its leaves, its keys and its items. */

import {
  entryOf,
  type FieldSet,
  hasChildren,
  isMember,
  LEAF,
  ordered,
  SELF,
} from '../../../api/managed-fields/field-set.js'
import { fieldElement } from '../../../api/managed-fields/path-element.js'
import type { Json, JsonObject } from '../../../api/object.js'
import type { ListSchema, TypeSchema } from '../../../api/schema.js'
import { isObject } from '../patch/json-tree.js'
import { planOf } from './type-plan.js'
import { ANY, indexItems, isDeclared, itemsOf, membersOf, memberType, shapeOf } from './typed-walk.js'

type Draft = { [element: string]: FieldSet }

export function fieldsOf(type: TypeSchema, object: JsonObject): FieldSet {
  return fieldsBelow(type, object) ?? LEAF
}

/** What is below a value; LEAF for a leaf; undefined for an empty list, map or null. */
function fieldsBelow(type: TypeSchema, value: Json): FieldSet | undefined {
  const shape = shapeOf(type, value)
  if (shape === 'leaf') return LEAF
  const out: Draft = {}
  if (shape === 'members') {
    const members = membersOf(value) ?? {}
    for (const name of Object.keys(members)) {
      const member = members[name]
      if (member === undefined) continue
      const entry = memberEntry(type, name, member)
      if (entry !== undefined) out[fieldElement(name)] = entry
    }
  } else {
    const list = type as ListSchema
    for (const [element, item] of indexItems(list, itemsOf(value) ?? []))
      out[element] = (Array.isArray(item) ? undefined : entryOf(true, fieldsBelow(list.items, item))) ?? LEAF
  }
  return hasChildren(out) ? ordered(out) : undefined
}

/** A field on the way to others is not claimed itself, unless it is empty, null, or a key of a map. */
function memberEntry(type: TypeSchema, name: string, member: Json): FieldSet | undefined {
  const children = fieldsBelow(memberType(type, name), member)
  if (children === LEAF) return LEAF
  const empty = member === null || (isObject(member) && Object.keys(member).length === 0)
  return entryOf(empty || !isDeclared(type, name), children)
}

/** The set with every declared field on the way to others in it too. */
export function withNamedFields(set: FieldSet, type: TypeSchema): FieldSet {
  const out: Draft = {}
  for (const element in set) {
    const entry = set[element]!
    if (element === SELF || !hasChildren(entry)) {
      out[element] = entry
      continue
    }
    const name = element.startsWith('f:') ? element.slice(2) : undefined
    const children = withNamedFields(entry, name === undefined ? itemType(type) : memberType(type, name))
    const member = isMember(entry) || (name !== undefined && isDeclared(type, name))
    out[element] = entryOf(member, children) ?? LEAF
  }
  return out
}

const itemType = (type: TypeSchema): TypeSchema => (type.kind === 'list' ? type.items : ANY)

/**
 * The set as the type has it now: fields below what has become atomic are replaced by the atomic field. The same set when
 * nothing had to change.
 */
export function reconciled(set: FieldSet, type: TypeSchema): FieldSet {
  let out: Draft | undefined
  for (const element in set) {
    const entry = set[element]!
    if (element === SELF || !hasChildren(entry)) continue
    const child = typeAt(type, element)
    const now = isAtomic(child) ? LEAF : reconciled(entry, child)
    if (now === entry) continue
    out ??= { ...set }
    out[element] = now
  }
  return out ?? set
}

function typeAt(type: TypeSchema, element: string): TypeSchema {
  if (type.kind === 'struct') return planOf(type).byElement.get(element)?.type ?? ANY
  if (type.kind === 'map') return type.values
  return itemType(type)
}

function isAtomic(type: TypeSchema): boolean {
  if (type.kind === 'list') return type.listType === 'atomic'
  return (type.kind === 'struct' || type.kind === 'map') && type.atomic
}
