/** Thread: any. The rules of conditions in a status. */

import { duplicate, type FieldPath, invalid, required } from '../field-error.js'
import type { Condition } from '../generated/kinds/meta.v1.js'
import { type Errors, each, type List, maxBytes, nonnegative, oneOf, qualifiedName } from './checks.js'

const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/

export function conditionErrors(conditions: List<Condition>, path: FieldPath): Errors {
  const seen = new Set<string>()
  return each(conditions, path, (condition, at) => {
    const { type = '', reason = '' } = condition
    const errors = seen.has(type) ? [duplicate(at.child('type'), type)] : []
    seen.add(type)
    errors.push(
      ...qualifiedName(type, at.child('type')),
      ...oneOf(condition.status, ['True', 'False', 'Unknown'], at.child('status')),
      ...nonnegative(condition.observedGeneration, at.child('observedGeneration')),
    )
    if (!condition.lastTransitionTime) errors.push(required(at.child('lastTransitionTime'), 'must be set'))
    if (reason === '') errors.push(required(at.child('reason'), 'must be set'))
    else if (!REASON.test(reason)) errors.push(invalid(at.child('reason'), reason, 'must be a CamelCase identifier'))
    return [
      ...errors,
      ...maxBytes(reason, at.child('reason'), 1024),
      ...maxBytes(condition.message, at.child('message'), 32768),
    ]
  })
}
