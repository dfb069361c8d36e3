/** Thread: any. FieldsV1 as clients send it, read into a field set: every element in its one spelling, entries in order. */
import { isJsonObject, type Json } from '../object.js'
import { type FieldSet, LEAF, ordered, SELF } from './field-set.js'
import { canonicalElement } from './path-element.js'

/** Elements of kinds that nobody knows are dropped; malformed ones throw a SyntaxError. */
export function decodeFieldsV1(fields: Json | undefined): FieldSet {
  if (fields === undefined || fields === null) return LEAF
  return decodeEntry(fields)
}

function decodeEntry(fields: Json): FieldSet {
  if (!isJsonObject(fields)) throw new SyntaxError('an entry of fieldsV1 is an object')
  const out: { [element: string]: FieldSet } = {}
  for (const key of Object.keys(fields)) {
    const element = key === SELF ? SELF : canonicalElement(key)
    if (element === undefined) continue
    out[element] = element === SELF ? LEAF : decodeEntry(fields[key] ?? {})
  }
  // "." alone says what {} says.
  for (const element in out) if (element !== SELF) return ordered(out)
  return LEAF
}
