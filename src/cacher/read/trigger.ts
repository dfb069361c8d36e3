/** Thread: any. The field by whose value a reader's objects can be found, when its selector requires one value of it. */
import { PHANTOM_LABELS } from '../../api/field-labels.js'
import type { RecordSelectors } from './record-selectors.js'

/** A field and the one value of it that a reader can see. */
export interface Trigger {
  readonly field: string
  readonly value: string
}

/** Every object has its own: an index by it serves those who watch one name in all namespaces. And what no object has. */
const USELESS: ReadonlySet<string> = new Set(['metadata.namespace', ...PHANTOM_LABELS])

export function triggerOf(
  { field }: Pick<RecordSelectors, 'field'>,
  selectableFields: readonly string[],
): Trigger | undefined {
  if (field.empty()) return undefined
  for (const name of selectableFields) {
    const value = USELESS.has(name) ? undefined : field.requiresExactMatch(name)
    if (value !== undefined) return { field: name, value }
  }
  return undefined
}
