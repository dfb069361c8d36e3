/** Thread: pool. How parts of a device's capacity may be asked for: among some values, or in steps within a range. */
import { duplicate, type FieldPath, forbidden, invalid, required, tooMany } from '../../../api/field-error.js'
import type { Quantity } from '../../../api/quantity.js'
import { type Errors, each, type List } from '../../../api/validation/checks.js'
import { quantityOf } from '../../../api/validation/quantities.js'

interface ValidRange {
  min?: string | null
  max?: string | null
  step?: string | null
}

export interface Capacity {
  value?: string
  requestPolicy?: { default?: string | null; validValues?: List<string>; validRange?: ValidRange | null } | null
}

const MOST_VALUES = 10
const LARGEST = 2n ** 63n - 1n

export function capacityErrors(
  capacity: Readonly<Record<string, Capacity>> | undefined,
  shared: boolean,
  path: FieldPath,
): Errors {
  return Object.entries(capacity ?? {}).flatMap(([name, { value, requestPolicy }]) => {
    if (!requestPolicy) return []
    const at = path.key(name).child('requestPolicy')
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
  })
}

function valuesErrors(values: readonly string[], usual: string, most: Quantity, path: FieldPath): Errors {
  const amounts = values.map((text) => quantityOf(text))
  const seen = new Set<bigint>()
  const errors = values.flatMap((text, i) =>
    i > 0 && amounts[i - 1]!.compare(amounts[i]!) > 0
      ? [invalid(path.index(i), text, 'values must be in ascending order')]
      : [],
  )
  if (values.length > MOST_VALUES) errors.push(tooMany(path, values.length, MOST_VALUES))
  errors.push(
    ...each(values, path, (text, at, i) => {
      const found: Errors = []
      if (amounts[i]!.compare(most) > 0) found.push(invalid(at, text, `is more than the capacity, ${most}`))
      const key = amounts[i]!.value()
      if (seen.has(key)) found.push(duplicate(at, text))
      seen.add(key)
      return found
    }),
  )
  if (!amounts.some((amount) => amount.compare(quantityOf(usual)) === 0))
    errors.push(invalid(path, usual, 'the default is none of the values'))
  return errors
}

function rangeErrors({ min, max, step }: ValidRange, usual: string, most: Quantity, path: FieldPath): Errors {
  if (min === undefined || min === null) return [required(path.child('min'))]
  const [low, wanted] = [quantityOf(min), quantityOf(usual)]
  const errors: Errors = []
  if (low.compare(most) > 0) errors.push(invalid(path.child('min'), min, `is more than the capacity, ${most}`))
  if (wanted.compare(low) < 0) errors.push(invalid(path.child('default'), usual, `is less than min, ${min}`))
  if (max !== undefined && max !== null) {
    const high = quantityOf(max)
    if (low.compare(high) > 0) errors.push(invalid(path.child('max'), min, `min is more than max, ${max}`))
    if (high.compare(most) > 0) errors.push(invalid(path.child('max'), max, `is more than the capacity, ${most}`))
    if (wanted.compare(high) > 0) errors.push(invalid(path.child('default'), usual, `is more than max, ${max}`))
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
  if (step.sign <= 0) return [invalid(at, given.step, 'must be greater than zero')]
  const errors: Errors =
    low.add(step).compare(most) > 0 ? [invalid(at, given.step, `one step is more than the capacity, ${most}`)] : []
  const outside = Object.entries(given).flatMap(([field, text]) => countErrors(text, path.child(field)))
  if (outside.length > 0) return [...errors, ...outside]
  for (const text of [given.default, given.max]) {
    if (text === undefined || text === null) continue
    if ((quantityOf(text).value() - low.value()) % step.value() !== 0n)
      errors.push(invalid(at, text, `is no whole number of steps of ${given.step} from ${given.min}`))
  }
  return errors
}

function countErrors(text: string | null | undefined, path: FieldPath): Errors {
  if (text === undefined || text === null) return []
  const amount = quantityOf(text)
  if (amount.sign < 0) return [invalid(path, text, 'must be greater than or equal to 0')]
  return amount.value() > LARGEST ? [invalid(path, text, `must not be larger than ${LARGEST}`)] : []
}
