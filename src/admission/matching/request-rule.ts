/** Thread: any. Whether a rule of a webhook or a policy is for a request: its operations, group, version, resource, scope. */
import type { RuleWithOperations } from '../../api/generated/kinds/admissionregistration.v1.js'
import type { GroupVersionResource } from '../../api/group-version.js'

/** The part of a request that rules look at. */
export interface RuleTarget {
  readonly operation: string
  readonly resource: GroupVersionResource
  readonly subresource: string
  /** Of a namespace it is its own name. */
  readonly namespace: string
}

const has = (list: readonly string[] | null | undefined, value: string): boolean =>
  list?.some((item) => item === '*' || item === value) ?? false

export function ruleMatches(rule: RuleWithOperations, target: RuleTarget): boolean {
  const { resource } = target
  return (
    scopeMatches(rule.scope ?? '*', target) &&
    has(rule.operations, target.operation) &&
    has(rule.apiGroups, resource.group) &&
    has(rule.apiVersions, resource.version) &&
    (rule.resources?.some((pattern) => resourceMatches(pattern, target)) ?? false)
  )
}

/** `pods`, `pods/status`, `*`, `pods/*`, `*` + `/status`: a star for the subresource means the resource itself too. */
function resourceMatches(pattern: string, { resource: { resource }, subresource }: RuleTarget): boolean {
  const slash = pattern.indexOf('/')
  const wholes = slash < 0 ? pattern : pattern.slice(0, slash)
  const parts = slash < 0 ? '' : pattern.slice(slash + 1)
  return (wholes === '*' || wholes === resource) && (parts === '*' || parts === subresource)
}

function scopeMatches(scope: string, target: RuleTarget): boolean {
  if (scope === '*') return true
  const isCluster = isInCluster(target)
  return scope === 'Cluster' ? isCluster : scope === 'Namespaced' && !isCluster
}

/** Whether the request is about something outside namespaces; a namespace itself is. */
export function isInCluster({ resource, namespace }: RuleTarget): boolean {
  const isNamespace = resource.group === '' && resource.version === 'v1' && resource.resource === 'namespaces'
  return isNamespace || namespace === ''
}
