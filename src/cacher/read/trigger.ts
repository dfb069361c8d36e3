/**
 * Thread: any. The field by whose value a reader's objects can be found, when its selector requires one value of it.
 */
import type { RecordSelectors } from './record-selectors.js'

/** A field and the one value of it that a reader can see. */
export interface Trigger {
  readonly field: string
  readonly value: string
}

/** Not used as a trigger: the range of keys narrows a reader to its namespace already. */
const NAMESPACE = 'metadata.namespace'

export function triggerOf(
  { field }: Pick<RecordSelectors, 'field'>,
  indexedFields: readonly string[],
): Trigger | undefined {
  if (field.empty()) return undefined
  for (const name of indexedFields) {
    const value = name === NAMESPACE ? undefined : field.requiresExactMatch(name)
    if (value !== undefined) return { field: name, value }
  }
  return undefined
}
