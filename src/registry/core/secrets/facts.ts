/** Thread: any. Secrets are selected by what they are for. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const secretFacts: ResourceFacts = {
  indexedFields: [{ name: 'type' }],
}
