/** Thread: pool. Roles and ClusterRoles: what may be done to which resources, or to which paths. */

import { FieldPath, invalid, required } from '../../../api/field-error.js'
import type { ClusterRole, PolicyRule } from '../../../api/generated/kinds/rbac.v1.js'
import { type Errors, each, type List } from '../../../api/validation/checks.js'
import { labelSelectorErrors } from '../../../api/validation/label-selectors.js'
import { pathSegmentName } from '../../../api/validation/names.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { tableOf, text } from '../../generic/table-rules.js'

const some = (list: List<string>): boolean => (list?.length ?? 0) > 0

function ruleErrors(rule: PolicyRule, path: FieldPath, namespaced: boolean): Errors {
  const errors: Errors = []
  if (!some(rule.verbs)) errors.push(required(path.child('verbs'), 'a rule needs a verb'))
  const urls = path.child('nonResourceURLs')
  if (some(rule.nonResourceURLs)) {
    if (namespaced) errors.push(invalid(urls, rule.nonResourceURLs, 'paths are not in a namespace'))
    if (some(rule.apiGroups) || some(rule.resources) || some(rule.resourceNames))
      errors.push(invalid(urls, rule.nonResourceURLs, 'a rule is for resources or for paths, not both'))
    return errors
  }
  if (!some(rule.apiGroups)) errors.push(required(path.child('apiGroups'), 'a rule for resources needs an API group'))
  if (!some(rule.resources)) errors.push(required(path.child('resources'), 'a rule for resources needs a resource'))
  return errors
}

function aggregationErrors({ aggregationRule }: ClusterRole): Errors {
  if (aggregationRule === undefined || aggregationRule === null) return []
  const path = FieldPath.of('aggregationRule', 'clusterRoleSelectors')
  const selectors = aggregationRule.clusterRoleSelectors ?? []
  if (selectors.length === 0) return [required(path, 'an aggregation rule needs a selector')]
  return each(selectors, path, (selector, at) => {
    const errors = labelSelectorErrors(selector, at)
    // A selector that cannot be evaluated is said once more for itself.
    return errors.length === 0 ? [] : [...errors, invalid(at, selector, 'invalid label selector')]
  })
}

/** A Role is a ClusterRole without aggregation. */
const rulesOf = (namespaced: boolean): ResourceRules<ClusterRole> => ({
  nameRule: pathSegmentName,
  validate: (role) => [
    ...each(role.rules, FieldPath.of('rules'), (rule, at) => ruleErrors(rule, at, namespaced)),
    ...(namespaced ? [] : aggregationErrors(role)),
  ],
  allowCreateOnUpdate: true,
  table: tableOf(
    text('Created At', 'When the role was made.', (object) => object.metadata?.creationTimestamp ?? null, {
      type: 'date',
    }),
  ),
})

export const roleRules = rulesOf(true)
export const clusterRoleRules = rulesOf(false)
