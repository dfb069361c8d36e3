/** Thread: any. Which resources there are exceptions for. What is not here is served and stored like any other. */
import { formatGroupResource, type GroupResource, parseGroupResource } from '../api/group-version.js'
import { lookupTable } from '../lib/lookup-table.js'
import type { StorageException } from '../storage/factory/storage-config.js'
import {
  mutatingAdmissionPolicyFacts,
  validatingAdmissionPolicyFacts,
} from './admissionregistration.k8s.io/admissionpolicies/facts.js'
import {
  mutatingAdmissionPolicyBindingFacts,
  validatingAdmissionPolicyBindingFacts,
} from './admissionregistration.k8s.io/policybindings/facts.js'
import { webhookConfigurationFacts } from './admissionregistration.k8s.io/webhookconfigurations/facts.js'
import { customResourceDefinitionFacts } from './apiextensions.k8s.io/customresourcedefinitions/facts.js'
import { apiServiceFacts } from './apiregistration.k8s.io/apiservices/facts.js'
import { daemonSetFacts } from './apps/daemonsets/facts.js'
import { deploymentFacts } from './apps/deployments/facts.js'
import { replicaSetFacts } from './apps/replicasets/facts.js'
import { jobFacts } from './batch/jobs/facts.js'
import { certificateSigningRequestFacts } from './certificates.k8s.io/certificatesigningrequests/facts.js'
import { clusterTrustBundleFacts } from './certificates.k8s.io/clustertrustbundles/facts.js'
import { podCertificateRequestFacts } from './certificates.k8s.io/podcertificaterequests/facts.js'
import { leaseCandidateFacts } from './coordination.k8s.io/leasecandidates/facts.js'
import { componentStatusFacts } from './core/componentstatuses/facts.js'
import { endpointsFacts } from './core/endpoints/facts.js'
import { namespaceFacts } from './core/namespaces/facts.js'
import { nodeFacts } from './core/nodes/facts.js'
import { persistentVolumeClaimFacts } from './core/persistentvolumeclaims/facts.js'
import { persistentVolumeFacts } from './core/persistentvolumes/facts.js'
import { podFacts } from './core/pods/facts.js'
import { replicationControllerFacts } from './core/replicationcontrollers/facts.js'
import { secretFacts } from './core/secrets/facts.js'
import { serviceFacts } from './core/services/facts.js'
import { coreEventFacts, eventsEventFacts } from './events.k8s.io/events/facts.js'
import { flowSchemaFacts } from './flowcontrol.apiserver.k8s.io/flowschemas/facts.js'
import { priorityLevelConfigurationFacts } from './flowcontrol.apiserver.k8s.io/prioritylevelconfigurations/facts.js'
import type { ResourceFacts } from './generic/resource-facts.js'
import { ingressFacts } from './networking.k8s.io/ingresses/facts.js'
import { ipAddressFacts } from './networking.k8s.io/ipaddresses/facts.js'
import { networkPolicyFacts } from './networking.k8s.io/networkpolicies/facts.js'
import { roleBindingFacts } from './rbac.authorization.k8s.io/rolebindings/facts.js'
import { roleFacts } from './rbac.authorization.k8s.io/roles/facts.js'
import { deviceTaintRuleFacts } from './resource.k8s.io/devicetaintrules/facts.js'
import { resourcePoolStatusRequestFacts } from './resource.k8s.io/resourcepoolstatusrequests/facts.js'
import { resourceSliceFacts } from './resource.k8s.io/resourceslices/facts.js'
import { podGroupFacts } from './scheduling.k8s.io/podgroups/facts.js'
import { workloadFacts } from './scheduling.k8s.io/workloads/facts.js'

const NO_FACTS: ResourceFacts = {}

/** By resource and group, as in flags: `deployments.apps`. */
const FACTS: Readonly<Record<string, ResourceFacts>> = lookupTable({
  'apiservices.apiregistration.k8s.io': apiServiceFacts,
  'certificatesigningrequests.certificates.k8s.io': certificateSigningRequestFacts,
  'clusterrolebindings.rbac.authorization.k8s.io': roleBindingFacts,
  'clusterroles.rbac.authorization.k8s.io': roleFacts,
  'clustertrustbundles.certificates.k8s.io': clusterTrustBundleFacts,
  componentstatuses: componentStatusFacts,
  'customresourcedefinitions.apiextensions.k8s.io': customResourceDefinitionFacts,
  'daemonsets.apps': daemonSetFacts,
  'deployments.apps': deploymentFacts,
  'devicetaintrules.resource.k8s.io': deviceTaintRuleFacts,
  endpoints: endpointsFacts,
  'events.events.k8s.io': eventsEventFacts,
  events: coreEventFacts,
  'flowschemas.flowcontrol.apiserver.k8s.io': flowSchemaFacts,
  'ingresses.networking.k8s.io': ingressFacts,
  'ipaddresses.networking.k8s.io': ipAddressFacts,
  'jobs.batch': jobFacts,
  'leasecandidates.coordination.k8s.io': leaseCandidateFacts,
  'mutatingadmissionpolicies.admissionregistration.k8s.io': mutatingAdmissionPolicyFacts,
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': mutatingAdmissionPolicyBindingFacts,
  'mutatingwebhookconfigurations.admissionregistration.k8s.io': webhookConfigurationFacts,
  namespaces: namespaceFacts,
  'networkpolicies.networking.k8s.io': networkPolicyFacts,
  nodes: nodeFacts,
  persistentvolumeclaims: persistentVolumeClaimFacts,
  persistentvolumes: persistentVolumeFacts,
  'podcertificaterequests.certificates.k8s.io': podCertificateRequestFacts,
  'podgroups.scheduling.k8s.io': podGroupFacts,
  pods: podFacts,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': priorityLevelConfigurationFacts,
  'replicasets.apps': replicaSetFacts,
  replicationcontrollers: replicationControllerFacts,
  'resourcepoolstatusrequests.resource.k8s.io': resourcePoolStatusRequestFacts,
  'resourceslices.resource.k8s.io': resourceSliceFacts,
  'rolebindings.rbac.authorization.k8s.io': roleBindingFacts,
  'roles.rbac.authorization.k8s.io': roleFacts,
  secrets: secretFacts,
  services: serviceFacts,
  'validatingadmissionpolicies.admissionregistration.k8s.io': validatingAdmissionPolicyFacts,
  'validatingadmissionpolicybindings.admissionregistration.k8s.io': validatingAdmissionPolicyBindingFacts,
  'validatingwebhookconfigurations.admissionregistration.k8s.io': webhookConfigurationFacts,
  'workloads.scheduling.k8s.io': workloadFacts,
})

export function factsOf({ group, resource }: GroupResource): ResourceFacts {
  return FACTS[formatGroupResource({ group, resource })] ?? NO_FACTS
}

/** What the storage factory must know of the built-in resources. */
export function storageExceptions(): StorageException[] {
  return Object.entries(FACTS).flatMap(([name, { storage }]) =>
    storage === undefined ? [] : [{ ...storage, groupResource: parseGroupResource(name) }],
  )
}
