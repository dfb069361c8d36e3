/** Thread: pool. Names of drivers and the parameters given to them, as classes of storage have them. */
import { type FieldPath, invalid, required, tooLong } from '../../api/field-error.js'
import { because, type Errors, maxBytes, qualifiedName, requiredBy } from '../../api/validation/checks.js'
import { isDns1123Subdomain } from '../../api/validation/names.js'

const MAX_COUNT = 512
const MAX_BYTES = 256 * 1024

/** As provisioners are named: a qualified name, in any case. */
export const provisionerErrors = (name: string | undefined, path: FieldPath): Errors =>
  requiredBy(name, path, (value, at) => qualifiedName(value.toLowerCase(), at))

/** As CSI drivers are named: a short DNS subdomain, in any case. */
export const driverNameErrors = (name: string | undefined, path: FieldPath): Errors =>
  requiredBy(name, path, (value, at) => [
    ...maxBytes(value, at, 63),
    ...because(isDns1123Subdomain(value.toLowerCase()), at, value),
  ])

export function parametersErrors(
  parameters: Readonly<Record<string, string>> | null | undefined,
  path: FieldPath,
  mayBeEmpty: boolean,
): Errors {
  const entries = Object.entries(parameters ?? {})
  if (entries.length > MAX_COUNT) return [tooLong(path, MAX_COUNT)]
  const errors: Errors = []
  if (entries.some(([key]) => key === '')) errors.push(invalid(path, '', 'field can not be empty'))
  const size = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value ?? ''), 0)
  if (size > MAX_BYTES) errors.push(tooLong(path, MAX_BYTES))
  if (!mayBeEmpty && entries.length === 0) errors.push(required(path, 'must contain at least one key/value pair'))
  return errors
}
