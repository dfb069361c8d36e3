/** Thread: any. Addresses are selected by whose they are. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const ipAddressFacts: ResourceFacts = {
  indexedFields: [{ name: 'spec.parentRef.name' }, { name: 'spec.parentRef.namespace' }],
}
