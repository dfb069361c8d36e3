/** Thread: any. Namespaces are selected by whether they end. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const namespaceFacts: ResourceFacts = {
  indexedFields: [{ name: 'status.phase' }],
}
