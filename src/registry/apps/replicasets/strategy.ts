/** Thread: pool. ReplicaSets: so many pods of one template. */
import { FieldPath } from '../../../api/field-error.js'
import type { KubeObject } from '../../../api/object.js'
import { type Errors, nonnegative } from '../../../api/validation/checks.js'
import { immutable } from '../../core/pod-template/checks.js'
import { setTemplateDefaults } from '../../core/pod-template/pod-defaults.js'
import { requiredSelectorErrors, selectedTemplateErrors } from '../../core/pod-template/selected-template.js'
import {
  type Counts,
  containerColumns,
  isNewGeneration,
  nameWarnings,
  statusCountErrors,
  statusMetadataErrors,
  templateWarnings,
  type WorkloadSpec,
} from '../../core/pod-template/workload.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { selectorText } from '../../generic/selector-text.js'
import { age, tableOf, text } from '../../generic/table-rules.js'

interface ReplicaSet extends KubeObject {
  spec?: WorkloadSpec
  status?: Counts
}

const SPEC = FieldPath.of('spec')
const INTEGER = { type: 'integer' } as const

function setDefaults(object: KubeObject): void {
  const set = object as ReplicaSet
  set.spec ??= {}
  set.spec.replicas ??= 1
  set.spec.template ??= {}
  setTemplateDefaults(set.spec.template)
}

function validate(object: KubeObject): Errors {
  const { spec = {} } = object as ReplicaSet
  return [
    ...nonnegative(spec.replicas, SPEC.child('replicas')),
    ...nonnegative(spec.minReadySeconds, SPEC.child('minReadySeconds')),
    ...requiredSelectorErrors(spec.selector, SPEC.child('selector')),
    ...selectedTemplateErrors(spec.template, spec.selector, SPEC.child('template')),
  ]
}

/** Also of replication controllers, whose status is the same. */
export const replicaStatusErrors = (status: Counts | undefined): Errors =>
  statusCountErrors(
    status,
    [
      'replicas',
      'fullyLabeledReplicas',
      'readyReplicas',
      'availableReplicas',
      'observedGeneration',
      'terminatingReplicas',
    ],
    [
      ['fullyLabeledReplicas', 'replicas'],
      ['readyReplicas', 'replicas'],
      ['availableReplicas', 'replicas'],
      ['availableReplicas', 'readyReplicas'],
    ],
  )

export const replicaSetRules: ResourceRules = {
  podSpecAt: ['spec', 'template', 'spec'],
  generationFields: ['spec'],
  metadataOnUpdate: 'changes',
  indexedFields: [{ name: 'status.replicas', default: '0' }],
  setDefaults,
  validate,
  validateUpdate: (object, old) => [
    ...validate(object),
    ...immutable((object as ReplicaSet).spec?.selector, (old as ReplicaSet).spec?.selector, SPEC.child('selector')),
  ],
  warningsOnCreate: (object) => [...nameWarnings(object), ...templateWarnings((object as ReplicaSet).spec?.template)],
  warningsOnUpdate: (object, old) =>
    isNewGeneration(object, old) ? templateWarnings((object as ReplicaSet).spec?.template) : [],
  status: {
    validateUpdate: (object, old) => [
      ...statusMetadataErrors(object, old),
      ...replicaStatusErrors((object as ReplicaSet).status),
    ],
  },
  table: tableOf<ReplicaSet>(
    text('Desired', 'How many pods it wants.', ({ spec }) => spec?.replicas ?? 0, INTEGER),
    text('Current', 'How many it has.', ({ status }) => status?.['replicas'] ?? 0, INTEGER),
    text('Ready', 'How many of them are ready.', ({ status }) => status?.['readyReplicas'] ?? 0, INTEGER),
    age(),
    ...containerColumns<ReplicaSet>(({ spec }) => spec?.template),
    text('Selector', 'Which pods are its own.', ({ spec }) => selectorText(spec?.selector), { priority: 1 }),
  ),
}
