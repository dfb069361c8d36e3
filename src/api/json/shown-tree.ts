/**
 * Thread: any. A typed object as the tree that its JSON would be parsed to: without what Go leaves out, with the zero values that
 * it puts in. Whoever looks into objects as clients see them (expressions) needs no text for it.
 */
import { isJsonObject, type Json, type JsonObject, type KubeObject } from '../object.js'
import type { StructSchema } from '../schema.js'
import { setMember } from './reader.js'
import { type FieldPlan, planOf, type StructPlan, type TypePlan, zeroValue } from './type-plan.js'

/** The tree shares with the object what needs no change; neither is to be changed afterwards. */
export const shownTree = (object: KubeObject | JsonObject, schema: StructSchema): JsonObject =>
  shownStruct(object as JsonObject, planOf(schema))

function shownStruct(object: JsonObject, plan: StructPlan): JsonObject {
  const shown: JsonObject = {}
  let filled = 0
  for (const key in object) {
    const value = object[key]
    if (value === undefined) continue
    const field = plan.fields.get(key)
    if (field === undefined) {
      if (plan.sorted) setMember(shown, key, value)
      continue
    }
    if (field.absent !== 'nothing') filled++
    const piece = plan.sorted ? shownValue(value, field.type) : shownField(value, field)
    if (piece !== undefined) setMember(shown, key, piece)
  }
  if (filled < plan.filled.length)
    for (const field of plan.filled)
      if (object[field.name] === undefined) shown[field.name] = shownField(undefined, field)
  return shown
}

function shownField(value: Json | undefined, field: FieldPlan): Json | undefined {
  if (value === undefined || value === null) {
    if (field.absent === 'nothing') return undefined
    return field.absent === 'null' ? null : shownValue(zeroValue(field.type), field.type)
  }
  return field.dropsZero && isZero(value) ? undefined : shownValue(value, field.type)
}

function shownValue(value: Json, type: TypePlan): Json {
  if (typeof value !== 'object' || value === null) return value
  switch (type.op) {
    case 'struct':
      return isJsonObject(value) ? shownStruct(value, type.struct) : value
    case 'list':
      return Array.isArray(value) && type.items.op !== 'scalar'
        ? value.map((item) => shownValue(item, type.items))
        : value
    case 'map':
      return isJsonObject(value) ? shownMap(value, type.values) : value
    case 'scalar':
      return value
  }
}

function shownMap(map: JsonObject, values: TypePlan): JsonObject {
  if (values.op === 'scalar' && !hasGap(map)) return map
  const shown: JsonObject = {}
  for (const key of Object.keys(map)) {
    const value = map[key]
    if (value !== undefined) setMember(shown, key, shownValue(value ?? zeroValue(values), values))
  }
  return shown
}

const hasGap = (map: JsonObject): boolean => {
  for (const key in map) if (map[key] === undefined || map[key] === null) return true
  return false
}

function isZero(value: Json): boolean {
  if (value === '' || value === 0 || value === false || value === 0n) return true
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.length === 0
  for (const _key in value) return false
  return true
}
