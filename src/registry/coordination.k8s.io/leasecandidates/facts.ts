/** Thread: any. Lease candidates are not in the preferred version of their group. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const leaseCandidateFacts: ResourceFacts = { storage: { version: 'v1beta1' } }
