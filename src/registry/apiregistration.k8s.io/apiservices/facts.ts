/** Thread: any. API services were kept by a server of their own, whose group is in their prefix. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const apiServiceFacts: ResourceFacts = {
  storage: { prefix: 'apiregistration.k8s.io/apiservices', mediaType: 'application/json' },
}
