/** Thread: any. Numbers that may be given as percentages. */

import { type FieldPath, invalid } from '../../../api/field-error.js'
import type { IntOrString } from '../../../api/scalar-types.js'
import { type Errors, nonnegative } from '../../../api/validation/checks.js'

const PERCENT = /^[0-9]+%$/

export function positiveIntOrPercent(value: IntOrString | undefined, path: FieldPath): Errors {
  if (typeof value !== 'string') return nonnegative(value ?? 0, path)
  return PERCENT.test(value) ? [] : [invalid(path, value, "a valid percent string must be a number followed by '%'")]
}

/** A percentage counts as its number; other text as the number it starts as, if it is one. */
export function intOrPercentValue(value: IntOrString | undefined): number {
  if (typeof value !== 'string') return value ?? 0
  if (PERCENT.test(value)) return Number(value.slice(0, -1))
  return /^[+-]?\d+$/.test(value) ? Number(value) : 0
}

export const atMost100Percent = (value: IntOrString | undefined, path: FieldPath): Errors =>
  typeof value === 'string' && PERCENT.test(value) && intOrPercentValue(value) > 100
    ? [invalid(path, value, 'must not be greater than 100%')]
    : []
