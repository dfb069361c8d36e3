/** Thread: pool. PriorityClasses: a number by a name. Those of the system are fixed. */

import { FieldPath, forbidden } from '../../../api/field-error.js'
import type { PriorityClass } from '../../../api/generated/kinds/scheduling.v1.js'
import { type Errors, immutable, oneOf } from '../../../api/validation/checks.js'
import { lookupTable } from '../../../lib/lookup-table.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text } from '../../generic/table-rules.js'

const HIGHEST_USER_PRIORITY = 1_000_000_000
export const SYSTEM_PRIORITIES: Readonly<Record<string, number>> = lookupTable({
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
})

function validate(object: PriorityClass): Errors {
  const { metadata, value = 0, globalDefault = false, preemptionPolicy } = object
  const name = metadata?.name ?? ''
  const errors: Errors = []
  if (name.startsWith('system-')) {
    const known = Object.hasOwn(SYSTEM_PRIORITIES, name) && SYSTEM_PRIORITIES[name] === value && !globalDefault
    if (!known)
      errors.push(forbidden(FieldPath.of('metadata', 'name'), "names that start with 'system-' are the system's"))
  } else if (value > HIGHEST_USER_PRIORITY)
    errors.push(forbidden(FieldPath.of('value'), `must not be greater than ${HIGHEST_USER_PRIORITY}`))
  if (preemptionPolicy !== undefined)
    errors.push(
      ...oneOf(preemptionPolicy, ['PreemptLowerPriority', 'Never'], FieldPath.of('preemptionPolicy'), 'required'),
    )
  return errors
}

export const priorityClassRules: ResourceRules<PriorityClass> = {
  generationFields: [],
  metadataOnUpdate: 'changes',
  undeletable: Object.keys(SYSTEM_PRIORITIES),
  setDefaults: (object) => {
    object.preemptionPolicy ??= 'PreemptLowerPriority'
  },
  validate,
  validateUpdate: (object, old) => [
    ...(object.value === old.value ? [] : [forbidden(FieldPath.of('value'), 'may not be changed in an update')]),
    ...immutable(object['preemptionPolicy'], old['preemptionPolicy'], FieldPath.of('preemptionPolicy')),
  ],
  table: tableOf<PriorityClass>(
    text('Value', 'The priority of its pods.', ({ value }) => value ?? 0, { type: 'integer' }),
    text('Global-Default', 'Whether it is for pods that name none.', ({ globalDefault }) => globalDefault ?? false, {
      type: 'boolean',
    }),
    age(),
    text('PreemptionPolicy', 'Whether its pods push others away.', ({ preemptionPolicy }) => preemptionPolicy ?? ''),
  ),
}
