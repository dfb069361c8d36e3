/** Thread: pool. ReplicaSets: so many pods of one template. */

import { FieldPath } from '../../../api/field-error.js'
import type { ReplicaSet } from '../../../api/generated/kinds/apps.v1.js'
import { type Errors, nonnegative } from '../../../api/validation/checks.js'
import { immutableButEmptyLists } from '../../core/pod-template/checks.js'
import { setTemplateDefaults } from '../../core/pod-template/pod-defaults.js'
import { requiredSelectorErrors, selectedTemplateErrors } from '../../core/pod-template/selected-template.js'
import {
  changedTemplateWarnings,
  containerColumns,
  createdWorkloadWarnings,
  replicaColumns,
  replicaStatusErrors,
  statusMetadataErrors,
} from '../../core/pod-template/workload.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { selectorText } from '../../generic/selector-text.js'
import { age, tableOf, text } from '../../generic/table-rules.js'

const SPEC = FieldPath.of('spec')

function setDefaults(set: ReplicaSet): void {
  set.spec ??= {}
  set.spec.replicas ??= 1
  set.spec.template ??= {}
  setTemplateDefaults(set.spec.template)
}

function validate(object: ReplicaSet): Errors {
  const { spec = {} } = object
  return [
    ...nonnegative(spec.replicas, SPEC.child('replicas')),
    ...nonnegative(spec.minReadySeconds, SPEC.child('minReadySeconds')),
    ...requiredSelectorErrors(spec.selector, SPEC.child('selector')),
    ...selectedTemplateErrors(spec.template, spec.selector, SPEC.child('template')),
  ]
}

export const replicaSetRules: ResourceRules<ReplicaSet> = {
  podSpecAt: ['spec', 'template', 'spec'],
  generationFields: ['spec'],
  metadataOnUpdate: 'changes',
  setDefaults,
  validate,
  validateUpdate: (object, old) => [
    ...validate(object),
    ...immutableButEmptyLists(object.spec?.selector, old.spec?.selector, SPEC.child('selector')),
  ],
  warningsOnCreate: createdWorkloadWarnings,
  warningsOnUpdate: changedTemplateWarnings,
  status: {
    validateUpdate: (object, old) => [...statusMetadataErrors(object, old), ...replicaStatusErrors(object.status)],
  },
  table: tableOf<ReplicaSet>(
    ...replicaColumns<ReplicaSet>(),
    age(),
    ...containerColumns<ReplicaSet>(({ spec }) => spec?.template),
    text('Selector', 'Which pods are its own.', ({ spec }) => selectorText(spec?.selector), { priority: 1 }),
  ),
}
