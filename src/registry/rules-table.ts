/** Thread: any. Which resources have rules of their own. What is not here is served with none. */
import type { GroupResource } from '../api/group-version.js'
import { controllerRevisionRules } from './apps/controllerrevisions/strategy.js'
import { daemonSetRules } from './apps/daemonsets/strategy.js'
import { deploymentRules } from './apps/deployments/strategy.js'
import { replicaSetRules } from './apps/replicasets/strategy.js'
import { statefulSetRules } from './apps/statefulsets/strategy.js'
import { cronJobRules } from './batch/cronjobs/strategy.js'
import { jobRules } from './batch/jobs/strategy.js'
import { configMapRules } from './core/configmaps/strategy.js'
import { namespaceRules } from './core/namespaces/strategy.js'
import { podRules } from './core/pods/strategy.js'
import { replicationControllerRules } from './core/replicationcontrollers/strategy.js'
import { secretRules } from './core/secrets/strategy.js'
import type { ResourceRules } from './generic/resource-rules.js'
import { ingressClassRules } from './networking.k8s.io/ingressclasses/strategy.js'
import { ingressRules } from './networking.k8s.io/ingresses/strategy.js'
import { ipAddressRules } from './networking.k8s.io/ipaddresses/strategy.js'
import { networkPolicyRules } from './networking.k8s.io/networkpolicies/strategy.js'
import { serviceCidrRules } from './networking.k8s.io/servicecidrs/strategy.js'
import { clusterRoleBindingRules, roleBindingRules } from './rbac.authorization.k8s.io/rolebindings/strategy.js'
import { clusterRoleRules, roleRules } from './rbac.authorization.k8s.io/roles/strategy.js'

const NO_RULES: ResourceRules = {}

/** By resource and group, as in flags: `deployments.apps`. */
const RULES: Readonly<Record<string, ResourceRules>> = {
  'clusterrolebindings.rbac.authorization.k8s.io': clusterRoleBindingRules,
  'clusterroles.rbac.authorization.k8s.io': clusterRoleRules,
  configmaps: configMapRules,
  'controllerrevisions.apps': controllerRevisionRules,
  'cronjobs.batch': cronJobRules,
  'daemonsets.apps': daemonSetRules,
  'deployments.apps': deploymentRules,
  'ingressclasses.networking.k8s.io': ingressClassRules,
  'ingresses.networking.k8s.io': ingressRules,
  'ipaddresses.networking.k8s.io': ipAddressRules,
  'jobs.batch': jobRules,
  namespaces: namespaceRules,
  'networkpolicies.networking.k8s.io': networkPolicyRules,
  pods: podRules,
  'replicasets.apps': replicaSetRules,
  replicationcontrollers: replicationControllerRules,
  'rolebindings.rbac.authorization.k8s.io': roleBindingRules,
  'roles.rbac.authorization.k8s.io': roleRules,
  secrets: secretRules,
  'statefulsets.apps': statefulSetRules,
  'servicecidrs.networking.k8s.io': serviceCidrRules,
}

export function rulesOf({ group, resource }: GroupResource): ResourceRules {
  return RULES[group === '' ? resource : `${resource}.${group}`] ?? NO_RULES
}
