/** Thread: pool. VolumeAttributesClasses: a driver and its parameters, which stay what they are. */

import { FieldPath } from '../../../api/field-error.js'
import type { VolumeAttributesClass } from '../../../api/generated/kinds/storage.v1.js'
import { type Errors, immutableForbidden } from '../../../api/validation/checks.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text } from '../../generic/table-rules.js'
import { parametersErrors, provisionerErrors } from '../parameters.js'

const DRIVER = FieldPath.of('driverName')
const PARAMETERS = FieldPath.of('parameters')

function validate(object: VolumeAttributesClass): Errors {
  const { driverName, parameters } = object
  return [...provisionerErrors(driverName, DRIVER), ...parametersErrors(parameters, PARAMETERS, false)]
}

export const volumeAttributesClassRules: ResourceRules<VolumeAttributesClass> = {
  returnDeletedObject: true,
  validate,
  validateUpdate: (object, old) => [
    ...immutableForbidden(object['driverName'], old['driverName'], DRIVER),
    ...immutableForbidden(object['parameters'], old['parameters'], PARAMETERS),
    ...validate(object),
  ],
  table: tableOf<VolumeAttributesClass>(
    text('DriverName', 'The driver that it is for.', ({ driverName }) => driverName ?? ''),
    age(),
  ),
}
