/**
 * Thread: any. A tree as the JSON that kube-apiserver prints: fields in the order of their type, maps by key, zero values
 * left out or put in as Go decides, <, > and & escaped.
 */
import { fieldTexts } from '../managed-fields/field-texts.js'
import type { Json, JsonObject, KubeObject } from '../object.js'
import type { StructSchema } from '../schema.js'
import { escapeHtml, keys, printNumber, printRaw, printScalar, printString } from './print-raw.js'
import { type FieldPlan, planOf, type StructPlan, type TypePlan, zeroValue } from './type-plan.js'

/** The object's JSON as text, without a newline at the end. */
export function encodeText(object: KubeObject | JsonObject, schema: StructSchema): string {
  return printStruct(object as JsonObject, planOf(schema))
}

/** The object's JSON as kube-apiserver serves it, with its newline when asked for. */
export function encodeJson(
  object: KubeObject | JsonObject,
  schema: StructSchema,
  options: { newline?: boolean } = {},
): Buffer {
  const text = encodeText(object, schema)
  return Buffer.from(options.newline === true ? `${text}\n` : text)
}

/** Any tree, keys by name: how Go prints what it has no type for. */
export function encodeUntyped(value: Json): string {
  return printSorted(value)
}

/** The members of an object, and of the metadata in it, that stand before and after a place; a comma belongs between them. */
export interface CutObject {
  readonly before: string
  readonly after: string
}

/** An object as encodeUntyped prints it, cut where the metadata would have the key. A value that it has there is left out. */
export function cutUntyped(object: JsonObject, key: string): CutObject {
  const metadata = isObject(object['metadata'] ?? null) ? (object['metadata'] as JsonObject) : {}
  const members = printMembers(metadata, (name) => name < key)
  const rest = printMembers(metadata, (name) => name > key)
  const around = printMembers(object, (name) => name < 'metadata')
  const behind = printMembers(object, (name) => name > 'metadata')
  return {
    before: `{${around === '' ? '' : `${around},`}"metadata":{${members}`,
    after: `${rest}}${behind === '' ? '' : `,${behind}`}}`,
  }
}

function printStruct(object: JsonObject, plan: StructPlan): string {
  // An object of a custom resource, which Go keeps as a map: everything by key, known or not, and null where it is null.
  if (plan.sorted) return printSorted(object)
  // Objects of one type mostly come from one place: as the last one was, so is this one.
  if (plan.outOfOrder) return printAnyOrder(object, plan)
  const text = printOrdered(object, plan)
  if (text !== undefined) return text
  plan.outOfOrder = true
  return printAnyOrder(object, plan)
}

/**
 * The members as they come, when that is the order of the type and nothing has to be put in: types have many fields and
 * objects few, so asking the object for its keys is half the work of asking for every field.
 */
function printOrdered(object: JsonObject, plan: StructPlan): string | undefined {
  let text = ''
  let last = -1
  let filled = 0
  for (const key in object) {
    const field = plan.fields.get(key)
    const value = object[key]
    if (field === undefined || value === undefined) continue
    if (field.index < last) return undefined
    last = field.index
    if (field.absent !== 'nothing') filled++
    const piece = printField(value, field)
    if (piece !== undefined) text += text === '' ? field.prefix + piece : `,${field.prefix}${piece}`
  }
  return filled === plan.filled.length ? `{${text}}` : undefined
}

/** The members as they come, each printed once and put at its place; then what the type prints though it is absent. */
function printAnyOrder(object: JsonObject, plan: StructPlan): string {
  const fields: FieldPlan[] = []
  const pieces: string[] = []
  let isInOrder = true
  let filled = 0
  const put = (field: FieldPlan, piece: string): void => {
    let at = fields.length
    for (; at > 0 && fields[at - 1]!.index > field.index; at--) {
      fields[at] = fields[at - 1]!
      pieces[at] = pieces[at - 1]!
      isInOrder = false
    }
    fields[at] = field
    pieces[at] = piece
  }
  for (const key in object) {
    const field = plan.fields.get(key)
    const value = object[key]
    if (field === undefined || value === undefined) continue
    if (field.absent !== 'nothing') filled++
    const piece = printField(value, field)
    if (piece !== undefined) put(field, piece)
  }
  if (filled < plan.filled.length) {
    isInOrder = false
    for (const field of plan.filled) if (object[field.name] === undefined) put(field, printField(undefined, field)!)
  }
  plan.outOfOrder = !isInOrder
  let text = ''
  for (let i = 0; i < fields.length; i++)
    text += i === 0 ? fields[i]!.prefix + pieces[i]! : `,${fields[i]!.prefix}${pieces[i]!}`
  return `{${text}}`
}

function printField(value: Json | undefined, field: FieldPlan): string | undefined {
  if (value === undefined || value === null) {
    if (field.absent === 'nothing') return undefined
    return field.absent === 'null' ? 'null' : printValue(zeroValue(field.type), field.type)
  }
  return field.dropsZero && isZero(value) ? undefined : printValue(value, field.type)
}

function printValue(value: Json | undefined, type: TypePlan): string {
  if (value === null || value === undefined) return 'null'
  switch (type.op) {
    case 'struct':
      return isObject(value) ? printStruct(value, type.struct) : printShownRaw(value)
    case 'list': {
      if (!Array.isArray(value)) return printShownRaw(value)
      let text = ''
      for (const item of value) text += text === '' ? printValue(item, type.items) : `,${printValue(item, type.items)}`
      return `[${text}]`
    }
    case 'map':
      return isObject(value) ? printMap(value, type.values) : printShownRaw(value)
    case 'scalar':
      if (typeof value === 'string') return printString(value)
      if (typeof value !== 'object') return printNumber(value)
      if (type.objects !== undefined) return printObjects(value, type.objects)
      return type.isFieldSet === true && isObject(value) ? escapeHtml(fieldTexts.textOf(value)) : printShownRaw(value)
  }
}

/** Objects of a type, alone or in a list, among values that have none. */
function printObjects(value: Json, plan: StructPlan): string {
  if (Array.isArray(value)) return `[${value.map((item) => printObjects(item, plan)).join(',')}]`
  return isObject(value) ? printStruct(value, plan) : printShownRaw(value)
}

function printMap(map: JsonObject, values: TypePlan): string {
  let text = ''
  for (const key of sortedKeys(map)) {
    const value = map[key]
    if (value === undefined) continue
    const piece = keys.of(key) + printValue(value ?? zeroValue(values), values)
    text += text === '' ? piece : `,${piece}`
  }
  return `{${text}}`
}

/** Raw JSON within what is shown to clients. */
const printShownRaw = (value: Json): string => escapeHtml(printRaw(value))

function printSorted(value: Json): string {
  if (typeof value !== 'object' || value === null) return printScalar(value)
  if (!Array.isArray(value)) return `{${printMembers(value)}}`
  let text = ''
  for (const item of value) text += text === '' ? printSorted(item) : `,${printSorted(item)}`
  return `[${text}]`
}

/** The members of an object by key: all, or those whose keys are wanted. */
function printMembers(object: JsonObject, isWanted?: (key: string) => boolean): string {
  let text = ''
  for (const key of sortedKeys(object)) {
    const member = object[key]
    if (member === undefined || isWanted?.(key) === false) continue
    text += text === '' ? keys.of(key) + printSorted(member) : `,${keys.of(key)}${printSorted(member)}`
  }
  return text
}

function sortedKeys(object: JsonObject): string[] {
  const keys = Object.keys(object)
  for (let i = 1; i < keys.length; i++) if (keys[i]! < keys[i - 1]!) return keys.sort()
  return keys
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function isZero(value: Json): boolean {
  if (value === '' || value === 0 || value === false || value === 0n) return true
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.length === 0
  for (const _key in value) return false
  return true
}
