/** Thread: any. Which resources have rules of their own. What is not here is served with none. */

import type { GroupResource } from '../api/group-version.js'
import { lookupTable } from '../lib/lookup-table.js'
import {
  mutatingAdmissionPolicyRules,
  validatingAdmissionPolicyRules,
} from './admissionregistration.k8s.io/admissionpolicies/strategy.js'
import {
  mutatingAdmissionPolicyBindingRules,
  validatingAdmissionPolicyBindingRules,
} from './admissionregistration.k8s.io/policybindings/strategy.js'
import {
  mutatingWebhookConfigurationRules,
  validatingWebhookConfigurationRules,
} from './admissionregistration.k8s.io/webhookconfigurations/strategy.js'
import { customResourceDefinitionRules } from './apiextensions.k8s.io/customresourcedefinitions/strategy.js'
import { apiServiceRules } from './apiregistration.k8s.io/apiservices/strategy.js'
import { controllerRevisionRules } from './apps/controllerrevisions/strategy.js'
import { daemonSetRules } from './apps/daemonsets/strategy.js'
import { deploymentRules } from './apps/deployments/strategy.js'
import { replicaSetRules } from './apps/replicasets/strategy.js'
import { statefulSetRules } from './apps/statefulsets/strategy.js'
import { horizontalPodAutoscalerRules } from './autoscaling/horizontalpodautoscalers/strategy.js'
import { cronJobRules } from './batch/cronjobs/strategy.js'
import { jobRules } from './batch/jobs/strategy.js'
import { certificateSigningRequestRules } from './certificates.k8s.io/certificatesigningrequests/strategy.js'
import { leaseRules } from './coordination.k8s.io/leases/strategy.js'
import { configMapRules } from './core/configmaps/strategy.js'
import { endpointsRules } from './core/endpoints/strategy.js'
import { limitRangeRules } from './core/limitranges/strategy.js'
import { namespaceRules } from './core/namespaces/strategy.js'
import { nodeRules } from './core/nodes/strategy.js'
import { persistentVolumeClaimRules } from './core/persistentvolumeclaims/strategy.js'
import { persistentVolumeRules } from './core/persistentvolumes/strategy.js'
import { podRules } from './core/pods/strategy.js'
import { podTemplateRules } from './core/podtemplates/strategy.js'
import { replicationControllerRules } from './core/replicationcontrollers/strategy.js'
import { resourceQuotaRules } from './core/resourcequotas/strategy.js'
import { secretRules } from './core/secrets/strategy.js'
import { serviceAccountRules } from './core/serviceaccounts/strategy.js'
import { serviceRules } from './core/services/strategy.js'
import { endpointSliceRules } from './discovery.k8s.io/endpointslices/strategy.js'
import { coreEventRules, eventsEventRules } from './events.k8s.io/events/strategy.js'
import { flowSchemaRules } from './flowcontrol.apiserver.k8s.io/flowschemas/strategy.js'
import { priorityLevelConfigurationRules } from './flowcontrol.apiserver.k8s.io/prioritylevelconfigurations/strategy.js'
import type { ResourceRules } from './generic/resource-rules.js'
import { ingressClassRules } from './networking.k8s.io/ingressclasses/strategy.js'
import { ingressRules } from './networking.k8s.io/ingresses/strategy.js'
import { ipAddressRules } from './networking.k8s.io/ipaddresses/strategy.js'
import { networkPolicyRules } from './networking.k8s.io/networkpolicies/strategy.js'
import { serviceCidrRules } from './networking.k8s.io/servicecidrs/strategy.js'
import { runtimeClassRules } from './node.k8s.io/runtimeclasses/strategy.js'
import { podDisruptionBudgetRules } from './policy/poddisruptionbudgets/strategy.js'
import { clusterRoleBindingRules, roleBindingRules } from './rbac.authorization.k8s.io/rolebindings/strategy.js'
import { clusterRoleRules, roleRules } from './rbac.authorization.k8s.io/roles/strategy.js'
import { deviceClassRules } from './resource.k8s.io/deviceclasses/strategy.js'
import { resourceClaimRules, resourceClaimTemplateRules } from './resource.k8s.io/resourceclaims/strategy.js'
import { resourceSliceRules } from './resource.k8s.io/resourceslices/strategy.js'
import { priorityClassRules } from './scheduling.k8s.io/priorityclasses/strategy.js'
import { csiDriverRules } from './storage.k8s.io/csidrivers/strategy.js'
import { csiNodeRules } from './storage.k8s.io/csinodes/strategy.js'
import { csiStorageCapacityRules } from './storage.k8s.io/csistoragecapacities/strategy.js'
import { storageClassRules } from './storage.k8s.io/storageclasses/strategy.js'
import { volumeAttachmentRules } from './storage.k8s.io/volumeattachments/strategy.js'
import { volumeAttributesClassRules } from './storage.k8s.io/volumeattributesclasses/strategy.js'

const NO_RULES: ResourceRules = {}

/** By resource and group, as in flags: `deployments.apps`. */
const RULES: Readonly<Record<string, ResourceRules>> = lookupTable({
  'apiservices.apiregistration.k8s.io': apiServiceRules,
  'clusterrolebindings.rbac.authorization.k8s.io': clusterRoleBindingRules,
  'clusterroles.rbac.authorization.k8s.io': clusterRoleRules,
  configmaps: configMapRules,
  'controllerrevisions.apps': controllerRevisionRules,
  'cronjobs.batch': cronJobRules,
  'customresourcedefinitions.apiextensions.k8s.io': customResourceDefinitionRules,
  'daemonsets.apps': daemonSetRules,
  'deployments.apps': deploymentRules,
  'ingressclasses.networking.k8s.io': ingressClassRules,
  'ingresses.networking.k8s.io': ingressRules,
  'ipaddresses.networking.k8s.io': ipAddressRules,
  'jobs.batch': jobRules,
  namespaces: namespaceRules,
  'networkpolicies.networking.k8s.io': networkPolicyRules,
  pods: podRules,
  podtemplates: podTemplateRules,
  'replicasets.apps': replicaSetRules,
  replicationcontrollers: replicationControllerRules,
  'rolebindings.rbac.authorization.k8s.io': roleBindingRules,
  'roles.rbac.authorization.k8s.io': roleRules,
  serviceaccounts: serviceAccountRules,
  limitranges: limitRangeRules,
  resourcequotas: resourceQuotaRules,
  endpoints: endpointsRules,
  nodes: nodeRules,
  persistentvolumes: persistentVolumeRules,
  persistentvolumeclaims: persistentVolumeClaimRules,
  'poddisruptionbudgets.policy': podDisruptionBudgetRules,
  'storageclasses.storage.k8s.io': storageClassRules,
  'csidrivers.storage.k8s.io': csiDriverRules,
  'csinodes.storage.k8s.io': csiNodeRules,
  'csistoragecapacities.storage.k8s.io': csiStorageCapacityRules,
  'volumeattachments.storage.k8s.io': volumeAttachmentRules,
  'volumeattributesclasses.storage.k8s.io': volumeAttributesClassRules,
  'leases.coordination.k8s.io': leaseRules,
  'endpointslices.discovery.k8s.io': endpointSliceRules,
  'runtimeclasses.node.k8s.io': runtimeClassRules,
  'priorityclasses.scheduling.k8s.io': priorityClassRules,
  'horizontalpodautoscalers.autoscaling': horizontalPodAutoscalerRules,
  events: coreEventRules,
  'events.events.k8s.io': eventsEventRules,
  'certificatesigningrequests.certificates.k8s.io': certificateSigningRequestRules,
  'flowschemas.flowcontrol.apiserver.k8s.io': flowSchemaRules,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': priorityLevelConfigurationRules,
  'mutatingadmissionpolicies.admissionregistration.k8s.io': mutatingAdmissionPolicyRules,
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': mutatingAdmissionPolicyBindingRules,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': mutatingWebhookConfigurationRules,
  'validatingadmissionpolicies.admissionregistration.k8s.io': validatingAdmissionPolicyRules,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': validatingAdmissionPolicyBindingRules,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': validatingWebhookConfigurationRules,
  'deviceclasses.resource.k8s.io': deviceClassRules,
  'resourceclaims.resource.k8s.io': resourceClaimRules,
  'resourceclaimtemplates.resource.k8s.io': resourceClaimTemplateRules,
  'resourceslices.resource.k8s.io': resourceSliceRules,
  secrets: secretRules,
  'statefulsets.apps': statefulSetRules,
  'servicecidrs.networking.k8s.io': serviceCidrRules,
  services: serviceRules,
})

export function rulesOf({ group, resource }: GroupResource): ResourceRules {
  return RULES[group === '' ? resource : `${resource}.${group}`] ?? NO_RULES
}
