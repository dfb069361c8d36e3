/** Thread: any. Nodes have kept the name from before 1.0 in storage, and are proxied. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const nodeFacts: ResourceFacts = {
  indexedFields: [{ name: 'spec.unschedulable', default: 'false' }],
  storage: { prefix: 'minions' },
  connects: { proxy: { subpath: true } },
}
