/** Thread: pool. Takes from a set of fields those that an endpoint cannot write: nobody owns through it what it resets. */
import { namedFields, recursiveDifference } from './apply/field-set.js'
import type { FieldFilter } from './apply/updater.js'

/** By version, as FieldManager wants it. */
export function resetFilters(
  apiVersions: readonly string[],
  paths: readonly (readonly string[])[],
): ReadonlyMap<string, FieldFilter> {
  const reset = namedFields(...paths.map((path) => path.join('.')))
  const filter: FieldFilter = (set) => recursiveDifference(set, reset)
  return new Map(apiVersions.map((apiVersion) => [apiVersion, filter]))
}
