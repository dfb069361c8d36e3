/** Thread: pool. DeviceClasses: which devices are of a kind, and how they are set up. */
import { FieldPath, invalid } from '../../../api/field-error.js'
import type { KubeObject } from '../../../api/object.js'
import { type Errors, type List, sameValue } from '../../../api/validation/checks.js'
import { isExtendedResource } from '../../../api/validation/quantities.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf } from '../../generic/table-rules.js'
import {
  type Configuration,
  configurationErrors,
  eachOfAtMost,
  MOST_CONFIGURATIONS,
  type Selector,
  selectorErrors,
} from '../device-parts.js'

interface DeviceClass extends KubeObject {
  spec?: { selectors?: List<Selector>; config?: List<Configuration>; extendedResourceName?: string }
}

const SPEC = FieldPath.of('spec')

/** What was accepted before may stay. */
function errorsOf(object: KubeObject, old?: KubeObject): Errors {
  const { spec = {} } = object as DeviceClass
  const before = (old as DeviceClass | undefined)?.spec
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

export const deviceClassRules: ResourceRules = {
  returnDeletedObject: true,
  generationFields: ['spec'],
  validate: (object) => errorsOf(object),
  validateUpdate: errorsOf,
  table: tableOf<DeviceClass>(age()),
}
