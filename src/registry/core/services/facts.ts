/** Thread: any. Services share a prefix with endpoints. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const serviceFacts: ResourceFacts = { storage: { prefix: 'services/specs' } }
