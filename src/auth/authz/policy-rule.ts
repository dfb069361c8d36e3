/** Thread: any. A rule of RBAC, and the rules of one role made ready to be asked: by resource, without a search. */
import { trimEndOf } from '../../lib/trim-end.js'

export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/** One question of RBAC, taken apart once for all rules that it meets. */
export interface RuleQuestion {
  readonly isResourceRequest: boolean
  readonly verb: string
  readonly apiGroup: string
  /** The resource with its subresource: `pods` or `pods/log`. */
  readonly combinedResource: string
  /** Any resource with the subresource, `*` + `/log`; '' without a subresource. */
  readonly anyWithSubresource: string
  /** The name of the object; undefined for every name, which a rule for some names does not give. */
  readonly name: string | undefined
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

/** The rules of a role as it is stored; lists that are not there are empty. */
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

/** Lists up to this long are searched; a set would cost more than it saves. */
const SHORT_LIST = 16

/** Whether a value is in a list that is asked again and again, however long it is. */
type Membership = (value: string) => boolean

function membership(list: readonly string[]): Membership {
  if (list.length <= SHORT_LIST) return (value) => list.includes(value)
  const values = new Set(list)
  return (value) => values.has(value)
}

const ANY: Membership = () => true

const membershipOrAll = (list: readonly string[]): Membership => (list.includes('*') ? ANY : membership(list))

/** Whether a rule for paths matches: it names all paths, one path, or all that begin with a text. */
export function pathMatches(rule: string, path: string): boolean {
  if (rule === '*' || rule === path) return true
  return rule.endsWith('*') && path.startsWith(trimEndOf(rule, '*'))
}

/** A rule whose lists are ready to be asked: what one question costs does not grow with their length. */
class ReadyRule {
  readonly #verbs: Membership
  readonly #apiGroups: Membership
  readonly #names: Membership | undefined
  readonly #urls: readonly string[]

  constructor({ verbs, apiGroups, resourceNames, nonResourceURLs }: PolicyRule) {
    this.#verbs = membershipOrAll(verbs)
    this.#apiGroups = membershipOrAll(apiGroups)
    this.#names = resourceNames.length === 0 ? undefined : membership(resourceNames)
    this.#urls = nonResourceURLs
  }

  allowsObject({ verb, apiGroup, name }: Pick<RuleQuestion, 'verb' | 'apiGroup' | 'name'>): boolean {
    return (
      this.#verbs(verb) &&
      this.#apiGroups(apiGroup) &&
      (this.#names === undefined || (name !== undefined && this.#names(name)))
    )
  }

  allowsPath({ verb, path }: Pick<RuleQuestion, 'verb' | 'path'>): boolean {
    return this.#verbs(verb) && this.#urls.some((url) => pathMatches(url, path))
  }
}

export class RoleRules {
  readonly rules: readonly PolicyRule[]
  readonly #byResource = new Map<string, ReadyRule[]>()
  readonly #forPaths: ReadyRule[] = []

  constructor(rules: readonly PolicyRule[]) {
    this.rules = rules
    for (const rule of rules) {
      const ready = new ReadyRule(rule)
      if (rule.nonResourceURLs.length > 0) this.#forPaths.push(ready)
      for (const resource of new Set(rule.resources)) {
        const known = this.#byResource.get(resource)
        if (known === undefined) this.#byResource.set(resource, [ready])
        else known.push(ready)
      }
    }
  }

  allow(question: RuleQuestion): boolean {
    if (!question.isResourceRequest) return this.#forPaths.some((rule) => rule.allowsPath(question))
    return (
      this.#allowResource('*', question) ||
      this.#allowResource(question.combinedResource, question) ||
      (question.anyWithSubresource !== '' && this.#allowResource(question.anyWithSubresource, question))
    )
  }

  #allowResource(resource: string, question: RuleQuestion): boolean {
    const rules = this.#byResource.get(resource)
    if (rules === undefined) return false
    for (const rule of rules) if (rule.allowsObject(question)) return true
    return false
  }
}
