/** Thread: any. The names that a field selector may use of a resource: not always those that are kept with its objects. */
import { lookupTable } from '../lib/lookup-table.js'

interface Selectable {
  readonly group: string
  readonly resource: string
  readonly definitionHash?: string | undefined
}

/** Kept under both names of a field, of which each group knows its own. */
const EVENT_LABELS: Readonly<Record<string, RegExp>> = lookupTable({
  '': /^(regarding\.|reportingController$)/,
  'events.k8s.io': /^(involvedObject\.|reportingComponent$|source$)/,
})

/** May be named, and no object has it. */
export const PHANTOM_LABELS: ReadonlySet<string> = new Set(['status.podIPs'])

export function fieldLabels({ group, resource, definitionHash }: Selectable, fields: readonly string[]): string[] {
  const hidden = resource === 'events' ? EVENT_LABELS[group] : undefined
  // Volumes and claims keep a field `name`, which cannot be asked for.
  const labels = fields.filter((field) => hidden?.test(field) !== true && field !== 'name')
  if (group === '' && resource === 'pods') return [...labels, ...PHANTOM_LABELS]
  // A resource with no fields of its own goes by the general rule, which knows nothing of scopes.
  if (labels.join() === 'metadata.name' && definitionHash === undefined) return [...labels, 'metadata.namespace']
  return labels
}
