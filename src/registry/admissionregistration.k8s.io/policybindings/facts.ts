/**
 * Thread: any. Every write is checked against the policies that are bound. Bindings of mutating policies are stored in a version
 * that a server one release older can read.
 */
import type { ResourceFacts } from '../../generic/resource-facts.js'

export const validatingAdmissionPolicyBindingFacts: ResourceFacts = {
  alwaysCached: true,
  inForceWhenAcknowledged: true,
}
export const mutatingAdmissionPolicyBindingFacts: ResourceFacts = {
  alwaysCached: true,
  inForceWhenAcknowledged: true,
  storage: { version: 'v1beta1' },
}
