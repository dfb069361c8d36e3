/** Thread: any. Requests for the status of resource pools are not in the preferred version of their group. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const resourcePoolStatusRequestFacts: ResourceFacts = { storage: { version: 'v1alpha3' } }
