/** Thread: pool. ReplicationControllers: ReplicaSets as they were at first, with a plain map for a selector. */

import { FieldPath, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type { PodTemplateSpec, ReplicationController } from '../../../api/generated/kinds/core.v1.js'
import { labelsAsSelector } from '../../../api/label-selector-object.js'
import { SelectorError } from '../../../api/labels.js'
import { metadataOf } from '../../../api/object.js'
import { MapAttributes } from '../../../api/selector.js'
import { type Errors, nonnegative } from '../../../api/validation/checks.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, labelText, tableOf, text } from '../../generic/table-rules.js'
import { setTemplateDefaults } from '../pod-template/pod-defaults.js'
import { podTemplateErrors } from '../pod-template/pod-validation.js'
import {
  containerColumns,
  createdWorkloadWarnings,
  isNewGeneration,
  replicaColumns,
  replicaStatusErrors,
  statusMetadataErrors,
  templateWarnings,
} from '../pod-template/workload.js'

const SPEC = FieldPath.of('spec')

/** Labels of the template are those of the controller, too, and what it selects by. */
function setDefaults(controller: ReplicationController): void {
  controller.spec ??= {}
  const { spec } = controller
  spec.replicas ??= 1
  if (spec.template === undefined || spec.template === null) return
  setTemplateDefaults(spec.template)
  const labels = spec.template.metadata?.labels
  if (labels === undefined) return
  const metadata = metadataOf(controller)
  if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels }
  if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels }
}

function validate(object: ReplicationController): Errors {
  const { spec = {} } = object
  const { selector = {}, template } = spec
  const at = SPEC.child('template')
  return [
    ...nonnegative(spec.minReadySeconds, SPEC.child('minReadySeconds')),
    ...(Object.keys(selector).length === 0 ? [required(SPEC.child('selector'))] : []),
    ...nonnegative(spec.replicas, SPEC.child('replicas')),
    ...(template === undefined || template === null ? [required(at)] : templateErrors(template, selector, at)),
  ]
}

function templateErrors(template: PodTemplateSpec, selector: Record<string, string>, path: FieldPath): Errors {
  const labels = template.metadata?.labels
  const errors: Errors = []
  if (Object.keys(selector).length > 0 && !selects(selector, labels))
    errors.push(
      invalid(path.child('metadata', 'labels'), labels ?? null, '`selector` does not match template `labels`'),
    )
  errors.push(...podTemplateErrors(template, path))
  const { restartPolicy = '', activeDeadlineSeconds } = template.spec ?? {}
  if (restartPolicy !== 'Always')
    errors.push(notSupported(path.child('spec', 'restartPolicy'), restartPolicy, ['Always']))
  if (activeDeadlineSeconds !== undefined)
    errors.push(forbidden(path.child('spec', 'activeDeadlineSeconds'), 'activeDeadlineSeconds is not supported here'))
  return errors
}

/** A map that could not be a selector is compared as it is. */
function selects(selector: Record<string, string>, labels: Record<string, string> | undefined): boolean {
  try {
    return labelsAsSelector(selector).matches(new MapAttributes(labels))
  } catch (error) {
    if (!(error instanceof SelectorError)) throw error
    return Object.entries(selector).every(([key, value]) => labels?.[key] === value)
  }
}

export const replicationControllerRules: ResourceRules<ReplicationController> = {
  podSpecAt: ['spec', 'template', 'spec'],
  generationFields: ['spec'],
  metadataOnUpdate: 'changes',
  garbageCollection: 'OrphanDependents',
  setDefaults,
  validate,
  warningsOnCreate: createdWorkloadWarnings,
  // As Kubernetes has it: an update is warned of what the stored template holds.
  warningsOnUpdate: (object, old) => (isNewGeneration(object, old) ? templateWarnings(old.spec?.template) : []),
  status: {
    validateUpdate: (object, old) => [...statusMetadataErrors(object, old), ...replicaStatusErrors(object.status)],
  },
  table: tableOf<ReplicationController>(
    ...replicaColumns<ReplicationController>(),
    age(),
    ...containerColumns<ReplicationController>(({ spec }) => spec?.template),
    text('Selector', 'Which pods are its own.', ({ spec }) => labelText(spec?.selector), { priority: 1 }),
  ),
}
