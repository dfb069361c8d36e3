/** Thread: any. Node selectors and tolerations: how pods and volumes choose nodes. */

import { duplicate, type FieldPath, forbidden, invalid, notSupported, required } from '../field-error.js'
import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Toleration } from '../generated/kinds/core.v1.js'
import { dnsSubdomain, type Errors, each, type List, labelValue, qualifiedName } from './checks.js'
import { isValidLabelValue } from './names.js'

const BAD_OPERATOR = 'not a valid selector operator'

export function nodeSelectorErrors({ nodeSelectorTerms }: NodeSelector, path: FieldPath, anyValues = false): Errors {
  const terms = path.child('nodeSelectorTerms')
  if ((nodeSelectorTerms?.length ?? 0) === 0) return [required(terms, 'must have at least one node selector term')]
  return each(nodeSelectorTerms, terms, (term, at) => nodeSelectorTermErrors(term, at, anyValues))
}

export const nodeSelectorTermErrors = (term: NodeSelectorTerm, path: FieldPath, anyValues = false): Errors => [
  ...each(term.matchExpressions, path.child('matchExpressions'), (item, at) => expressionErrors(item, at, anyValues)),
  ...each(term.matchFields, path.child('matchFields'), fieldErrors),
]

function expressionErrors(
  { key = '', operator = '', values }: NodeSelectorRequirement,
  at: FieldPath,
  any: boolean,
): Errors {
  const errors: Errors = []
  const count = values?.length ?? 0
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0) errors.push(required(at.child('values')))
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (count > 0) errors.push(forbidden(at.child('values'), 'Exists and DoesNotExist take no values'))
  } else if (operator === 'Gt' || operator === 'Lt') {
    if (count !== 1) errors.push(required(at.child('values'), 'Gt and Lt take a single value'))
  } else errors.push(invalid(at.child('operator'), operator, BAD_OPERATOR))
  if (!any) errors.push(...each(values, at.child('values'), labelValue))
  return [...errors, ...qualifiedName(key, at.child('key'))]
}

function fieldErrors({ key = '', operator = '', values }: NodeSelectorRequirement, at: FieldPath): Errors {
  const errors: Errors = []
  if (operator === 'In' || operator === 'NotIn') {
    if ((values?.length ?? 0) !== 1) errors.push(required(at.child('values'), 'must be only one value'))
  } else errors.push(invalid(at.child('operator'), operator, BAD_OPERATOR))
  if (key === 'metadata.name') errors.push(...each(values, at.child('values'), dnsSubdomain))
  else errors.push(invalid(at.child('key'), key, 'not a valid field selector key'))
  return errors
}

export const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute']

export function tolerationErrors(tolerations: List<Toleration>, path: FieldPath): Errors {
  return each(tolerations, path, ({ key = '', operator = '', value = '', effect = '', tolerationSeconds }, at) => {
    const errors = key === '' ? [] : qualifiedName(key, at.child('key'))
    if (key === '' && operator !== 'Exists')
      errors.push(invalid(at.child('operator'), operator, 'must be Exists when `key` is empty'))
    if (tolerationSeconds !== undefined && effect !== 'NoExecute')
      errors.push(invalid(at.child('effect'), effect, "must be 'NoExecute' when `tolerationSeconds` is set"))
    if (operator === '' || operator === 'Equal') {
      const reasons = isValidLabelValue(value)
      if (reasons.length > 0) errors.push(invalid(at.child('operator'), value, reasons.join(';')))
    } else if (operator === 'Exists') {
      if (value !== '') errors.push(invalid(at.child('operator'), value, "must be empty when `operator` is 'Exists'"))
    } else errors.push(notSupported(at.child('operator'), operator, ['Equal', 'Exists']))
    if (effect !== '' && !TAINT_EFFECTS.includes(effect))
      errors.push(notSupported(at.child('effect'), effect, TAINT_EFFECTS))
    return errors
  })
}

/** Two of the same key, operator, value and effect. */
export function duplicateTolerations(tolerations: List<Toleration>, path: FieldPath): Errors {
  const seen = new Set<string>()
  return each(tolerations, path, (toleration, at) => {
    const { key = '', operator = '', value = '', effect = '' } = toleration
    const id = JSON.stringify([key, operator, value, effect])
    if (seen.has(id)) return [duplicate(at, toleration)]
    seen.add(id)
    return []
  })
}
