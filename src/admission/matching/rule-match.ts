/**
 * Thread: pool. Whether rules are for a request: in its own version, or, where the matchPolicy is Equivalent, in another one under
 * which the same object is served.
 */
import type { NamedRuleWithOperations } from '../../api/generated/kinds/admissionregistration.v1.js'
import type { ServedKind } from './admission-kinds.js'
import type { EquivalentKinds } from './equivalent-kinds.js'
import { type RuleTarget, ruleMatches } from './request-rule.js'

/** What the rules of a webhook, a policy or a binding are. */
export interface RuledEntry {
  readonly rules: readonly NamedRuleWithOperations[]
  /** Rules that leave requests out, whatever `rules` say. Webhooks have none. */
  readonly excludes?: readonly NamedRuleWithOperations[]
  readonly matchPolicy: string
}

export interface RuleMatch {
  /** The version that the rules asked for; undefined when it is the request's own. */
  readonly equivalent: ServedKind | undefined
}

export const namesObjects = ({ rules, excludes = [] }: RuledEntry): boolean =>
  [...rules, ...excludes].some(({ resourceNames }) => (resourceNames?.length ?? 0) > 0)

/** A request whose objects may have any name: whether an entry can be for one of them. */
export const ANY_NAME = undefined

/** How an entry is for a request of this name; undefined when it is not. */
export function matchEntry(
  entry: RuledEntry,
  target: RuleTarget,
  name: string | typeof ANY_NAME,
  equivalents: EquivalentKinds,
): RuleMatch | undefined {
  const { rules, excludes = [], matchPolicy } = entry
  const find = (list: readonly NamedRuleWithOperations[], takes: (rule: NamedRuleWithOperations) => boolean) =>
    matchRules(list, target, takes, () => (matchPolicy === 'Equivalent' ? equivalents.of(target) : []))
  if (excludes.length > 0 && find(excludes, (rule) => takesName(rule, name, false)) !== undefined) return undefined
  return find(rules, (rule) => takesName(rule, name, true))
}

/** Whether a rule takes objects of a name; of any name, `whenAny` says what a rule with names does. */
function takesName({ resourceNames }: NamedRuleWithOperations, name: string | undefined, whenAny: boolean): boolean {
  if ((resourceNames?.length ?? 0) === 0) return true
  return name === ANY_NAME ? whenAny : resourceNames!.includes(name)
}

function matchRules(
  rules: readonly NamedRuleWithOperations[],
  target: RuleTarget,
  takes: (rule: NamedRuleWithOperations) => boolean,
  equivalents: () => readonly ServedKind[],
): RuleMatch | undefined {
  if (rules.some((rule) => ruleMatches(rule, target) && takes(rule))) return { equivalent: undefined }
  for (const rule of rules) {
    if (!takes(rule)) continue
    const equivalent = equivalents().find(({ resource }) => ruleMatches(rule, { ...target, resource }))
    if (equivalent !== undefined) return { equivalent }
  }
  return undefined
}
