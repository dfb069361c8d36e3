/** Thread: any. The roles and bindings that every server has from its first start. */
import { CLUSTER_ROLES } from './cluster-roles.js'
import { CONTROLLER_ROLES } from './controller-roles.js'
import { CLUSTER_ROLE_BINDINGS, NAMESPACE_ROLE_BINDINGS, NAMESPACE_ROLES } from './namespace-roles.js'
import { type BindingObject, controllerBindings, parseBindings, parseRoles, type RoleObject } from './policy-text.js'

const CONTROLLER_PREFIX = 'system:controller:'

export interface BootstrapPolicy {
  readonly clusterRoles: readonly RoleObject[]
  readonly clusterRoleBindings: readonly BindingObject[]
  readonly roles: readonly RoleObject[]
  readonly roleBindings: readonly BindingObject[]
}

export function bootstrapPolicy(): BootstrapPolicy {
  const controllers = parseRoles(CONTROLLER_ROLES, CONTROLLER_PREFIX)
  return {
    clusterRoles: [...parseRoles(CLUSTER_ROLES), ...controllers],
    clusterRoleBindings: [
      ...parseBindings(CLUSTER_ROLE_BINDINGS),
      ...controllerBindings(controllers, CONTROLLER_PREFIX),
    ],
    roles: parseRoles(NAMESPACE_ROLES),
    roleBindings: parseBindings(NAMESPACE_ROLE_BINDINGS),
  }
}
