/** Thread: any. Ingresses have kept the prefix of the group they come from. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const ingressFacts: ResourceFacts = {
  storage: {
    prefix: 'ingress',
    cohabitating: [
      { group: 'networking.k8s.io', resource: 'ingresses' },
      { group: 'extensions', resource: 'ingresses' },
    ],
  },
}
