/** Thread: any. Replication controllers have kept their prefix from before 1.0, and once had a second name. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const replicationControllerFacts: ResourceFacts = {
  indexedFields: [{ name: 'status.replicas', default: '0' }],
  storage: {
    prefix: 'controllers',
    cohabitating: [
      { group: '', resource: 'replicationcontrollers' },
      { group: 'extensions', resource: 'replicationcontrollers' },
    ],
  },
}
