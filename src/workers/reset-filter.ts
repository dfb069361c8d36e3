/** Thread: pool. Takes from a set of fields those that an endpoint cannot write: nobody owns through it what it resets. */
import { namedFields, recursiveDifference } from './apply/field-set.js'
import type { FieldFilter } from './apply/updater.js'

/** By version, as FieldManager wants it. */
export function resetFilters(
  apiVersion: string,
  paths: readonly (readonly string[])[],
): ReadonlyMap<string, FieldFilter> {
  const reset = namedFields(...paths.map((path) => path.join('.')))
  return new Map([[apiVersion, (set) => recursiveDifference(set, reset)]])
}
