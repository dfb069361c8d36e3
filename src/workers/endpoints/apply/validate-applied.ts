/** Thread: any. Whether an applied configuration fits its type: known fields, the right kinds, no key twice. */

import { elementText, fieldElement } from '../../../api/managed-fields/path-element.js'
import type { Json, JsonObject } from '../../../api/object.js'
import type { ListSchema, ScalarKind, StructSchema, TypeSchema } from '../../../api/schema.js'
import { isObject } from '../patch/json-tree.js'
import { TypedError, type TypedProblem } from './typed-error.js'
import { itemElement, memberType } from './typed-walk.js'

/** What is wrong, gathered on the way. */
class Problems {
  readonly found: TypedProblem[] = []
  /** Whether items of one name may occur more than once. */
  readonly repeats: boolean

  constructor(repeats: boolean) {
    this.repeats = repeats
  }

  push(problem: TypedProblem): void {
    this.found.push(problem)
  }
}

/** Throws a TypedError that names everything that is wrong. */
export function validateApplied(type: StructSchema, config: JsonObject): void {
  check(type, config, new Problems(false))
}

/** The same for an object that is stored or to be stored: it may have an item of a list more than once. */
export function validateTyped(type: StructSchema, object: JsonObject): void {
  check(type, object, new Problems(true))
}

function check(type: StructSchema, object: JsonObject, problems: Problems): void {
  validate(type, object, '', problems)
  if (problems.found.length > 0) throw new TypedError(problems.found)
}

function validate(type: TypeSchema, value: Json, path: string, problems: Problems): void {
  if (value === null || type.kind === 'any') return
  if (type.kind === 'struct' || type.kind === 'map') validateMembers(type, value, path, problems)
  else if (type.kind === 'list') validateItems(type, value, path, problems)
  else {
    const message = scalarProblem(type.kind, value)
    if (message !== undefined) problems.push({ path, message })
  }
}

function validateMembers(type: TypeSchema, value: Json, path: string, problems: Problems): void {
  if (!isObject(value)) {
    problems.push({ path, message: `expected map, got ${describe(value)}` })
    return
  }
  for (const name of Object.keys(value)) {
    const member = value[name]
    const at = path + elementText(fieldElement(name))
    if (member === undefined) continue
    if (type.kind === 'struct' && !type.fields.has(name) && !type.preserveUnknown) {
      problems.push({ path: at, message: 'field not declared in schema' })
      return
    }
    validate(memberType(type, name), member, at, problems)
  }
}

function validateItems(list: ListSchema, value: Json, path: string, problems: Problems): void {
  if (!Array.isArray(value)) {
    problems.push({ path, message: `expected list, got ${describe(value)}` })
    return
  }
  const seen = new Set<string>()
  for (const [i, item] of value.entries()) {
    const element = list.listType === 'atomic' ? `i:${i}` : nameItem(list, item, i, path, problems)
    if (element === undefined) return
    if (seen.has(element) && !problems.repeats)
      problems.push({ path, message: `duplicate entries for key ${elementText(element)}` })
    seen.add(element)
    validate(list.items, item, path + elementText(element), problems)
  }
}

function nameItem(list: ListSchema, item: Json, i: number, path: string, problems: Problems): string | undefined {
  try {
    return itemElement(list, item)
  } catch (error) {
    if (!(error instanceof TypedError)) throw error
    problems.push({ path, message: `element ${i}: ${error.message}` })
    return undefined
  }
}

function scalarProblem(kind: ScalarKind, value: Json): string | undefined {
  switch (kind) {
    case 'int32':
    case 'int64':
    case 'double':
      if (typeof value === 'number' || typeof value === 'bigint') return undefined
      return `expected numeric (int or float), got ${describe(value)}`
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${describe(value)}`
    case 'quantity':
    case 'int-or-string':
      return typeof value === 'object' ? `expected any scalar, got ${describe(value)}` : undefined
    default:
      return typeof value === 'string' ? undefined : `expected string, got ${describe(value)}`
  }
}

function describe(value: Json): string {
  if (Array.isArray(value)) return 'a list'
  if (isObject(value)) return 'a map'
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
