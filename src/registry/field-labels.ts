/** Thread: any. The names that a field selector may use of a resource: not always those that are kept with its objects. */
import type { GroupResource } from '../api/group-version.js'
import { factsOf } from './facts-table.js'

interface Selectable extends GroupResource {
  readonly definitionHash?: string | undefined
}

/** `fields`: those that are kept with its objects. */
export function fieldLabels(resource: Selectable, fields: readonly string[]): string[] {
  const { unselectableFields = [], phantomFields = [] } = factsOf(resource)
  const isHidden = (field: string): boolean =>
    unselectableFields.some((hidden) => (hidden.endsWith('.') ? field.startsWith(hidden) : field === hidden))
  const labels = [...fields.filter((field) => !isHidden(field)), ...phantomFields]
  // A resource with no fields of its own goes by the general rule, which knows nothing of scopes.
  if (labels.join() === 'metadata.name' && resource.definitionHash === undefined)
    return [...labels, 'metadata.namespace']
  return labels
}
