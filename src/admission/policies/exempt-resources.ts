/**
 * Thread: pool. Resources that no policy sees: policies and bindings themselves, so that none can stand in the way of its own
 * removal, and the reviews by which everybody finds out who somebody is and what they may do.
 */
import { formatGroupResource } from '../../api/group-version.js'
import type { AdmissionAttributes } from '../chain.js'

const REGISTRATION = 'admissionregistration.k8s.io'
const AUTHENTICATION = 'authentication.k8s.io'
const AUTHORIZATION = 'authorization.k8s.io'

const EXEMPT: ReadonlySet<string> = new Set([
  `validatingadmissionpolicies.${REGISTRATION}`,
  `validatingadmissionpolicybindings.${REGISTRATION}`,
  `mutatingadmissionpolicies.${REGISTRATION}`,
  `mutatingadmissionpolicybindings.${REGISTRATION}`,
  `selfsubjectreviews.${AUTHENTICATION}`,
  `tokenreviews.${AUTHENTICATION}`,
  `localsubjectaccessreviews.${AUTHORIZATION}`,
  `selfsubjectaccessreviews.${AUTHORIZATION}`,
  `selfsubjectrulesreviews.${AUTHORIZATION}`,
  `subjectaccessreviews.${AUTHORIZATION}`,
])

export const isExemptFromPolicies = ({ resource }: Pick<AdmissionAttributes, 'resource'>): boolean =>
  EXEMPT.has(formatGroupResource(resource))
