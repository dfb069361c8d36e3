/** Thread: pool. Deployments: a template, how many of it, and how to get from one to the next. */

import { FieldPath, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type { Deployment, DeploymentStrategy } from '../../../api/generated/kinds/apps.v1.js'
import { metadataOf, nextGeneration } from '../../../api/object.js'
import { type Errors, nonnegative } from '../../../api/validation/checks.js'
import { equalButEmptyLists, immutableButEmptyLists } from '../../core/pod-template/checks.js'
import { atMost100Percent, intOrPercentValue, positiveIntOrPercent } from '../../core/pod-template/int-or-percent.js'
import { setTemplateDefaults } from '../../core/pod-template/pod-defaults.js'
import { requiredSelectorErrors, selectedTemplateErrors } from '../../core/pod-template/selected-template.js'
import {
  changedTemplateWarnings,
  collisionCountErrors,
  containerColumns,
  createdWorkloadWarnings,
  statusCountErrors,
  statusMetadataErrors,
} from '../../core/pod-template/workload.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { selectorText } from '../../generic/selector-text.js'
import { age, tableOf, text } from '../../generic/table-rules.js'

const SPEC = FieldPath.of('spec')

function setDefaults(deployment: Deployment): void {
  deployment.spec ??= {}
  const { spec } = deployment
  spec.replicas ??= 1
  spec.template ??= {}
  setTemplateDefaults(spec.template)
  spec.strategy ??= {}
  spec.strategy.type ||= 'RollingUpdate'
  if (spec.strategy.type === 'RollingUpdate') {
    spec.strategy.rollingUpdate ??= {}
    spec.strategy.rollingUpdate.maxUnavailable ??= '25%'
    spec.strategy.rollingUpdate.maxSurge ??= '25%'
  }
  spec.revisionHistoryLimit ??= 10
  spec.progressDeadlineSeconds ??= 600
}

function validate(object: Deployment): Errors {
  const { spec = {} } = object
  const errors = [
    ...nonnegative(spec.replicas, SPEC.child('replicas')),
    ...requiredSelectorErrors(spec.selector, SPEC.child('selector')),
    ...selectedTemplateErrors(spec.template, spec.selector, SPEC.child('template')),
    ...strategyErrors(spec.strategy ?? {}, SPEC.child('strategy')),
    ...nonnegative(spec.minReadySeconds, SPEC.child('minReadySeconds')),
    ...nonnegative(spec.revisionHistoryLimit, SPEC.child('revisionHistoryLimit')),
  ]
  const deadline = spec.progressDeadlineSeconds
  if (deadline !== undefined) {
    const at = SPEC.child('progressDeadlineSeconds')
    errors.push(...nonnegative(deadline, at))
    if (deadline <= (spec.minReadySeconds ?? 0))
      errors.push(invalid(at, deadline, 'must be greater than minReadySeconds'))
  }
  return errors
}

function strategyErrors(strategy: DeploymentStrategy, path: FieldPath): Errors {
  const { type, rollingUpdate } = strategy
  const at = path.child('rollingUpdate')
  if (type === 'Recreate')
    return rollingUpdate === undefined ? [] : [forbidden(at, "may not be specified when strategy `type` is 'Recreate'")]
  if (type !== 'RollingUpdate') return [notSupported(path, strategy, ['Recreate', 'RollingUpdate'])]
  if (rollingUpdate === undefined) return [required(at)]
  const { maxUnavailable, maxSurge } = rollingUpdate
  const none = intOrPercentValue(maxUnavailable) === 0 && intOrPercentValue(maxSurge) === 0
  return [
    ...positiveIntOrPercent(maxUnavailable, at.child('maxUnavailable')),
    ...positiveIntOrPercent(maxSurge, at.child('maxSurge')),
    ...(none ? [invalid(at.child('maxUnavailable'), maxUnavailable, 'may not be 0 when `maxSurge` is 0')] : []),
    ...atMost100Percent(maxUnavailable, at.child('maxUnavailable')),
  ]
}

/** Annotations take part in the desired state: revisions carry them along. */
function prepareForUpdate(object: Deployment, old: Deployment): void {
  if (!equalButEmptyLists(object.metadata?.annotations ?? {}, old.metadata?.annotations ?? {}))
    metadataOf(object).generation = nextGeneration(metadataOf(old))
}

function validateStatus(object: Deployment, old: Deployment): Errors {
  const [status, before] = [object.status, old.status]
  return [
    ...statusMetadataErrors(object, old),
    ...statusCountErrors(
      status,
      [
        'observedGeneration',
        'replicas',
        'updatedReplicas',
        'readyReplicas',
        'availableReplicas',
        'unavailableReplicas',
        'terminatingReplicas',
        'collisionCount',
      ],
      [
        ['updatedReplicas', 'replicas'],
        ['readyReplicas', 'replicas'],
        ['availableReplicas', 'replicas'],
        ['availableReplicas', 'readyReplicas'],
      ],
    ),
    ...collisionCountErrors(status, before),
  ]
}

export const deploymentRules: ResourceRules<Deployment> = {
  podSpecAt: ['spec', 'template', 'spec'],
  generationFields: ['spec'],
  metadataOnUpdate: 'changes',
  setDefaults,
  prepareForUpdate,
  validate,
  validateUpdate: (object, old) => [
    ...validate(object),
    ...immutableButEmptyLists(object.spec?.selector, old.spec?.selector, SPEC.child('selector')),
  ],
  warningsOnCreate: createdWorkloadWarnings,
  warningsOnUpdate: changedTemplateWarnings,
  status: {
    resetFields: [['spec'], ['metadata', 'labels']],
    prepareForUpdate: (object, old) => {
      if (old.metadata?.labels === undefined) delete metadataOf(object).labels
      else metadataOf(object).labels = old.metadata.labels
    },
    validateUpdate: validateStatus,
  },
  table: tableOf<Deployment>(
    text(
      'Ready',
      'Ready pods, of those wanted.',
      ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
    ),
    text('Up-to-date', 'Pods made from the newest template.', ({ status }) => status?.updatedReplicas ?? 0),
    text('Available', 'Pods that have been ready for long enough.', ({ status }) => status?.availableReplicas ?? 0),
    age(),
    ...containerColumns<Deployment>(({ spec }) => spec?.template),
    text('Selector', 'Which pods are its own.', ({ spec }) => selectorText(spec?.selector), { priority: 1 }),
  ),
}
