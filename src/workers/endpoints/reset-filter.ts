/** Thread: pool. Takes from a set of fields those that an endpoint cannot write: nobody owns through it what it resets. */
import { type FieldSet, isEmpty, namedFields, recursiveDifference, SELF } from '../../api/managed-fields/field-set.js'
import type { FieldFilter } from './apply/updater.js'

/** Keeps what is at one of these paths or below; `*` in a path is any element. */
function only(set: FieldSet, paths: readonly (readonly string[])[]): FieldSet {
  const kept: Record<string, FieldSet> = {}
  for (const element of Object.keys(set)) {
    const below = paths.filter(([head]) => head === element || head === '*').map((path) => path.slice(1))
    const entry = set[element]!
    if (element === SELF || below.length === 0) continue
    const part = below.some((path) => path.length === 0) ? entry : only(entry, below)
    if (part === entry || !isEmpty(part)) kept[element] = part
  }
  return kept
}

/** Filters that keep nothing but the fields at these paths. */
export function ownedFilters(
  apiVersions: readonly string[],
  paths: readonly (readonly string[])[],
): ReadonlyMap<string, FieldFilter> {
  const filter: FieldFilter = (set) => only(set, paths)
  return new Map(apiVersions.map((apiVersion) => [apiVersion, filter]))
}

/** The filters by version, as FieldManager takes them. */
export function resetFilters(
  apiVersions: readonly string[],
  paths: readonly (readonly string[])[],
): ReadonlyMap<string, FieldFilter> {
  const reset = namedFields(...paths.map((path) => path.join('.')))
  const filter: FieldFilter = (set) => recursiveDifference(set, reset)
  return new Map(apiVersions.map((apiVersion) => [apiVersion, filter]))
}
