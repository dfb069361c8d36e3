/** Thread: any. Requests are authorized by roles and cluster roles. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const roleFacts: ResourceFacts = { alwaysCached: true }
