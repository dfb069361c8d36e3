/** Thread: any. Services share a prefix with endpoints, and are proxied. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const serviceFacts: ResourceFacts = {
  indexedFields: [{ name: 'spec.clusterIP' }, { name: 'spec.type' }],
  storage: { prefix: 'services/specs' },
  connects: { proxy: { subpath: true } },
}
