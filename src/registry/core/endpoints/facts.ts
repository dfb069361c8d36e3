/** Thread: any. Endpoints share the prefix of services, and are on their way out. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const endpointsFacts: ResourceFacts = {
  storage: { prefix: 'services/endpoints' },
  deprecation: { v1: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice' },
}
