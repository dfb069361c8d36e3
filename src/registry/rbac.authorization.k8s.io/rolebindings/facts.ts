/** Thread: any. Requests are authorized by bindings of roles. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const roleBindingFacts: ResourceFacts = { alwaysCached: true }
