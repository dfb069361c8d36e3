/** Thread: any. The rules of label selectors, wherever they stand. */
import { type FieldPath, forbidden, invalid, required } from '../field-error.js'
import type { LabelSelectorObject } from '../label-selector-object.js'
import { type Errors, each, labelValue, qualifiedName } from './checks.js'
import { validateLabels } from './object-meta.js'

export interface SelectorRules {
  /** Objects stored before values were checked keep what they have. */
  readonly anyValues?: boolean
}

export function labelSelectorErrors(
  selector: LabelSelectorObject | null | undefined,
  path: FieldPath,
  rules: SelectorRules = {},
): Errors {
  if (selector === undefined || selector === null) return []
  return [
    ...validateLabels(selector.matchLabels as Record<string, string> | undefined, path.child('matchLabels')),
    ...each(selector.matchExpressions, path.child('matchExpressions'), (item, at) =>
      requirementErrors(item, at, rules),
    ),
  ]
}

type Requirement = NonNullable<LabelSelectorObject['matchExpressions']>[number]

function requirementErrors({ key, operator, values }: Requirement, path: FieldPath, rules: SelectorRules): Errors {
  const errors: Errors = []
  const count = values?.length ?? 0
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0) errors.push(required(path.child('values'), 'In and NotIn need values'))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (count > 0) errors.push(forbidden(path.child('values'), 'Exists and DoesNotExist take no values'))
  } else errors.push(invalid(path.child('operator'), operator ?? '', 'not a valid selector operator'))
  errors.push(...qualifiedName(key ?? '', path.child('key')))
  if (rules.anyValues !== true) errors.push(...each(values, path.child('values'), labelValue))
  return errors
}

export const isEmptySelector = (selector: LabelSelectorObject): boolean =>
  Object.keys(selector.matchLabels ?? {}).length === 0 && (selector.matchExpressions ?? []).length === 0
