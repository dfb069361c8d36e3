/** Thread: any. A rule of RBAC, and the rules of one role made ready to be asked: by resource, without a search. */
import { trimEndOf } from '../../lib/trim-end.js'

export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/** One question, taken apart once for all rules that it meets. */
export interface RuleQuestion {
  readonly isResourceRequest: boolean
  readonly verb: string
  readonly apiGroup: string
  /** `pods` or `pods/log`. */
  readonly combinedResource: string
  /** `*` + `/log`; '' without a subresource. */
  readonly anyWithSubresource: string
  readonly name: string
  readonly path: string
}

type RawList = readonly unknown[] | null | undefined
interface RawRule {
  readonly verbs?: RawList
  readonly apiGroups?: RawList
  readonly resources?: RawList
  readonly resourceNames?: RawList
  readonly nonResourceURLs?: RawList
}

const texts = (list: RawList): readonly string[] =>
  Array.isArray(list) ? list.filter((one): one is string => typeof one === 'string') : []

/** The rules of a role as it is stored; what is not there is empty. */
export function policyRulesOf(rules: unknown): PolicyRule[] {
  if (!Array.isArray(rules)) return []
  return (rules as readonly (RawRule | null)[]).map((rule) => ({
    verbs: texts(rule?.verbs),
    apiGroups: texts(rule?.apiGroups),
    resources: texts(rule?.resources),
    resourceNames: texts(rule?.resourceNames),
    nonResourceURLs: texts(rule?.nonResourceURLs),
  }))
}

const has = (list: readonly string[], value: string): boolean => list.includes(value) || list.includes('*')

/** A rule for paths: all, exactly one, or all that begin so. */
export function pathMatches(rule: string, path: string): boolean {
  if (rule === '*' || rule === path) return true
  return rule.endsWith('*') && path.startsWith(trimEndOf(rule, '*'))
}

export class RoleRules {
  readonly rules: readonly PolicyRule[]
  readonly #byResource = new Map<string, PolicyRule[]>()
  readonly #forPaths: PolicyRule[] = []

  constructor(rules: readonly PolicyRule[]) {
    this.rules = rules
    for (const rule of rules) {
      if (rule.nonResourceURLs.length > 0) this.#forPaths.push(rule)
      for (const resource of new Set(rule.resources)) {
        const known = this.#byResource.get(resource)
        if (known === undefined) this.#byResource.set(resource, [rule])
        else known.push(rule)
      }
    }
  }

  allow(question: RuleQuestion): boolean {
    if (!question.isResourceRequest) return this.#allowPath(question)
    return (
      this.#allowResource('*', question) ||
      this.#allowResource(question.combinedResource, question) ||
      (question.anyWithSubresource !== '' && this.#allowResource(question.anyWithSubresource, question))
    )
  }

  #allowResource(resource: string, { verb, apiGroup, name }: RuleQuestion): boolean {
    const rules = this.#byResource.get(resource)
    if (rules === undefined) return false
    for (const rule of rules) {
      if (
        has(rule.verbs, verb) &&
        has(rule.apiGroups, apiGroup) &&
        (rule.resourceNames.length === 0 || rule.resourceNames.includes(name))
      )
        return true
    }
    return false
  }

  #allowPath({ verb, path }: RuleQuestion): boolean {
    for (const rule of this.#forPaths) {
      if (!has(rule.verbs, verb)) continue
      for (const url of rule.nonResourceURLs) if (pathMatches(url, path)) return true
    }
    return false
  }
}
