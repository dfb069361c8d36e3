/** Thread: any. Mutating admission policies are stored in a version that a server one release older can read. */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const mutatingAdmissionPolicyFacts: ResourceFacts = { storage: { version: 'v1beta1' } }
