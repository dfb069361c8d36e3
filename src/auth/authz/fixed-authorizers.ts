/** Thread: any. Authorizers that ask nobody: everything, nothing, and the group that may do everything. */
import type { UserInfo } from '../../api/user-info.js'
import type { Attributes, Authorizer, RuleResolver, RuleSet, Verdict } from '../interface.js'

/** Members of this group may do everything, whatever the modes are; the server itself is one. */
export const PRIVILEGED_GROUP = 'system:masters'

const ALLOW: Verdict = { decision: 'allow', reason: '' }
const PASS: Verdict = { decision: 'no-opinion', reason: '' }
const NO_RULES: RuleSet = { resourceRules: [], nonResourceRules: [], incomplete: false, error: '' }
const ALL_RULES: RuleSet = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
  error: '',
}

export const isPrivileged = (user: UserInfo): boolean => user.groups.includes(PRIVILEGED_GROUP)

export const privilegedGroup: Authorizer & RuleResolver = {
  authorize: ({ user }: Attributes) => (isPrivileged(user) ? ALLOW : PASS),
  rulesFor: () => NO_RULES,
}

export const alwaysAllow: Authorizer & RuleResolver = {
  authorize: () => ALLOW,
  rulesFor: () => ALL_RULES,
}

/** Lets everybody ask for some paths that are no resources; * at the end of one stands for whatever follows. */
export function allowedPaths(paths: readonly string[]): Authorizer & RuleResolver {
  const whole = new Set(paths.filter((path) => !path.endsWith('*')))
  const prefixes = paths.filter((path) => path.endsWith('*')).map((path) => path.slice(0, -1))
  const isAllowed = (path: string): boolean => whole.has(path) || prefixes.some((prefix) => path.startsWith(prefix))
  return {
    authorize: ({ isResourceRequest, path }: Attributes) => (!isResourceRequest && isAllowed(path) ? ALLOW : PASS),
    rulesFor: () => ({ ...NO_RULES, nonResourceRules: [{ verbs: ['*'], nonResourceURLs: [...paths] }] }),
  }
}

/** It has no opinion rather than denying: modes after it may still allow, as in Kubernetes. */
export const alwaysDeny: Authorizer & RuleResolver = {
  authorize: () => ({ decision: 'no-opinion', reason: 'Everything is forbidden.' }),
  rulesFor: () => NO_RULES,
}
