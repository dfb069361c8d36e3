/**
 * Thread: any. Aggregated cluster roles: their rules are those of all other cluster roles that their selectors match, in
 * the order of the names, each once. The server fills its own roles when it starts; a controller keeps all of them filled.
 */
import { isDeepStrictEqual } from 'node:util'
import { type LabelSelectorObject, labelSelectorAsSelector } from '../../api/label-selector-object.js'
import { SelectorError } from '../../api/labels.js'
import { MapAttributes, type Selector } from '../../api/selector.js'
import { type PolicyRule, policyRulesOf } from './policy-rule.js'

export interface AggregatableRole {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly rules: readonly PolicyRule[]
  /** The selectors of the aggregation rule; empty when the role has none. */
  readonly selectors: readonly LabelSelectorObject[]
}

interface RawRole {
  readonly metadata?: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> }
  readonly rules?: unknown
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelectorObject[] | null } | null
}

export function aggregatableRole(object: unknown): AggregatableRole {
  const { metadata, rules, aggregationRule } = object as RawRole
  return {
    name: metadata?.name ?? '',
    labels: metadata?.labels ?? {},
    rules: policyRulesOf(rules),
    selectors: aggregationRule?.clusterRoleSelectors ?? [],
  }
}

/**
 * The rules that must be written, by the name of the role, until every role that gathers has what it gathers, also from
 * each other.
 */
export function aggregate(roles: readonly AggregatableRole[]): Map<string, readonly PolicyRule[]> {
  const changed = new Map<string, readonly PolicyRule[]>()
  const current = new Map(roles.map((role) => [role.name, role.rules]))
  const inOrder = [...roles].sort((a, b) => (a.name < b.name ? -1 : 1))
  const gatherers = inOrder.filter((role) => role.selectors.length > 0).map((role) => ({ role, match: matcher(role) }))
  // Each round carries rules one role further; roles that gather in a circle end with the same rules.
  for (let round = 0; round <= gatherers.length; round++) {
    let isSettled = true
    for (const { role, match } of gatherers) {
      const gathered = unique(inOrder.filter(match).flatMap((other) => current.get(other.name) ?? []))
      if (isDeepStrictEqual(gathered, [...(current.get(role.name) ?? [])])) continue
      current.set(role.name, gathered)
      changed.set(role.name, gathered)
      isSettled = false
    }
    if (isSettled) break
  }
  for (const { role } of gatherers)
    if (isDeepStrictEqual(changed.get(role.name), [...role.rules])) changed.delete(role.name)
  return changed
}

function matcher(role: AggregatableRole): (other: AggregatableRole) => boolean {
  const selectors = role.selectors.map(selectorOf)
  return (other) =>
    other.name !== role.name &&
    selectors.some((selector) => selector?.matches(new MapAttributes(other.labels)) === true)
}

/** The selector of an aggregation rule. One that cannot be read gathers nothing; validation lets none through. */
function selectorOf(object: LabelSelectorObject): Selector | undefined {
  try {
    return labelSelectorAsSelector(object)
  } catch (error) {
    if (error instanceof SelectorError) return undefined
    throw error
  }
}

function unique(rules: readonly PolicyRule[]): PolicyRule[] {
  const seen = new Map<string, PolicyRule>()
  for (const rule of rules) {
    const key = JSON.stringify([rule.verbs, rule.apiGroups, rule.resources, rule.resourceNames, rule.nonResourceURLs])
    if (!seen.has(key)) seen.set(key, rule)
  }
  return [...seen.values()]
}

/** The rule as it is stored, without empty lists. */
export function ruleObject(rule: PolicyRule): Record<string, readonly string[]> {
  const fields = Object.entries(rule) as [string, readonly string[]][]
  return Object.fromEntries(fields.filter(([name, list]) => name === 'verbs' || list.length > 0))
}
