/** Thread: any. Tolerations, gates and the spread over topologies. */

import { duplicate, type FieldPath, invalid, notSupported, required } from '../../../api/field-error.js'
import type { PodSpec, Toleration, TopologySpreadConstraint } from '../../../api/generated/kinds/core.v1.js'
import { type Errors, oneOf, positive, qualifiedName } from '../../../api/validation/checks.js'
import { labelSelectorErrors } from '../../../api/validation/label-selectors.js'
import { isValidLabelValue } from '../../../api/validation/names.js'
import { labelKeysErrors } from './affinity.js'

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const

export function tolerationErrors(tolerations: readonly Toleration[], path: FieldPath): Errors {
  return tolerations.flatMap((toleration, i) => {
    const at = path.index(i)
    const { key = '', operator = '', value = '', effect = '', tolerationSeconds } = toleration
    const errors = key === '' ? [] : qualifiedName(key, at.child('key'))
    if (key === '' && operator !== 'Exists')
      errors.push(invalid(at.child('operator'), operator, 'operator must be Exists when `key` is empty'))
    if (tolerationSeconds !== undefined && effect !== 'NoExecute')
      errors.push(invalid(at.child('effect'), effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"))
    errors.push(...operatorErrors(operator, value, at))
    errors.push(...oneOf(effect, EFFECTS, at.child('effect'), 'allowed'))
    return errors
  })
}

function operatorErrors(operator: string, value: string, path: FieldPath): Errors {
  const at = path.child('operator')
  switch (operator) {
    case 'Equal':
    case '': {
      const reasons = isValidLabelValue(value)
      return reasons.length === 0 ? [] : [invalid(at, value, reasons.join(';'))]
    }
    case 'Exists':
      return value === '' ? [] : [invalid(at, value, "value must be empty when `operator` is 'Exists'")]
    default:
      return [notSupported(at, operator, ['Equal', 'Exists'])]
  }
}

export function gateErrors(spec: PodSpec, path: FieldPath): Errors {
  const seen = new Set<string>()
  return [
    ...(spec.readinessGates ?? []).flatMap(({ conditionType = '' }, i) =>
      qualifiedName(conditionType, path.child('readinessGates').index(i).child('conditionType')),
    ),
    ...(spec.schedulingGates ?? []).flatMap(({ name = '' }, i) => {
      const at = path.child('schedulingGates').index(i)
      const errors = qualifiedName(name, at)
      if (seen.has(name)) errors.push(duplicate(at, name))
      seen.add(name)
      return errors
    }),
  ]
}

export function spreadErrors(constraints: readonly TopologySpreadConstraint[], path: FieldPath): Errors {
  return constraints.flatMap((constraint, i) => {
    const at = path.index(i)
    const { topologyKey = '', whenUnsatisfiable = '', minDomains, matchLabelKeys = [], labelSelector } = constraint
    const errors = positive(constraint.maxSkew, at.child('maxSkew'))
    if (topologyKey === '') errors.push(required(at.child('topologyKey'), 'can not be empty'))
    errors.push(...oneOf(whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway'], at.child('whenUnsatisfiable')))
    if (
      constraints
        .slice(i + 1)
        .some(
          (other) => (other.topologyKey ?? '') === topologyKey && (other.whenUnsatisfiable ?? '') === whenUnsatisfiable,
        )
    )
      errors.push(duplicate(at.child('{topologyKey, whenUnsatisfiable}'), `{${topologyKey}, ${whenUnsatisfiable}}`))
    if (minDomains !== undefined) {
      errors.push(...positive(minDomains, at.child('minDomains')))
      if (whenUnsatisfiable !== 'DoNotSchedule')
        errors.push(
          invalid(at.child('minDomains'), minDomains, 'can only be used if whenUnsatisfiable is DoNotSchedule'),
        )
    }
    for (const field of ['nodeAffinityPolicy', 'nodeTaintsPolicy'] as const)
      if (constraint[field] !== undefined)
        errors.push(...oneOf(constraint[field], ['Ignore', 'Honor'], at.child(field)))
    errors.push(...labelKeysErrors(at, matchLabelKeys, [], labelSelector))
    errors.push(...labelSelectorErrors(labelSelector, at.child('labelSelector')))
    return errors
  })
}
