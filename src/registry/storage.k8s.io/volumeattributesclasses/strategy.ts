/** Thread: pool. VolumeAttributesClasses: a driver and its parameters, which stay what they are. */
import { FieldPath } from '../../../api/field-error.js'
import type { KubeObject } from '../../../api/object.js'
import { type Errors, immutableForbidden } from '../../../api/validation/checks.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text } from '../../generic/table-rules.js'
import { parametersErrors, provisionerErrors } from '../parameters.js'

interface VolumeAttributesClass extends KubeObject {
  driverName?: string
  parameters?: Record<string, string>
}

const DRIVER = FieldPath.of('driverName')
const PARAMETERS = FieldPath.of('parameters')

function validate(object: KubeObject): Errors {
  const { driverName, parameters } = object as VolumeAttributesClass
  return [...provisionerErrors(driverName, DRIVER), ...parametersErrors(parameters, PARAMETERS, false)]
}

export const volumeAttributesClassRules: ResourceRules = {
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
