/** Thread: pool. Which requests a webhook or a policy is for. */

import { BOOL } from '../../api/cel/types.js'
import { duplicate, type FieldPath, invalid, notSupported, required, tooMany } from '../../api/field-error.js'
import type {
  MatchCondition,
  MatchResources,
  NamedRuleWithOperations,
} from '../../api/generated/kinds/admissionregistration.v1.js'
import { type Errors, each, type List, pathSegment, qualifiedName, requiredBy } from '../../api/validation/checks.js'
import { labelSelectorErrors } from '../../api/validation/label-selectors.js'
import { CheckedExpressions } from './expression-errors.js'

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE']
const MUTATING_OPERATIONS = ['*', 'CONNECT', 'CREATE', 'UPDATE']
const SCOPES = ['*', 'Cluster', 'Namespaced']
const MAX_CONDITIONS = 64

export const choice = (value: string | null | undefined, values: readonly string[], path: FieldPath): Errors =>
  value === undefined || value === null || values.includes(value) ? [] : [notSupported(path, value, values)]

export const defaultRule = (rule: NamedRuleWithOperations): void => {
  rule.scope ??= '*'
}

export function defaultMatchResources(match: MatchResources): void {
  match.matchPolicy ??= 'Equivalent'
  match.namespaceSelector ??= {}
  match.objectSelector ??= {}
  for (const rule of [...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])]) defaultRule(rule)
}

/** At least one, and nothing beside a star. */
function starList(list: List<string>, path: FieldPath): Errors {
  if ((list?.length ?? 0) === 0) return [required(path)]
  return list!.length > 1 && list!.includes('*')
    ? [invalid(path, list, "if '*' is present, there must be nothing else")]
    : []
}

const noEmpty = (list: List<string>, path: FieldPath): Errors =>
  each(list, path, (value, at) => (value === '' ? [required(at)] : []))

function resourceErrors(resources: List<string>, path: FieldPath): Errors {
  if ((resources?.length ?? 0) === 0) return [required(path)]
  const given = resources!
  const [wholes, parts] = [new Set<string>(), new Set<string>()]
  const errors = each(given, path, (name, at) => {
    if (name === '') return [required(at)]
    const slash = name.indexOf('/')
    if (slash < 0) return []
    const [resource, subresource] = [name.slice(0, slash), name.slice(slash + 1)]
    const covered = [wholes.has(resource), parts.has(subresource)].filter(Boolean)
    if (subresource === '*') wholes.add(resource)
    if (resource === '*') parts.add(subresource)
    return covered.map(() => invalid(at, name, 'is covered by an entry with a star'))
  })
  if (given.length > 1 && given.includes('*/*'))
    errors.push(invalid(path, given, "if '*/*' is present, there must be nothing else"))
  if (given.includes('*') && given.some((name) => name !== '*' && name !== '' && !name.includes('/')))
    errors.push(invalid(path, given, "if '*' is present, there must be no other resources without subresources"))
  return errors
}

export function ruleErrors(rule: NamedRuleWithOperations, at: FieldPath): Errors {
  const names = new Set<string>()
  return [
    ...starList(rule.operations, at.child('operations')),
    ...each(rule.operations, at.child('operations'), (operation, path) => choice(operation, OPERATIONS, path)),
    ...starList(rule.apiGroups, at.child('apiGroups')),
    ...starList(rule.apiVersions, at.child('apiVersions')),
    ...noEmpty(rule.apiVersions, at.child('apiVersions')),
    ...resourceErrors(rule.resources, at.child('resources')),
    ...choice(rule.scope, SCOPES, at.child('scope')),
    ...each(rule.resourceNames, at.child('resourceNames'), (name, path) => {
      const doubled = names.has(name) ? [duplicate(path, name)] : []
      names.add(name)
      return [...pathSegment(name, path), ...doubled]
    }),
  ]
}

/** Conditions see no variables. Expressions among `stored` are stored already. */
export function conditionErrors(
  conditions: List<MatchCondition>,
  path: FieldPath,
  { params = false, stored }: { readonly params?: boolean; readonly stored?: List<MatchCondition> } = {},
): Errors {
  const known = new Set((stored ?? []).map(({ expression = '' }) => expression))
  const expressions = new CheckedExpressions({ params, authorizer: true }, known)
  const names = new Set<string>()
  const count = conditions?.length ?? 0
  return [
    ...(count > MAX_CONDITIONS ? [tooMany(path, count, MAX_CONDITIONS)] : []),
    ...each(conditions, path, ({ name = '', expression = '' }, at) => {
      const doubled = name !== '' && names.has(name) ? [duplicate(at.child('name'), name)] : []
      names.add(name)
      return [
        ...(expression.trim() === ''
          ? [required(at.child('expression'))]
          : expressions.errors(expression.trim(), at.child('expression'), [BOOL])),
        ...requiredBy(name, at.child('name'), qualifiedName),
        ...doubled,
      ]
    }),
  ]
}

export function matchResourcesErrors(match: MatchResources, path: FieldPath, mutating: boolean): Errors {
  const rules = path.child('resourceRules')
  const wrong = mutating
    ? (match.resourceRules ?? []).flatMap(({ operations }) =>
        (operations ?? []).flatMap((operation) => choice(operation, MUTATING_OPERATIONS, rules.child('operations'))),
      )
    : []
  return [
    ...choice(match.matchPolicy, ['Equivalent', 'Exact'], path.child('matchPolicy')),
    ...labelSelectorErrors(match.namespaceSelector, path.child('namespaceSelector')),
    ...labelSelectorErrors(match.objectSelector, path.child('objectSelector')),
    ...each(match.resourceRules, rules, ruleErrors),
    ...wrong,
    ...each(match.excludeResourceRules, path.child('excludeResourceRules'), ruleErrors),
  ]
}
