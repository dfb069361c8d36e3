/** Thread: any. Deployments once had a second name, in the group they come from. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const deploymentFacts: ResourceFacts = {
  storage: {
    cohabitating: [
      { group: 'apps', resource: 'deployments' },
      { group: 'extensions', resource: 'deployments' },
    ],
  },
}
