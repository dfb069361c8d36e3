/**
 * Thread: pool. Which resources have REST storage of their own. What is not here does what the generic store does. A table
 * beside that of the rules, because the owner decodes objects by their rules and must not load what only requests need.
 */
import { formatGroupResource, type GroupResource } from '../api/group-version.js'
import { lookupTable } from '../lib/lookup-table.js'
import { policyREST } from './admissionregistration.k8s.io/admissionpolicies/rest.js'
import { policyBindingREST } from './admissionregistration.k8s.io/policybindings/rest.js'
import { webhookConfigurationREST } from './admissionregistration.k8s.io/webhookconfigurations/rest.js'
import { customResourceDefinitionREST } from './apiextensions.k8s.io/customresourcedefinitions/rest.js'
import { deploymentREST } from './apps/deployments/rest.js'
import { replicaSetREST } from './apps/replicasets/rest.js'
import { statefulSetREST } from './apps/statefulsets/rest.js'
import { selfSubjectReviewREST } from './authentication.k8s.io/selfsubjectreviews/rest.js'
import { tokenReviewREST } from './authentication.k8s.io/tokenreviews/rest.js'
import { selfSubjectRulesReviewREST } from './authorization.k8s.io/selfsubjectrulesreviews/rest.js'
import {
  localSubjectAccessReviewREST,
  selfSubjectAccessReviewREST,
  subjectAccessReviewREST,
} from './authorization.k8s.io/subjectaccessreviews/rest.js'
import { bindingREST } from './core/bindings/rest.js'
import { componentStatusREST } from './core/componentstatuses/rest.js'
import { namespaceREST } from './core/namespaces/rest.js'
import { nodeREST } from './core/nodes/rest.js'
import { podREST } from './core/pods/rest.js'
import { replicationControllerREST } from './core/replicationcontrollers/rest.js'
import { serviceAccountREST } from './core/serviceaccounts/rest.js'
import { serviceREST } from './core/services/rest.js'
import type { ResourceREST } from './generic/resource-rest.js'
import { roleBindingREST } from './rbac.authorization.k8s.io/rolebindings/rest.js'
import { roleREST } from './rbac.authorization.k8s.io/roles/rest.js'
import { resourceClaimREST, resourceClaimTemplateREST } from './resource.k8s.io/resourceclaims/rest.js'

const NO_REST: ResourceREST = {}

/** By resource and group, as in flags: `deployments.apps`. */
const REST: Readonly<Record<string, ResourceREST>> = lookupTable({
  bindings: bindingREST,
  'clusterrolebindings.rbac.authorization.k8s.io': roleBindingREST,
  'clusterroles.rbac.authorization.k8s.io': roleREST,
  componentstatuses: componentStatusREST,
  'customresourcedefinitions.apiextensions.k8s.io': customResourceDefinitionREST,
  'deployments.apps': deploymentREST,
  'localsubjectaccessreviews.authorization.k8s.io': localSubjectAccessReviewREST,
  'mutatingadmissionpolicies.admissionregistration.k8s.io': policyREST,
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': policyBindingREST,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': webhookConfigurationREST,
  namespaces: namespaceREST,
  nodes: nodeREST,
  pods: podREST,
  'replicasets.apps': replicaSetREST,
  replicationcontrollers: replicationControllerREST,
  'resourceclaims.resource.k8s.io': resourceClaimREST,
  'resourceclaimtemplates.resource.k8s.io': resourceClaimTemplateREST,
  'rolebindings.rbac.authorization.k8s.io': roleBindingREST,
  'roles.rbac.authorization.k8s.io': roleREST,
  'selfsubjectaccessreviews.authorization.k8s.io': selfSubjectAccessReviewREST,
  'selfsubjectreviews.authentication.k8s.io': selfSubjectReviewREST,
  'selfsubjectrulesreviews.authorization.k8s.io': selfSubjectRulesReviewREST,
  serviceaccounts: serviceAccountREST,
  services: serviceREST,
  'statefulsets.apps': statefulSetREST,
  'subjectaccessreviews.authorization.k8s.io': subjectAccessReviewREST,
  'tokenreviews.authentication.k8s.io': tokenReviewREST,
  'validatingadmissionpolicies.admissionregistration.k8s.io': policyREST,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': policyBindingREST,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': webhookConfigurationREST,
})

export function restOf({ group, resource }: GroupResource): ResourceREST {
  return REST[formatGroupResource({ group, resource })] ?? NO_REST
}
