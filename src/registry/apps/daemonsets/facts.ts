/** Thread: any. Daemon sets once had a second name, in the group they come from. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const daemonSetFacts: ResourceFacts = {
  storage: {
    cohabitating: [
      { group: 'apps', resource: 'daemonsets' },
      { group: 'extensions', resource: 'daemonsets' },
    ],
  },
}
