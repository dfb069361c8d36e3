/** Thread: any. Persistent volume claims keep a field `name` that cannot be asked for. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const persistentVolumeClaimFacts: ResourceFacts = {
  indexedFields: [{ name: 'name', paths: [['metadata', 'name']] }],
  unselectableFields: ['name'],
}
