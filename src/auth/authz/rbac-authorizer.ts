/** Thread: any but the owner. RBAC: allowed when a rule of a role that is bound to the user or one of their groups says so. */
import type { UserInfo } from '../../api/user-info.js'
import type { Attributes, Authorizer, RuleResolver, RuleSet, Verdict } from '../interface.js'
import type { Grant } from './binding-table.js'
import type { PolicyRule, RuleQuestion } from './policy-rule.js'
import { RBAC_GROUP, type RbacIndex } from './rbac-index.js'

const NO: Verdict = { decision: 'no-opinion', reason: '' }
const NOT_READY: Verdict = {
  decision: 'no-opinion',
  reason: 'RBAC: roles and bindings are not in memory',
  error: 'roles and bindings are not in memory',
}

export function questionOf(attributes: Attributes): RuleQuestion {
  const { resource, subresource } = attributes
  const isPart = subresource !== ''
  return {
    isResourceRequest: attributes.isResourceRequest,
    verb: attributes.verb,
    apiGroup: attributes.apiGroup,
    combinedResource: isPart ? `${resource}/${subresource}` : resource,
    anyWithSubresource: isPart ? `*/${subresource}` : '',
    name: attributes.name,
    path: attributes.path,
  }
}

/** A verdict whose text is made when somebody reads it: most are only asked for their decision. */
class Allowed implements Verdict {
  readonly decision = 'allow'
  readonly #grant: Grant
  constructor(grant: Grant) {
    this.#grant = grant
  }
  get reason(): string {
    return `RBAC: allowed by ${describeGrant(this.#grant)}`
  }
}

function describeGrant({ binding, subject }: Grant): string {
  const { namespace, name, role } = binding
  const source =
    namespace === ''
      ? `ClusterRoleBinding ${JSON.stringify(name)}`
      : `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`
  const home = subject.namespace === '' ? namespace : subject.namespace
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${home}` : subject.name
  return `${source} of ${role.kind} ${JSON.stringify(role.name)} to ${subject.kind} ${JSON.stringify(who)}`
}

/** What is said of a binding whose role does not exist. */
const missingRole = ({ binding: { role } }: Grant): string =>
  `${role.kind.toLowerCase()}.${RBAC_GROUP} ${JSON.stringify(role.name)} not found`

const joined = (errors: readonly string[]): string => {
  const once = [...new Set(errors)]
  return once.length === 1 ? once[0]! : `[${once.join(', ')}]`
}

export class RbacAuthorizer implements Authorizer, RuleResolver {
  readonly #index: RbacIndex

  constructor(index: RbacIndex) {
    this.#index = index
  }

  authorize(attributes: Attributes): Verdict {
    if (!this.#index.sync()) return NOT_READY
    const question = questionOf(attributes)
    let found: Grant | undefined
    let missing: string[] | undefined
    this.#index.visit(attributes.user, attributes.namespace, (grant) => {
      const { rules } = grant.binding.role
      if (rules === undefined) {
        missing ??= []
        missing.push(missingRole(grant))
        return false
      }
      if (!rules.allow(question)) return false
      found = grant
      return true
    })
    if (found !== undefined) return new Allowed(found)
    if (missing === undefined) return NO
    return { decision: 'no-opinion', reason: `RBAC: ${joined(missing)}` }
  }

  /** The user's rules as they are written, for those that compare rules with rules. */
  policyRulesFor(user: UserInfo, namespace: string): { readonly rules: readonly PolicyRule[]; readonly error: string } {
    if (!this.#index.sync()) return { rules: [], error: NOT_READY.error! }
    const rules: PolicyRule[] = []
    const missing: string[] = []
    const seen = new Set<unknown>()
    this.#index.visit(user, namespace, (grant) => {
      if (seen.has(grant.binding)) return false
      seen.add(grant.binding)
      const { rules: found } = grant.binding.role
      if (found === undefined) missing.push(missingRole(grant))
      else rules.push(...found.rules)
      return false
    })
    return { rules, error: missing.length === 0 ? '' : joined(missing) }
  }

  /** The rules of the role that a binding in this namespace means; undefined when there is none. */
  rulesOfRole(kind: string, namespace: string, name: string): readonly PolicyRule[] | undefined {
    return this.#index.sync() ? this.#index.role(kind, namespace, name)?.rules : undefined
  }

  rulesFor(user: UserInfo, namespace: string): RuleSet {
    const { rules, error } = this.policyRulesFor(user, namespace)
    return {
      resourceRules: rules
        .filter((rule) => rule.resources.length > 0)
        .map(({ verbs, apiGroups, resources, resourceNames }) => ({ verbs, apiGroups, resources, resourceNames })),
      nonResourceRules: rules
        .filter((rule) => rule.nonResourceURLs.length > 0)
        .map(({ verbs, nonResourceURLs }) => ({ verbs, nonResourceURLs })),
      incomplete: error !== '',
      error,
    }
  }
}
