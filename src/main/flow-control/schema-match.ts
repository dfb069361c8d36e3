/** Thread: any. Whether a flow schema's rules take a request. */
import type { RequestInfo } from '../../api/request-info.js'
import type { UserInfo } from '../../api/user-info.js'
import type { FlowSchemaSpec, NonResourcePolicyRule, ResourcePolicyRule, Subject } from './configuration.js'

const SERVICE_ACCOUNT = 'system:serviceaccount:'

export function matchesSchema(spec: FlowSchemaSpec, user: UserInfo, info: RequestInfo): boolean {
  for (const rule of spec.rules ?? []) {
    if (!rule.subjects.some((subject) => matchesSubject(subject, user))) continue
    const matches = info.isResourceRequest
      ? (rule.resourceRules ?? []).some((one) => matchesResource(one, info))
      : (rule.nonResourceRules ?? []).some((one) => matchesNonResource(one, info))
    if (matches) return true
  }
  return false
}

function matchesSubject(subject: Subject, { name, groups }: UserInfo): boolean {
  switch (subject.kind) {
    case 'User':
      return subject.user?.name === '*' || subject.user?.name === name
    case 'Group': {
      const wanted = subject.group?.name
      return wanted !== undefined && (wanted === '*' || groups.includes(wanted))
    }
    case 'ServiceAccount': {
      const account = subject.serviceAccount
      if (account === undefined || !name.startsWith(SERVICE_ACCOUNT)) return false
      const prefix = `${SERVICE_ACCOUNT}${account.namespace}:`
      return account.name === '*' ? name.startsWith(prefix) : name === `${prefix}${account.name}`
    }
    default:
      return false
  }
}

const has = (list: readonly string[] | undefined, value: string): boolean =>
  list !== undefined && ((list.length === 1 && list[0] === '*') || list.includes(value))

function matchesResource(rule: ResourcePolicyRule, info: RequestInfo): boolean {
  const resource = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`
  if (!has(rule.verbs, info.verb) || !has(rule.resources, resource) || !has(rule.apiGroups, info.apiGroup)) return false
  return info.namespace === '' ? rule.clusterScope === true : has(rule.namespaces, info.namespace)
}

function matchesNonResource(rule: NonResourcePolicyRule, { verb, path }: RequestInfo): boolean {
  if (!has(rule.verbs, verb)) return false
  return rule.nonResourceURLs.some((url) => {
    if (url === '*' || url === path) return true
    const stem = url.endsWith('*') ? url.slice(0, -1) : url
    return path.startsWith(stem.endsWith('/') ? stem : `${stem}/`)
  })
}
