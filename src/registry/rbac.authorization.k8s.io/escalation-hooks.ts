/**
 * Thread: pool. Nobody gives what they do not have: who writes a role must hold its rules, who writes a binding must hold
 * the rules of its role. Except those who may `escalate` roles or `bind` that role, and the privileged group.
 */

import { isDeepStrictEqual } from 'node:util'
import type { ClusterRole, RoleBinding } from '../../api/generated/kinds/rbac.v1.js'
import type { KubeObject } from '../../api/object.js'
import { newForbidden, newNotFound } from '../../api/status.js'
import { isPrivileged } from '../../auth/authz/fixed-authorizers.js'
import { type PolicyRule, policyRulesOf } from '../../auth/authz/policy-rule.js'
import { RBAC_GROUP } from '../../auth/authz/rbac-index.js'
import { describeRules, uncoveredRules } from '../../auth/authz/rule-coverage.js'
import type { Attributes } from '../../auth/interface.js'
import type { RegistryStoreHooks } from '../generic/registry-store-options.js'
import type { RESTDependencies } from '../generic/rest-dependencies.js'
import type { RequestContext } from '../generic/strategy.js'

export type EscalationOptions = Pick<RESTDependencies, 'authorizer' | 'heldRules'>

/** An aggregated role can come to hold anything. */
const EVERYTHING: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
]
const NOTHING_TAKEN = (): void => undefined

type Check<K> = (object: K, old: K | undefined, context: RequestContext) => Promise<void>

export function roleEscalationHooks(options: EscalationOptions): RegistryStoreHooks<ClusterRole> {
  const guard = new EscalationGuard(options)
  return hooks((...write) => guard.checkRole(...write))
}

export function bindingEscalationHooks(options: EscalationOptions): RegistryStoreHooks<RoleBinding> {
  const guard = new EscalationGuard(options)
  return hooks((...write) => guard.checkBinding(...write))
}

function hooks<K extends KubeObject>(check: Check<K>): RegistryStoreHooks<K> {
  return {
    beginCreate: async (object, context) => {
      await check(object, undefined, context)
      return NOTHING_TAKEN
    },
    beginUpdate: async (object, old, context) => {
      await check(object, old, context)
      return NOTHING_TAKEN
    },
  }
}

class EscalationGuard {
  readonly #options: EscalationOptions

  constructor(options: EscalationOptions) {
    this.#options = options
  }

  async checkRole(role: ClusterRole, old: ClusterRole | undefined, context: RequestContext): Promise<void> {
    if (isPrivileged(context.user)) return
    const name = old === undefined ? '' : (old.metadata?.name ?? '')
    if (await this.#may(context, { verb: 'escalate', resource: context.resource, name })) return
    if (onlyLeavesMarks(role, old)) return
    this.#confirm(policyRulesOf(role.rules), role, context)
    if (!gathers(role) && !gathers(old)) return
    const { rules } = this.#options.heldRules.policyRulesFor(context.user, '')
    if (uncoveredRules(rules, EVERYTHING).length > 0)
      throw forbidden(role, context, 'must have cluster-admin privileges to use the aggregationRule')
  }

  async checkBinding(binding: RoleBinding, old: RoleBinding | undefined, context: RequestContext): Promise<void> {
    if (isPrivileged(context.user) || onlyLeavesMarks(binding, old)) return
    const { kind = '', name = '' } = binding.roleRef ?? {}
    // What names no role cannot be stored either: validation says why.
    if (kind !== 'Role' && kind !== 'ClusterRole') return
    const resource = kind === 'Role' ? 'roles' : 'clusterroles'
    if (await this.#may(context, { verb: 'bind', resource, name })) return
    const rules = this.#options.heldRules.rulesOfRole(kind, context.namespace, name)
    if (rules === undefined) throw newNotFound({ group: RBAC_GROUP, resource }, name)
    this.#confirm(rules, binding, context)
  }

  #confirm(wanted: readonly PolicyRule[], object: KubeObject, context: RequestContext): void {
    const { user, namespace } = context
    const { rules, error } = this.#options.heldRules.policyRulesFor(user, namespace)
    const missing = uncoveredRules(rules, wanted)
    if (missing.length === 0) return
    const groups = user.groups.map((group) => JSON.stringify(group)).join(' ')
    const who = `user ${JSON.stringify(user.name)} (groups=[${groups}])`
    const errors = error === '' ? '' : `; resolution errors: [${error}]`
    const what = `${who} is attempting to grant RBAC permissions not currently held:\n${describeRules(missing)}`
    throw forbidden(object, context, what + errors)
  }

  async #may(context: RequestContext, what: Pick<Attributes, 'verb' | 'resource' | 'name'>): Promise<boolean> {
    const { decision } = await this.#options.authorizer.authorize({
      user: context.user,
      isResourceRequest: true,
      namespace: context.namespace,
      apiGroup: RBAC_GROUP,
      apiVersion: '*',
      subresource: '',
      path: '',
      ...what,
    })
    return decision === 'allow'
  }
}

const gathers = (role: ClusterRole | undefined): boolean =>
  (role?.aggregationRule?.clusterRoleSelectors?.length ?? 0) > 0

const forbidden = (object: KubeObject, context: RequestContext, why: string) =>
  newForbidden({ group: RBAC_GROUP, resource: context.resource }, object.metadata?.name ?? '', why)

/** The garbage collector changes owners and finalizers of roles that it does not hold. */
function onlyLeavesMarks(object: KubeObject, old: KubeObject | undefined): boolean {
  return old !== undefined && isDeepStrictEqual(withoutMarks(object), withoutMarks(old))
}

function withoutMarks(object: KubeObject): unknown {
  const copy = structuredClone(object)
  for (const field of ['ownerReferences', 'finalizers', 'managedFields'] as const) delete copy.metadata?.[field]
  return copy
}
