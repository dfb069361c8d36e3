/** Thread: any. FieldsV1: field sets as they stand in managedFields, in Kubernetes' order. */
import type { Json, JsonObject } from '../../api/object.js'
import { isObject } from '../patch/json-tree.js'
import { type FieldSet, LEAF, SELF } from './field-set.js'
import { canonicalElement, compareElements } from './path-element.js'

/** Reads a set that a client sent. Elements of kinds that nobody knows are dropped; malformed ones throw. */
export function decodeFieldsV1(fields: Json | undefined): FieldSet {
  if (fields === undefined || fields === null) return LEAF
  return decodeEntry(fields)
}

function decodeEntry(fields: Json): FieldSet {
  if (!isObject(fields)) throw new SyntaxError('an entry of fieldsV1 is an object')
  const out: { [element: string]: FieldSet } = {}
  for (const key of Object.keys(fields)) {
    const element = key === SELF ? SELF : canonicalElement(key)
    if (element === undefined) continue
    out[element] = element === SELF ? LEAF : decodeEntry(fields[key] ?? {})
  }
  // "." alone says what {} says.
  for (const element in out) if (element !== SELF) return out
  return LEAF
}

/** The set with its entries in order; itself when they are already. */
export function encodeFieldsV1(set: FieldSet): FieldSet {
  let sorted = true
  let changed = false
  let previous: string | undefined
  const elements: string[] = []
  const entries: FieldSet[] = []
  for (const element in set) {
    if (sorted && previous !== undefined && compareElements(previous, element) > 0) sorted = false
    previous = element
    const entry = set[element]!
    const encoded = entry === LEAF ? entry : encodeFieldsV1(entry)
    if (encoded !== entry) changed = true
    elements.push(element)
    entries.push(encoded)
  }
  if (sorted && !changed) return set
  const out: { [element: string]: FieldSet } = {}
  if (sorted) {
    for (let i = 0; i < elements.length; i++) out[elements[i]!] = entries[i]!
    return out
  }
  const order = elements.map((_, i) => i).sort((a, b) => compareElements(elements[a]!, elements[b]!))
  for (const i of order) out[elements[i]!] = entries[i]!
  return out
}

/** A stored set, taken as it is: it was written in the one spelling. */
export const storedFieldsV1 = (fields: JsonObject | undefined): FieldSet => (fields ?? LEAF) as FieldSet
