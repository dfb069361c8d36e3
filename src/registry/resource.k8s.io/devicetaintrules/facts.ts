/** Thread: any. Device taint rules are not in the preferred version of their group. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const deviceTaintRuleFacts: ResourceFacts = { storage: { version: 'v1alpha3' } }
