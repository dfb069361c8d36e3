/** Thread: any. Replica sets once had a second name, in the group they come from. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const replicaSetFacts: ResourceFacts = {
  indexedFields: [{ name: 'status.replicas', default: '0' }],
  storage: {
    cohabitating: [
      { group: 'apps', resource: 'replicasets' },
      { group: 'extensions', resource: 'replicasets' },
    ],
  },
}
