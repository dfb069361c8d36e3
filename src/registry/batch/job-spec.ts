/** Thread: any. What jobs and the templates of jobs share: defaults and rules of their spec. */

import { type FieldPath, invalid, notSupported, required, tooLong } from '../../api/field-error.js'
import type { JobSpec } from '../../api/generated/kinds/batch.v1.js'
import { domainPrefixedPath, type Errors, nonnegative, oneOf } from '../../api/validation/checks.js'
import { setTemplateDefaults } from '../core/pod-template/pod-defaults.js'
import { podTemplateErrors } from '../core/pod-template/pod-validation.js'
import { templateWarnings } from '../core/pod-template/workload.js'
import { podFailurePolicyErrors, successPolicyErrors } from './job-policies.js'

const MAX_INT32 = 2 ** 31 - 1
const MAX_PARALLELISM = 100_000
const MAX_FAILED_INDEXES = 100_000
/** From here on a job with a limit per index must say how many may fail, and run fewer at once. */
const MANY_COMPLETIONS = 100_000
const LIMIT_FOR_MANY = 10_000
const MAX_MANAGED_BY = 63

/** The defaults of a spec wherever it stands. */
export function setJobTemplateDefaults(spec: JobSpec): void {
  spec.template ??= {}
  setTemplateDefaults(spec.template)
  for (const { onPodConditions } of spec.podFailurePolicy?.rules ?? [])
    for (const condition of onPodConditions ?? []) condition.status ||= 'True'
}

/** The defaults of jobs themselves. */
export function setJobSpecDefaults(spec: JobSpec): void {
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1
  spec.parallelism ??= 1
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : MAX_INT32
  spec.completionMode ??= 'NonIndexed'
  spec.suspend ??= false
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed'
  spec.manualSelector ??= false
}

const COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const

export function jobSpecErrors(spec: JobSpec, path: FieldPath): Errors {
  const errors: Errors = COUNTS.flatMap((field) => nonnegative(spec[field], path.child(field)))
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined)
    errors.push(required(path.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified'))
  if (spec.managedBy !== undefined) {
    errors.push(...domainPrefixedPath(spec.managedBy, path.child('managedBy')))
    if (spec.managedBy.length > MAX_MANAGED_BY) errors.push(tooLong(path.child('managedBy'), MAX_MANAGED_BY))
  }
  if (spec.completionMode !== undefined)
    errors.push(...oneOf(spec.completionMode, ['NonIndexed', 'Indexed'], path.child('completionMode')))
  if (spec.completionMode === 'Indexed') errors.push(...indexedErrors(spec, path))
  if ((spec.completionMode ?? 'NonIndexed') === 'NonIndexed')
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const)
      if (spec[field] !== undefined)
        errors.push(invalid(path.child(field), spec[field], 'requires indexed completion mode'))
  if (spec.podFailurePolicy !== undefined) errors.push(...podFailurePolicyErrors(spec, path.child('podFailurePolicy')))
  if (spec.successPolicy !== undefined) {
    const at = path.child('successPolicy')
    if (spec.completionMode === 'Indexed') errors.push(...successPolicyErrors(spec, at))
    else errors.push(invalid(at, spec.successPolicy, 'requires indexed completion mode'))
  }
  if (spec.podReplacementPolicy !== undefined) {
    const supported = spec.podFailurePolicy === undefined ? ['Failed', 'TerminatingOrFailed'] : ['Failed']
    errors.push(...oneOf(spec.podReplacementPolicy, supported, path.child('podReplacementPolicy')))
  }
  errors.push(...podTemplateErrors(spec.template, path.child('template')))
  errors.push(...restartPolicyErrors(spec, path.child('template', 'spec', 'restartPolicy')))
  return errors
}

function indexedErrors(spec: JobSpec, path: FieldPath): Errors {
  const { completions, parallelism = 0, maxFailedIndexes } = spec
  const errors: Errors = []
  if (completions === undefined) errors.push(required(path.child('completions'), 'when completion mode is Indexed'))
  if (parallelism > MAX_PARALLELISM)
    errors.push(invalid(path.child('parallelism'), parallelism, `must be at most ${MAX_PARALLELISM}`))
  const at = path.child('maxFailedIndexes')
  if (maxFailedIndexes !== undefined) {
    if (completions !== undefined && maxFailedIndexes > completions)
      errors.push(invalid(at, maxFailedIndexes, 'must be less than or equal to completions'))
    if (maxFailedIndexes > MAX_FAILED_INDEXES)
      errors.push(invalid(at, maxFailedIndexes, `must be at most ${MAX_FAILED_INDEXES}`))
  }
  if ((completions ?? 0) <= MANY_COMPLETIONS || spec.backoffLimitPerIndex === undefined) return errors
  if (maxFailedIndexes === undefined) errors.push(required(at, `when completions is above ${MANY_COMPLETIONS}`))
  if (parallelism > LIMIT_FOR_MANY)
    errors.push(
      invalid(path.child('parallelism'), parallelism, `must be at most ${LIMIT_FOR_MANY} for so many completions`),
    )
  if ((maxFailedIndexes ?? 0) > LIMIT_FOR_MANY)
    errors.push(invalid(at, maxFailedIndexes, `must be at most ${LIMIT_FOR_MANY} for so many completions`))
  return errors
}

/** Jobs end, so their pods do not always start again. */
function restartPolicyErrors(spec: JobSpec, path: FieldPath): Errors {
  const policy = spec.template?.spec?.restartPolicy ?? ''
  if (policy === '' || policy === 'Always') return [required(path, 'valid values: "OnFailure", "Never"')]
  if (policy !== 'OnFailure' && policy !== 'Never') return [notSupported(path, policy, ['OnFailure', 'Never'])]
  if (spec.podFailurePolicy !== undefined && policy !== 'Never')
    return [invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified')]
  return []
}

export function jobSpecWarnings(spec: JobSpec, path: FieldPath): string[] {
  const many = (spec.completions ?? 0) > MANY_COMPLETIONS && (spec.parallelism ?? 0) > LIMIT_FOR_MANY
  return [
    ...(spec.completionMode === 'Indexed' && many
      ? [`${path}: with so many completions and pods at once, completed indexes may not be tracked when many fail`]
      : []),
    ...templateWarnings(spec.template, path.child('template')),
  ]
}
