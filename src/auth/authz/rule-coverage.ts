/** Thread: any. Whether the rules that somebody has cover rules that they want to give: nobody gives what they do not have. */
import { type PolicyRule, RoleRules, type RuleQuestion } from './policy-rule.js'

/**
 * Takes a rule apart until each part is for one thing: one verb, one group, one resource, one name or none; or one
 * path.
 */
function* breakdown(rule: PolicyRule): Generator<PolicyRule> {
  const { verbs, apiGroups, resources, resourceNames, nonResourceURLs } = rule
  for (const verb of verbs) {
    for (const url of nonResourceURLs) yield { ...EMPTY, verbs: [verb], nonResourceURLs: [url] }
    for (const group of apiGroups) {
      for (const resource of resources) {
        const one = { ...EMPTY, verbs: [verb], apiGroups: [group], resources: [resource] }
        if (resourceNames.length === 0) yield one
        else for (const name of resourceNames) yield { ...one, resourceNames: [name] }
      }
    }
  }
}

const EMPTY: PolicyRule = { verbs: [], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] }

/** The question that must be answered with yes for whoever gives this one thing to others. */
function questionOf({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): RuleQuestion {
  const [combinedResource = ''] = resources
  const slash = combinedResource.indexOf('/')
  const [path = ''] = nonResourceURLs
  return {
    isResourceRequest: nonResourceURLs.length === 0,
    verb: verbs[0] ?? '',
    apiGroup: apiGroups[0] ?? '',
    combinedResource,
    anyWithSubresource: slash < 0 ? '' : `*${combinedResource.slice(slash)}`,
    name: resourceNames[0],
    path,
  }
}

/** Beyond so many single permissions nobody checks: a role that lists more is more than anybody holds. */
const MAX_PERMISSIONS = 100_000
/** The same for permissions times rules that are held, which is what a check may have to compare. */
const MAX_COMPARISONS = 100_000_000
/** So many missing permissions are enough to name. */
const MAX_MISSING = 200

const permissions = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number =>
  verbs.length * (nonResourceURLs.length + apiGroups.length * resources.length * Math.max(1, resourceNames.length))

/** The parts of `wanted` that `held` does not cover, each for one thing; empty when all are covered. */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const missing: PolicyRule[] = []
  const role = new RoleRules(held)
  let budget = Math.min(MAX_PERMISSIONS, MAX_COMPARISONS / Math.max(1, held.length))
  for (const rule of wanted) {
    budget -= permissions(rule)
    if (budget < 0) return [...missing, rule]
    for (const one of breakdown(rule)) {
      if (role.allow(questionOf(one))) continue
      missing.push(one)
      if (missing.length >= MAX_MISSING) return missing
    }
  }
  return missing
}

/** Rules for people: one line for all verbs of what is otherwise the same, sorted. */
export function describeRules(rules: readonly PolicyRule[]): string {
  const verbs = new Map<string, string[]>()
  for (const rule of rules) {
    const key = describeObject(rule)
    const known = verbs.get(key)
    if (known === undefined) verbs.set(key, [...rule.verbs])
    else known.push(...rule.verbs)
  }
  return [...verbs]
    .map(([what, which]) => `{${what}Verbs:${quoted(which)}}`)
    .sort()
    .join('\n')
}

const quoted = (list: readonly string[]): string => `[${list.map((one) => JSON.stringify(one)).join(' ')}]`

function describeObject({ apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string {
  if (nonResourceURLs.length > 0) return `NonResourceURLs:${quoted(nonResourceURLs)}, `
  const names = resourceNames.length === 0 ? '' : `ResourceNames:${quoted(resourceNames)}, `
  return `APIGroups:${quoted(apiGroups)}, Resources:${quoted(resources)}, ${names}`
}
