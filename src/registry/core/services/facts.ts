/** Thread: any. Services share a prefix with endpoints, and are proxied. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const serviceFacts: ResourceFacts = {
  storage: { prefix: 'services/specs' },
  connects: { proxy: { subpath: true } },
}
