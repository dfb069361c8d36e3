/** Thread: any. Pods may be selected by a field that none of them has. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const podFacts: ResourceFacts = { phantomFields: ['status.podIPs'] }
