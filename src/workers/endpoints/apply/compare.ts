/**
 * Thread: any. Which fields one object has added, changed or removed against another. Atomic maps and lists are one field;
 * null and empty count as nothing below, but differ from each other and from absent.
 */

import { type FieldSet, LEAF, ordered, SELF } from '../../../api/managed-fields/field-set.js'
import { compareElements, compareText, fieldElement } from '../../../api/managed-fields/path-element.js'
import type { Json, JsonObject } from '../../../api/object.js'
import type { ListSchema, StructSchema, TypeSchema } from '../../../api/schema.js'
import { jsonEqual } from '../patch/json-tree.js'
import { type PlannedField, planOf } from './type-plan.js'
import { indexItems, itemElement, itemsOf, membersOf, memberType, shapeOf } from './typed-walk.js'

export interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

type Draft = { [element: string]: FieldSet }

/** What has changed at one place and below it; absent means nothing. */
interface Change {
  added?: FieldSet
  modified?: FieldSet
  removed?: FieldSet
}

export function compare(type: TypeSchema, before: JsonObject, after: JsonObject): Comparison {
  const { added = LEAF, modified = LEAF, removed = LEAF } = changeOf(type, before, after) ?? {}
  return { added, modified, removed }
}

function changeOf(type: TypeSchema, before: Json | undefined, after: Json | undefined): Change | undefined {
  if (before === after) return undefined
  if (before === undefined) return { added: presence(type, after!) }
  if (after === undefined) return { removed: presence(type, before) }
  const was = shapeOf(type, before)
  const is = shapeOf(type, after)
  if (was !== is) return changeOfShape(type, before, was, after, is)
  if (was === 'members') return memberChanges(type, before, after)
  if (was === 'items') return itemChanges(type as ListSchema, before, after)
  return jsonEqual(before, after) ? undefined : { modified: LEAF }
}

/** The change where a type says "any": an object became a scalar or a list, or the other way round. */
function changeOfShape(type: TypeSchema, before: Json, was: string, after: Json, is: string): Change {
  const change: Change = { modified: LEAF }
  const removed = was === 'members' ? below(presence(type, before)) : undefined
  const added = is === 'members' ? below(presence(type, after)) : undefined
  if (removed !== undefined) change.removed = removed
  if (added !== undefined) change.added = added
  return change
}

function below(entry: FieldSet): FieldSet | undefined {
  const { [SELF]: self, ...children } = entry
  return self === undefined ? undefined : children
}

function memberChanges(type: TypeSchema, before: Json, after: Json): Change | undefined {
  const was = membersOf(before)
  const is = membersOf(after)
  if (isVoid(was) && isVoid(is)) return jsonEqual(before, after) ? undefined : { modified: LEAF }
  const change = new ChangeBuilder()
  for (const name in was) {
    const value = was[name]
    if (value === undefined) continue
    const now = is === undefined ? undefined : own(is, name)
    if (value !== now) change.add(fieldElement(name), changeOf(memberType(type, name), value, now))
  }
  for (const name in is) {
    const value = is[name]
    if (value === undefined || (was !== undefined && own(was, name) !== undefined)) continue
    change.added(fieldElement(name), presence(memberType(type, name), value))
  }
  return change.result()
}

function own(object: JsonObject, name: string): Json | undefined {
  const value = object[name]
  // What every object inherits are functions and its prototype: JSON has no function, so only those are asked about.
  if (typeof value !== 'object' && typeof value !== 'function') return value
  return Object.hasOwn(object, name) ? value : undefined
}

function itemChanges(list: ListSchema, before: Json, after: Json): Change | undefined {
  const was = itemsOf(before)
  const is = itemsOf(after)
  // Most lists have not changed, and telling that is cheaper than naming their items.
  if (jsonEqual(before, after)) return undefined
  if (!was?.length && !is?.length) return { modified: LEAF }
  const change = new ChangeBuilder()
  const old = indexItems(list, was ?? [])
  const now = indexItems(list, is ?? [])
  for (const [element, item] of old) compareItem(change, list, element, item, now.get(element))
  for (const [element, item] of now) if (!old.has(element)) compareItem(change, list, element, undefined, item)
  return change.result()
}

/** An item that occurs more than once is owned as a whole, whatever is in it. */
function compareItem(
  change: ChangeBuilder,
  list: ListSchema,
  element: string,
  was: Json | undefined,
  is: Json | undefined,
): void {
  const repeatedBefore = Array.isArray(was)
  const repeatedAfter = Array.isArray(is)
  if (!repeatedBefore && !repeatedAfter) change.add(element, changeOf(list.items, was, is))
  else if (repeatedBefore && repeatedAfter) {
    if (!jsonEqual(was, is)) change.add(element, { modified: LEAF })
  } else if (repeatedBefore) {
    if (is !== undefined) change.add(element, { added: presence(list.items, is) })
    change.add(element, { removed: LEAF })
  } else {
    if (was !== undefined) change.add(element, { removed: presence(list.items, was) })
    change.add(element, { added: LEAF })
  }
}

/** Every field of a value, those on the way included: what is added with it, or removed with it. */
export function presence(type: TypeSchema, value: Json): FieldSet {
  const shape = shapeOf(type, value)
  if (shape === 'members') {
    const members = membersOf(value)
    return isVoid(members) ? LEAF : memberPresence(type, members!)
  }
  const items = shape === 'items' ? itemsOf(value) : undefined
  return items === undefined || items.length === 0 ? LEAF : itemPresence(type as ListSchema, items)
}

function memberPresence(type: TypeSchema, members: JsonObject): FieldSet {
  return (type.kind === 'struct' ? structPresence(type, members) : undefined) ?? keyPresence(type, members)
}

/** The entries in their final order from the start: sorting by rank here is cheaper than by text later. */
function structPresence(type: StructSchema, members: JsonObject): FieldSet | undefined {
  const { byName } = planOf(type)
  const fields: PlannedField[] = []
  for (const name in members) {
    if (members[name] === undefined) continue
    const field = byName.get(name)
    if (field === undefined) return undefined
    let at = fields.length
    while (at > 0 && fields[at - 1]!.rank > field.rank) at--
    if (at === fields.length) fields.push(field)
    else fields.splice(at, 0, field)
  }
  const out: Draft = { [SELF]: LEAF }
  for (const { name, element, type: fieldType } of fields) {
    const member = members[name]!
    out[element] = typeof member === 'object' ? presence(fieldType, member) : LEAF
  }
  return out
}

function keyPresence(type: TypeSchema, members: JsonObject): FieldSet {
  const out: Draft = { [SELF]: LEAF }
  for (const name of sortedNames(members)) {
    const member = members[name]
    if (member === undefined) continue
    out[fieldElement(name)] = typeof member === 'object' ? presence(memberType(type, name), member) : LEAF
  }
  return out
}

function sortedNames(members: JsonObject): string[] {
  const names = Object.keys(members)
  for (let i = 1; i < names.length; i++) if (compareText(names[i - 1]!, names[i]!) > 0) return names.sort(compareText)
  return names
}

function itemPresence(list: ListSchema, items: readonly Json[]): FieldSet {
  const entries = items.map((item): [string, Json] => [itemElement(list, item), item])
  entries.sort(([a], [b]) => compareElements(a, b))
  const out: Draft = { [SELF]: LEAF }
  for (const [element, item] of entries) out[element] = out[element] === undefined ? presence(list.items, item) : LEAF
  return out
}

function isVoid(members: JsonObject | undefined): boolean {
  for (const name in members) if (members[name] !== undefined) return false
  return true
}

class ChangeBuilder {
  #added: Draft | undefined
  #modified: Draft | undefined
  #removed: Draft | undefined

  added(element: string, entry: FieldSet): void {
    this.#added ??= {}
    this.#added[element] = entry
  }

  add(element: string, change: Change | undefined): void {
    if (change === undefined) return
    if (change.added !== undefined) this.added(element, change.added)
    if (change.modified !== undefined) {
      this.#modified ??= {}
      this.#modified[element] = change.modified
    }
    if (change.removed !== undefined) {
      this.#removed ??= {}
      this.#removed[element] = change.removed
    }
  }

  result(): Change | undefined {
    const change: Change = {}
    if (this.#added !== undefined) change.added = ordered(this.#added)
    if (this.#modified !== undefined) change.modified = ordered(this.#modified)
    if (this.#removed !== undefined) change.removed = ordered(this.#removed)
    return (this.#added ?? this.#modified ?? this.#removed) ? change : undefined
  }
}
