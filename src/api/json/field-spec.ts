/** Thread: any. The fields of a resource that selectors may name, and where in the object they are found. */
import type { Json, JsonObject } from '../object.js'

export interface FieldSpec {
  /** As selectors name it: metadata.name, spec.nodeName, status.successful. */
  readonly name: string
  /** Where to look, the first that holds a value that is not empty; the name's own parts when not given. */
  readonly paths?: readonly (readonly string[])[]
  /** When none of them does. */
  readonly default?: string
}

/** Every kind has these; for cluster-scoped ones leave the second out. */
export const METADATA_FIELDS: readonly FieldSpec[] = [{ name: 'metadata.name' }, { name: 'metadata.namespace' }]

/** Booleans and numbers as text; objects and lists are no values. */
export function fieldText(value: Json | undefined): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint' ? String(value) : ''
}

/** name, value, name, value, … of the given fields of an object, by ascending name. */
export function fieldsOf(object: JsonObject, specs: readonly FieldSpec[]): string[] {
  const fields: string[] = []
  for (const spec of sortedSpecs(specs)) fields.push(spec.name, valueAt(object, spec))
  return fields
}

function valueAt(object: JsonObject, spec: SortedSpec): string {
  for (const path of spec.paths) {
    let at: Json | undefined = object
    for (const part of path) {
      at = at !== null && typeof at === 'object' && !Array.isArray(at) ? at[part] : undefined
      if (at === undefined) break
    }
    const text = fieldText(at)
    if (text !== '') return text
  }
  return spec.default
}

type SortedSpec = Required<FieldSpec>

/** The set of fields of a resource never changes, so it is sorted once. */
const sorted = new WeakMap<readonly FieldSpec[], readonly SortedSpec[]>()
export function sortedSpecs(specs: readonly FieldSpec[]): readonly SortedSpec[] {
  let result = sorted.get(specs)
  if (result === undefined) {
    result = specs
      .map((spec) => ({ name: spec.name, paths: spec.paths ?? [spec.name.split('.')], default: spec.default ?? '' }))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
    sorted.set(specs, result)
  }
  return result
}

/** name, value, … of labels, by ascending name. */
export function labelPairs(labels: Readonly<Record<string, unknown>> | undefined): string[] {
  if (labels === undefined || labels === null) return []
  const pairs: string[] = []
  for (const name of Object.keys(labels).sort()) pairs.push(name, fieldText(labels[name] as Json))
  return pairs
}
