/** Thread: pool. DeviceClasses: which devices are of a kind, and how they are set up. */

import { FieldPath, invalid } from '../../../api/field-error.js'
import type { DeviceClass } from '../../../api/generated/kinds/resource.v1.js'
import { type Errors, sameValue } from '../../../api/validation/checks.js'
import { isExtendedResource } from '../../../api/validation/quantities.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf } from '../../generic/table-rules.js'
import { configurationErrors, eachOfAtMost, MOST_CONFIGURATIONS } from '../device-parts.js'
import { selectorErrors } from '../device-selectors.js'

const SPEC = FieldPath.of('spec')

/** What was accepted before may stay. */
function errorsOf({ spec = {} }: DeviceClass, old?: DeviceClass): Errors {
  const before = old?.spec
  const name = spec.extendedResourceName
  const kept = before !== undefined && sameValue(spec.selectors, before.selectors)
  return [
    ...(kept ? [] : selectorErrors(spec.selectors, SPEC.child('selectors'))),
    ...eachOfAtMost(MOST_CONFIGURATIONS, spec.config, SPEC.child('config'), configurationErrors),
    ...(name === undefined || isExtendedResource(name)
      ? []
      : [invalid(SPEC.child('extendedResourceName'), name, 'must be a valid extended resource name')]),
  ]
}

export const deviceClassRules: ResourceRules<DeviceClass> = {
  returnDeletedObject: true,
  generationFields: ['spec'],
  validate: (object) => errorsOf(object),
  validateUpdate: errorsOf,
  table: tableOf<DeviceClass>(age()),
}
