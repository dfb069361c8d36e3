/** Thread: any. Filters of field sets: what a strategy resets has no owner. */
import {
  entryOf,
  type FieldSet,
  isMember,
  LEAF,
  recursiveDifference,
  SELF,
} from '../../../api/managed-fields/field-set.js'
import type { FieldFilter } from './updater.js'

/** Everything but these fields and what is below them. */
export const excludeFields =
  (excluded: FieldSet): FieldFilter =>
  (set) =>
    recursiveDifference(set, excluded)

/** Any element of a path. */
export const ANY_ELEMENT = '*'

/** Only what lies on or below one of these paths; elements as in a field set, or ANY_ELEMENT. */
export const includeFields =
  (...patterns: readonly (readonly string[])[]): FieldFilter =>
  (set) =>
    included(set, patterns) ?? LEAF

function included(set: FieldSet, patterns: readonly (readonly string[])[]): FieldSet | undefined {
  if (patterns.some((pattern) => pattern.length === 0)) return set
  const out: { [element: string]: FieldSet } = {}
  for (const element in set) {
    if (element === SELF) continue
    const entry = set[element]!
    const below = patterns
      .filter(([first]) => first === ANY_ELEMENT || first === element)
      .map((pattern) => pattern.slice(1))
    if (below.length === 0) continue
    const kept = entryOf(isMember(entry), included(entry, below))
    if (kept !== undefined) out[element] = kept
  }
  return out
}
