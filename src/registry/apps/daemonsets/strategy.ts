/** Thread: pool. DaemonSets: one pod of a template on every node. */

import { FieldPath, invalid, notSupported, required } from '../../../api/field-error.js'
import type { DaemonSet, DaemonSetStatus, DaemonSetUpdateStrategy } from '../../../api/generated/kinds/apps.v1.js'
import { metadataOf } from '../../../api/object.js'
import { type Errors, nonnegative } from '../../../api/validation/checks.js'
import { isEmptySelector, labelSelectorErrors } from '../../../api/validation/label-selectors.js'
import { equalButEmptyLists, immutableButEmptyLists } from '../../core/pod-template/checks.js'
import { atMost100Percent, intOrPercentValue, positiveIntOrPercent } from '../../core/pod-template/int-or-percent.js'
import { setTemplateDefaults } from '../../core/pod-template/pod-defaults.js'
import { podTemplateErrors } from '../../core/pod-template/pod-validation.js'
import { alwaysRunningErrors, labelMismatchErrors } from '../../core/pod-template/selected-template.js'
import {
  collisionCountErrors,
  containerColumns,
  statusCountErrors,
  statusMetadataErrors,
  templateWarnings,
} from '../../core/pod-template/workload.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { selectorText } from '../../generic/selector-text.js'
import { age, labelText, tableOf, text } from '../../generic/table-rules.js'

const SPEC = FieldPath.of('spec')
/** A field of old that versions without it keep in an annotation. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation'
const INTEGER = { type: 'integer' } as const

const templateGeneration = (object: DaemonSet): number =>
  Number(object.metadata?.annotations?.[TEMPLATE_GENERATION] ?? 0) || 0

function setTemplateGeneration(object: DaemonSet, generation: number): void {
  const metadata = metadataOf(object)
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: String(generation) }
}

function setDefaults(set: DaemonSet): void {
  setTemplateGeneration(set, templateGeneration(set))
  set.spec ??= {}
  const { spec } = set
  spec.template ??= {}
  setTemplateDefaults(spec.template)
  spec.updateStrategy ??= {}
  const strategy = spec.updateStrategy
  strategy.type ||= 'RollingUpdate'
  if (strategy.type === 'RollingUpdate') {
    strategy.rollingUpdate ??= {}
    strategy.rollingUpdate.maxUnavailable ??= 1
    strategy.rollingUpdate.maxSurge ??= 0
  }
  spec.revisionHistoryLimit ??= 10
}

function prepareForUpdate(object: DaemonSet, old: DaemonSet): void {
  const changed = !equalButEmptyLists(object.spec?.template, old.spec?.template)
  setTemplateGeneration(object, templateGeneration(old) + (changed ? 1 : 0))
}

function validate(object: DaemonSet): Errors {
  const { spec = {} } = object
  const { selector, template } = spec
  const at = SPEC.child('template')
  return [
    ...labelSelectorErrors(selector, SPEC.child('selector')),
    ...labelMismatchErrors(template, selector, at),
    ...(selector !== undefined && selector !== null && isEmptySelector(selector)
      ? [invalid(SPEC.child('selector'), selector, 'empty selector is invalid for daemonset')]
      : []),
    ...podTemplateErrors(template, at),
    ...alwaysRunningErrors(template, at),
    ...nonnegative(spec.minReadySeconds, SPEC.child('minReadySeconds')),
    ...nonnegative(templateGeneration(object), SPEC.child('templateGeneration')),
    ...strategyErrors(spec.updateStrategy ?? {}, SPEC.child('updateStrategy')),
    ...nonnegative(spec.revisionHistoryLimit, SPEC.child('revisionHistoryLimit')),
  ]
}

function strategyErrors(strategy: DaemonSetUpdateStrategy, path: FieldPath): Errors {
  const { type, rollingUpdate } = strategy
  if (type === 'OnDelete') return []
  if (type !== 'RollingUpdate') return [notSupported(path, strategy, ['RollingUpdate', 'OnDelete'])]
  const at = path.child('rollingUpdate')
  if (rollingUpdate === undefined) return [required(at)]
  const { maxUnavailable, maxSurge } = rollingUpdate
  const [unavailableAt, surgeAt] = [at.child('maxUnavailable'), at.child('maxSurge')]
  const errors = [
    ...positiveIntOrPercent(maxUnavailable, unavailableAt),
    ...positiveIntOrPercent(maxSurge, surgeAt),
    ...atMost100Percent(maxUnavailable, unavailableAt),
    ...atMost100Percent(maxSurge, surgeAt),
  ]
  const [unavailable, surge] = [intOrPercentValue(maxUnavailable) !== 0, intOrPercentValue(maxSurge) !== 0]
  if (unavailable && surge) errors.push(invalid(surgeAt, maxSurge, 'may not be set when maxUnavailable is non-zero'))
  if (!unavailable && !surge) errors.push(required(unavailableAt, 'cannot be 0 when maxSurge is 0'))
  return errors
}

function validateStatus(object: DaemonSet, old: DaemonSet): Errors {
  const [status, before] = [object.status, old.status]
  return [
    ...statusMetadataErrors(object, old),
    ...statusCountErrors(status, [
      'currentNumberScheduled',
      'numberMisscheduled',
      'desiredNumberScheduled',
      'numberReady',
      'observedGeneration',
      'updatedNumberScheduled',
      'numberAvailable',
      'numberUnavailable',
      'collisionCount',
    ]),
    ...collisionCountErrors(status, before),
  ]
}

const count = (name: string, description: string, of: (status: DaemonSetStatus) => number | undefined) =>
  text<DaemonSet>(name, description, ({ status }) => of(status ?? {}) ?? 0, INTEGER)

export const daemonSetRules: ResourceRules<DaemonSet> = {
  podSpecAt: ['spec', 'template', 'spec'],
  generationFields: ['spec'],
  fieldAnnotations: [TEMPLATE_GENERATION],
  metadataOnUpdate: 'changes',
  setDefaults,
  prepareForCreate: (object) => setTemplateGeneration(object, Math.max(1, templateGeneration(object))),
  prepareForUpdate,
  validate,
  validateUpdate: (object, old) => [
    ...immutableButEmptyLists(object.spec?.selector, old.spec?.selector, SPEC.child('selector')),
    ...validate(object),
  ],
  warningsOnCreate: (object) => templateWarnings(object.spec?.template),
  warningsOnUpdate: (object, old) =>
    templateGeneration(object) === templateGeneration(old) ? [] : templateWarnings(object.spec?.template),
  status: { validateUpdate: validateStatus },
  table: tableOf<DaemonSet>(
    count('Desired', 'How many nodes should run it.', (status) => status.desiredNumberScheduled),
    count('Current', 'How many nodes run it and should.', (status) => status.currentNumberScheduled),
    count('Ready', 'How many of them are ready.', (status) => status.numberReady),
    count('Up-to-date', 'How many run the newest template.', (status) => status.updatedNumberScheduled),
    count('Available', 'How many have been ready for long enough.', (status) => status.numberAvailable),
    text('Node Selector', 'Which nodes it is for.', ({ spec }) => labelText(spec?.template?.spec?.nodeSelector)),
    age(),
    ...containerColumns<DaemonSet>(({ spec }) => spec?.template),
    text('Selector', 'Which pods are its own.', ({ spec }) => selectorText(spec?.selector), { priority: 1 }),
  ),
}
