/** Thread: any. Whether the rules that somebody has cover rules that they want to give: nobody gives what they do not have. */
import { type PolicyRule, pathMatches } from './policy-rule.js'

/** Taken apart until each asks for one thing: one verb, one group, one resource, one name or none; or one path. */
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

const covers = (held: readonly string[], wanted: readonly string[]): boolean =>
  held.includes('*') || wanted.every((one) => held.includes(one))

function coversResource(held: readonly string[], wanted: string): boolean {
  if (held.includes('*') || held.includes(wanted)) return true
  const slash = wanted.indexOf('/')
  return slash >= 0 && held.includes(`*${wanted.slice(slash)}`)
}

/** `wanted` asks for one thing. */
function ruleCovers(held: PolicyRule, wanted: PolicyRule): boolean {
  if (!covers(held.verbs, wanted.verbs)) return false
  if (wanted.nonResourceURLs.length > 0)
    return wanted.nonResourceURLs.every((url) => held.nonResourceURLs.some((own) => pathMatches(own, url)))
  if (!covers(held.apiGroups, wanted.apiGroups)) return false
  if (!wanted.resources.every((resource) => coversResource(held.resources, resource))) return false
  if (held.resourceNames.length === 0) return true
  return wanted.resourceNames.length > 0 && wanted.resourceNames.every((name) => held.resourceNames.includes(name))
}

/** Beyond so many single permissions nobody checks: a role that lists more is more than anybody holds. */
const MAX_PERMISSIONS = 100_000
/** So many that are missing are enough to say. */
const MAX_MISSING = 200

const permissions = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): number =>
  verbs.length * (nonResourceURLs.length + apiGroups.length * resources.length * Math.max(1, resourceNames.length))

/** What of `wanted` is not among `held`, each for one thing; empty: all of it is. */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const missing: PolicyRule[] = []
  let budget = MAX_PERMISSIONS
  for (const rule of wanted) {
    budget -= permissions(rule)
    if (budget < 0) return [...missing, rule]
    for (const one of breakdown(rule)) {
      if (held.some((own) => ruleCovers(own, one))) continue
      missing.push(one)
      if (missing.length >= MAX_MISSING) return missing
    }
  }
  return missing
}

/** The verbs of what is otherwise the same in one line each, sorted: for people. */
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
