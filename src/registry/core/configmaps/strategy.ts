/** Thread: pool. ConfigMaps: plain data under well-formed keys. */

import { type FieldError, FieldPath, invalid, tooLong } from '../../../api/field-error.js'
import type { ConfigMap } from '../../../api/generated/kinds/core.v1.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { AGE_COLUMN, ageOf, NAME_COLUMN } from '../../generic/table-columns.js'
import { base64Bytes, immutableErrors, keyErrors, MAX_DATA_BYTES } from '../config-data.js'

function validate(object: ConfigMap): FieldError[] {
  const { data = {}, binaryData = {} } = object
  const errors: FieldError[] = []
  let size = 0
  for (const [key, value] of Object.entries(data)) {
    errors.push(...keyErrors('data', key))
    if (Object.hasOwn(binaryData, key))
      errors.push(invalid(FieldPath.of('data').key(key), key, 'duplicate of key present in binaryData'))
    size += Buffer.byteLength(value)
  }
  for (const [key, value] of Object.entries(binaryData)) {
    errors.push(...keyErrors('binaryData', key))
    size += base64Bytes(value)
  }
  // The whole object is too long, not one field of it.
  if (size > MAX_DATA_BYTES) errors.push(tooLong(FieldPath.of('[]'), MAX_DATA_BYTES))
  return errors
}

export const configMapRules: ResourceRules<ConfigMap> = {
  validate,
  validateUpdate: (object, old) => [...immutableErrors(object, old, ['data', 'binaryData']), ...validate(object)],
  table: {
    columns: [NAME_COLUMN, { name: 'Data', type: 'string', description: 'How many keys it holds.' }, AGE_COLUMN],
    cells: (object, nowMs) => {
      const { data = {}, binaryData = {} } = object
      return [
        object.metadata?.name ?? '',
        Object.keys(data).length + Object.keys(binaryData).length,
        ageOf(object, nowMs),
      ]
    },
  },
}
