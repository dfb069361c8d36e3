/** Thread: any. Network policies once had a second name, in the group they come from. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const networkPolicyFacts: ResourceFacts = {
  storage: {
    cohabitating: [
      { group: 'networking.k8s.io', resource: 'networkpolicies' },
      { group: 'extensions', resource: 'networkpolicies' },
    ],
  },
}
