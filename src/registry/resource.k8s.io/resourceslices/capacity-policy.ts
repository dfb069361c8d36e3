/** Thread: pool. How parts of a device's capacity may be asked for: among some values, or in steps within a range. */

import { type FieldPath, forbidden, invalid, required } from '../../../api/field-error.js'
import type { CapacityRequestPolicyRange, DeviceCapacity } from '../../../api/generated/kinds/resource.v1.js'
import type { Quantity } from '../../../api/quantity.js'
import type { Errors } from '../../../api/validation/checks.js'
import { quantityOf } from '../../../api/validation/quantities.js'
import { eachOnce } from '../device-parts.js'

const MOST_VALUES = 10

export function capacityErrors(capacity: DeviceCapacity | null, shared: boolean, path: FieldPath): Errors {
  const { value, requestPolicy } = capacity ?? {}
  if (!requestPolicy) return []
  const at = path.child('requestPolicy')
  if (!shared) return [forbidden(at, 'allowMultipleAllocations must be true')]
  const { default: usual, validValues, validRange } = requestPolicy
  const listed = (validValues?.length ?? 0) > 0
  if (listed && validRange) return [forbidden(at, 'there can be validValues or a validRange, not both')]
  if (!listed && !validRange) return []
  if (usual === undefined || usual === null)
    return [required(at.child('default'), `needed beside ${listed ? 'validValues' : 'validRange'}`)]
  return listed
    ? valuesErrors(validValues!, usual, quantityOf(value), at.child('validValues'))
    : rangeErrors(validRange!, usual, quantityOf(value), at.child('validRange'))
}

function valuesErrors(values: readonly string[], usual: string, most: Quantity, path: FieldPath): Errors {
  const amounts = values.map((text) => quantityOf(text))
  const errors = values.flatMap((text, i) =>
    i > 0 && amounts[i - 1]!.compare(amounts[i]!) > 0
      ? [invalid(path.index(i), text, 'values must be in ascending order')]
      : [],
  )
  const check = (text: string, at: FieldPath): Errors =>
    quantityOf(text).compare(most) > 0 ? [invalid(at, text, `is more than the capacity, ${most}`)] : []
  errors.push(...eachOnce(MOST_VALUES, values, path, check, (text) => String(quantityOf(text).value())))
  // Too many are not looked at, and so the default is not found among them.
  const looked = values.length > MOST_VALUES ? [] : amounts
  if (!looked.some((amount) => amount.compare(quantityOf(usual)) === 0))
    errors.push(invalid(path, usual, 'the default is none of the values'))
  return errors
}

function rangeErrors(
  { min, max, step }: CapacityRequestPolicyRange,
  usual: string,
  most: Quantity,
  path: FieldPath,
): Errors {
  if (min === undefined || min === null) return [required(path.child('min'))]
  const [low, wanted] = [quantityOf(min), quantityOf(usual)]
  const errors: Errors = []
  if (low.compare(most) > 0) errors.push(invalid(path.child('min'), min, `is more than the capacity, ${most}`))
  if (wanted.compare(low) < 0) errors.push(invalid(path.child('min'), usual, `the default is less than min, ${min}`))
  if (max !== undefined && max !== null) {
    const high = quantityOf(max)
    if (low.compare(high) > 0) errors.push(invalid(path.child('max'), min, `min is more than max, ${max}`))
    if (high.compare(most) > 0) errors.push(invalid(path.child('max'), max, `is more than the capacity, ${most}`))
    if (wanted.compare(high) > 0) errors.push(invalid(path.child('max'), usual, `the default is more than max, ${max}`))
  }
  return step === undefined || step === null
    ? errors
    : [...errors, ...stepErrors({ default: usual, min, max, step }, most, path)]
}

function stepErrors(
  given: { default: string; min: string; max: string | null | undefined; step: string },
  most: Quantity,
  path: FieldPath,
): Errors {
  const at = path.child('step')
  const [step, low] = [quantityOf(given.step), quantityOf(given.min)]
  if (step.value() === 0n) return [invalid(at, given.step, 'must not be zero')]
  const errors: Errors =
    low.add(step).compare(most) > 0 ? [invalid(at, given.step, `one step is more than the capacity, ${most}`)] : []
  for (const text of [given.default, given.max]) {
    if (text === undefined || text === null) continue
    if ((quantityOf(text).value() - low.value()) % step.value() !== 0n)
      errors.push(invalid(at, text, `is no whole number of steps of ${given.step} from ${given.min}`))
  }
  return errors
}
