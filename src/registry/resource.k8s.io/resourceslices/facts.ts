/** Thread: any. Slices of devices are selected by their node and their driver. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const resourceSliceFacts: ResourceFacts = {
  indexedFields: [{ name: 'spec.nodeName' }, { name: 'spec.driver' }],
}
