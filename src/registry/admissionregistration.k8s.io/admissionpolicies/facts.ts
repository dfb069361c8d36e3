/**
 * Thread: any. Every write is checked against the policies. Mutating ones are stored in a version that a server one release
 * older can read.
 */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const validatingAdmissionPolicyFacts: ResourceFacts = { alwaysCached: true, inForceWhenAcknowledged: true }
export const mutatingAdmissionPolicyFacts: ResourceFacts = {
  alwaysCached: true,
  inForceWhenAcknowledged: true,
  storage: { version: 'v1beta1' },
}
