/** Thread: pool. Roles and ClusterRoles: what may be done to which resources, or to which paths. */
import { FieldPath, invalid, required } from '../../../api/field-error.js'
import type { LabelSelectorObject } from '../../../api/label-selector-object.js'
import type { KubeObject } from '../../../api/object.js'
import { type Errors, each, type List } from '../../../api/validation/checks.js'
import { labelSelectorErrors } from '../../../api/validation/label-selectors.js'
import { pathSegmentName } from '../../../api/validation/names.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { tableOf, text } from '../../generic/table-rules.js'

interface PolicyRule {
  verbs?: List<string>
  apiGroups?: List<string>
  resources?: List<string>
  resourceNames?: List<string>
  nonResourceURLs?: List<string>
}

interface Role extends KubeObject {
  rules?: List<PolicyRule>
  aggregationRule?: { clusterRoleSelectors?: List<LabelSelectorObject> }
}

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

function aggregationErrors({ aggregationRule }: Role): Errors {
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

const rulesOf = (namespaced: boolean): ResourceRules => ({
  nameRule: pathSegmentName,
  validate: (object) => {
    const role = object as Role
    return [
      ...each(role.rules, FieldPath.of('rules'), (rule, at) => ruleErrors(rule, at, namespaced)),
      ...(namespaced ? [] : aggregationErrors(role)),
    ]
  },
  allowCreateOnUpdate: true,
  table: tableOf(
    text('Created At', 'When the role was made.', (object) => object.metadata?.creationTimestamp ?? null, {
      type: 'date',
    }),
  ),
})

export const roleRules = rulesOf(true)
export const clusterRoleRules = rulesOf(false)
