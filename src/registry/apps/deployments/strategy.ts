/** Thread: pool. Deployments: a template, how many of it, and how to get from one to the next. */
import { FieldPath, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import { type KubeObject, metadataOf } from '../../../api/object.js'
import { type Errors, nonnegative } from '../../../api/validation/checks.js'
import { immutable, sameValue } from '../../core/pod-template/checks.js'
import { atMost100Percent, intOrPercentValue, positiveIntOrPercent } from '../../core/pod-template/int-or-percent.js'
import { setTemplateDefaults } from '../../core/pod-template/pod-defaults.js'
import type { IntOrString } from '../../core/pod-template/pod-spec.js'
import { requiredSelectorErrors, selectedTemplateErrors } from '../../core/pod-template/selected-template.js'
import {
  type Counts,
  collisionCountErrors,
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

interface Deployment extends KubeObject {
  spec?: WorkloadSpec & {
    strategy?: { type?: string; rollingUpdate?: { maxUnavailable?: IntOrString; maxSurge?: IntOrString } }
    progressDeadlineSeconds?: number
  }
  status?: Counts
}

const SPEC = FieldPath.of('spec')

function setDefaults(object: KubeObject): void {
  const deployment = object as Deployment
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

function validate(object: KubeObject): Errors {
  const { spec = {} } = object as Deployment
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

function strategyErrors(strategy: NonNullable<NonNullable<Deployment['spec']>['strategy']>, path: FieldPath): Errors {
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
function prepareForUpdate(object: KubeObject, old: KubeObject): void {
  if (!sameValue(object.metadata?.annotations ?? {}, old.metadata?.annotations ?? {}))
    metadataOf(object).generation = (old.metadata?.generation ?? 0) + 1
}

function validateStatus(object: KubeObject, old: KubeObject): Errors {
  const [status, before] = [(object as Deployment).status, (old as Deployment).status]
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

export const deploymentRules: ResourceRules = {
  podSpecAt: ['spec', 'template', 'spec'],
  generationFields: ['spec'],
  metadataOnUpdate: 'changes',
  setDefaults,
  prepareForUpdate,
  validate,
  validateUpdate: (object, old) => [
    ...validate(object),
    ...immutable((object as Deployment).spec?.selector, (old as Deployment).spec?.selector, SPEC.child('selector')),
  ],
  warningsOnCreate: (object) => [...nameWarnings(object), ...templateWarnings((object as Deployment).spec?.template)],
  warningsOnUpdate: (object, old) =>
    isNewGeneration(object, old) ? templateWarnings((object as Deployment).spec?.template) : [],
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
      ({ spec, status }) => `${status?.['readyReplicas'] ?? 0}/${spec?.replicas ?? 0}`,
    ),
    text('Up-to-date', 'Pods made from the newest template.', ({ status }) => status?.['updatedReplicas'] ?? 0),
    text('Available', 'Pods that have been ready for long enough.', ({ status }) => status?.['availableReplicas'] ?? 0),
    age(),
    ...containerColumns<Deployment>(({ spec }) => spec?.template),
    text('Selector', 'Which pods are its own.', ({ spec }) => selectorText(spec?.selector), { priority: 1 }),
  ),
}
