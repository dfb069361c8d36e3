/** Thread: any. The audit policy (audit.k8s.io/v1 Policy): which requests are recorded, and how much of them. */
import type { RequestInfo } from '../../api/request-info.js'
import type { UserInfo } from '../../api/user-info.js'
import { parseYaml } from '../../api/yaml/yaml.js'
import type { AuditLevel, AuditStage } from '../../protocol/main-audit.js'

const LEVELS: readonly string[] = ['None', 'Metadata', 'Request', 'RequestResponse']
const STAGES: readonly string[] = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic']

interface GroupResources {
  readonly group?: string
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
}

interface PolicyRule {
  readonly level: string
  readonly users?: readonly string[]
  readonly userGroups?: readonly string[]
  readonly verbs?: readonly string[]
  readonly resources?: readonly GroupResources[]
  readonly namespaces?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
  readonly omitStages?: readonly string[]
  readonly omitManagedFields?: boolean
}

/** The policy as plain data: it crosses to front-end threads with the configuration. */
export interface AuditPolicyDocument {
  readonly rules: readonly PolicyRule[]
  readonly omitStages?: readonly string[]
  readonly omitManagedFields?: boolean
}

export interface AuditDecision {
  readonly level: AuditLevel
  readonly omitStages: ReadonlySet<AuditStage>
  readonly omitManagedFields: boolean
}

/** The policy, or everything that is wrong with it. */
export function parseAuditPolicy(text: string): { policy: AuditPolicyDocument } | { errors: string[] } {
  let document: unknown
  try {
    document = parseYaml(text).value
  } catch (error) {
    return { errors: [error instanceof Error ? error.message : String(error)] }
  }
  if (typeof document !== 'object' || document === null) return { errors: ['it is no object'] }
  const { apiVersion, kind, rules } = document as { apiVersion?: unknown; kind?: unknown; rules?: unknown }
  const errors: string[] = []
  if (apiVersion !== 'audit.k8s.io/v1' || kind !== 'Policy')
    errors.push(`it is ${String(kind)} of ${String(apiVersion)}, not Policy of audit.k8s.io/v1`)
  if (!Array.isArray(rules) || rules.length === 0) errors.push('rules: at least one is needed')
  else for (const [i, rule] of rules.entries()) errors.push(...ruleErrors(rule as PolicyRule, `rules[${i}]`))
  errors.push(...stageErrors((document as AuditPolicyDocument).omitStages, 'omitStages'))
  return errors.length > 0 ? { errors } : { policy: document as AuditPolicyDocument }
}

function stageErrors(stages: readonly string[] | undefined, at: string): string[] {
  return (stages ?? []).flatMap((stage, i) =>
    STAGES.includes(stage) ? [] : [`${at}[${i}]: ${JSON.stringify(stage)} is no stage; they are ${STAGES.join(', ')}`],
  )
}

function ruleErrors(rule: PolicyRule, at: string): string[] {
  if (typeof rule !== 'object' || rule === null) return [`${at}: it is no object`]
  const errors = stageErrors(rule.omitStages, `${at}.omitStages`)
  if (!LEVELS.includes(rule.level))
    errors.push(`${at}.level: ${JSON.stringify(rule.level ?? '')} is no level; they are ${LEVELS.join(', ')}`)
  const { nonResourceURLs = [], resources = [], namespaces = [] } = rule
  if (nonResourceURLs.length > 0 && (resources.length > 0 || namespaces.length > 0))
    errors.push(`${at}.nonResourceURLs: a rule is for resources or for other URLs, not for both`)
  for (const [i, url] of nonResourceURLs.entries()) {
    if (url !== '*' && (!url.startsWith('/') || url.slice(0, -1).includes('*')))
      errors.push(
        `${at}.nonResourceURLs[${i}]: ${JSON.stringify(url)} must begin with a slash, with a star at its end only`,
      )
  }
  for (const [i, { group = '', resources: names = [], resourceNames = [] }] of resources.entries()) {
    if (group.includes('/'))
      errors.push(`${at}.resources[${i}].group: ${JSON.stringify(group)} is a group without version`)
    if (resourceNames.length > 0 && names.length === 0)
      errors.push(`${at}.resources[${i}].resourceNames: names need resources`)
  }
  return errors
}

export class AuditPolicy {
  readonly #rules: readonly { readonly rule: PolicyRule; readonly decision: AuditDecision }[]
  readonly #none: AuditDecision

  constructor({ rules, omitStages = [], omitManagedFields = false }: AuditPolicyDocument) {
    this.#rules = rules.map((rule) => ({
      rule,
      decision: {
        level: rule.level as AuditLevel,
        omitStages: new Set([...omitStages, ...(rule.omitStages ?? [])]) as ReadonlySet<AuditStage>,
        omitManagedFields: rule.omitManagedFields ?? omitManagedFields,
      },
    }))
    this.#none = { level: 'None', omitStages: new Set(), omitManagedFields }
  }

  /** The first rule that matches decides; a request that no rule matches is not recorded. */
  decide(user: UserInfo | undefined, info: RequestInfo): AuditDecision {
    for (const { rule, decision } of this.#rules) if (matches(rule, user, info)) return decision
    return this.#none
  }
}

const among = (list: readonly string[] | undefined, value: string): boolean =>
  list === undefined || list.length === 0 || list.includes(value)

function matches(rule: PolicyRule, user: UserInfo | undefined, info: RequestInfo): boolean {
  const { users = [], userGroups = [] } = rule
  if (users.length > 0 && !users.includes(user?.name ?? '\0')) return false
  if (userGroups.length > 0 && !(user?.groups ?? []).some((group) => userGroups.includes(group))) return false
  if (!among(rule.verbs, info.verb)) return false
  if ((rule.namespaces?.length ?? 0) > 0 || (rule.resources?.length ?? 0) > 0)
    return (
      info.isResourceRequest && among(rule.namespaces, info.namespace) && matchesResources(rule.resources ?? [], info)
    )
  if ((rule.nonResourceURLs?.length ?? 0) > 0)
    return !info.isResourceRequest && rule.nonResourceURLs!.some((url) => matchesPath(url, info.path))
  return true
}

function matchesPath(url: string, path: string): boolean {
  return url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1)))
}

function matchesResources(groups: readonly GroupResources[], info: RequestInfo): boolean {
  if (groups.length === 0) return true
  return groups.some(({ group = '', resources = [], resourceNames }) => {
    if (group !== info.apiGroup && group !== '*') return false
    if (resources.length === 0) return true
    return among(resourceNames, info.name) && resources.some((name) => matchesName(name, info))
  })
}

/** Whether a name of a rule matches: `pods`, `pods/log`, `pods/*`, `*\/scale`, `*`. */
function matchesName(name: string, { resource, subresource }: RequestInfo): boolean {
  const whole = subresource === '' ? resource : `${resource}/${subresource}`
  if (name === whole || name === '*') return true
  if (name.startsWith('*/')) return subresource !== '' && name.slice(2) === subresource
  return name.endsWith('/*') && name.slice(0, -2) === resource
}
