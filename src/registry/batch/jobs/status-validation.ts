/** Thread: pool. The rules of a job's status: what has ended stays ended, and its parts agree. */

import { duplicate, FieldPath, invalid, required } from '../../../api/field-error.js'
import type { Job, JobSpec, JobStatus } from '../../../api/generated/kinds/batch.v1.js'
import { type Errors, nonnegative } from '../../../api/validation/checks.js'
import { equalButEmptyLists } from '../../core/pod-template/checks.js'
import { statusMetadataErrors } from '../../core/pod-template/workload.js'
import { countIndexes, indexesOverlap } from '../indexes.js'

const STATUS = FieldPath.of('status')
const CONDITIONS = STATUS.child('conditions')

export const hasCondition = (status: JobStatus | undefined, type: string, value = 'True'): boolean =>
  (status?.conditions ?? []).some((condition) => condition.type === type && condition.status === value)
const isFinished = (status: JobStatus): boolean => hasCondition(status, 'Complete') || hasCondition(status, 'Failed')

export function jobStatusErrors(job: Job, oldJob: Job): Errors {
  const [spec, status, old] = [job.spec ?? {}, job.status ?? {}, oldJob.status ?? {}]
  return [
    ...statusMetadataErrors(job, oldJob),
    ...(['active', 'succeeded', 'failed', 'ready', 'terminating'] as const).flatMap((field) =>
      nonnegative(status[field], STATUS.child(field)),
    ),
    ...uncountedErrors(status),
    ...conditionErrors(status, old, spec),
    ...timeErrors(status, old, spec),
    ...finishedErrors(status, old, spec),
    ...indexErrors(status, old, spec),
    ...transitionErrors(status, old, spec),
  ]
}

function uncountedErrors({ uncountedTerminatedPods }: JobStatus): Errors {
  const seen = new Set<string>()
  return (['succeeded', 'failed'] as const).flatMap((list) =>
    (uncountedTerminatedPods?.[list] ?? []).flatMap((uid, i) => {
      const at = STATUS.child('uncountedTerminatedPods', list).index(i)
      if (uid === '') return [invalid(at, uid, 'must not be empty')]
      if (seen.has(uid)) return [duplicate(at, uid)]
      seen.add(uid)
      return []
    }),
  )
}

/** Rules that came later than jobs did hold only for what this update changes. */
const changed = (status: JobStatus, old: JobStatus, ...what: (keyof JobStatus | `is${string}`)[]): boolean =>
  what.some((name) => {
    if (!name.startsWith('is'))
      return !equalButEmptyLists(status[name as keyof JobStatus], old[name as keyof JobStatus])
    const type = name.slice(2)
    if (type === 'Finished') return isFinished(status) !== isFinished(old)
    return hasCondition(status, type) !== hasCondition(old, type)
  })

function conditionErrors(status: JobStatus, old: JobStatus, spec: JobSpec): Errors {
  const has = (type: string): boolean => hasCondition(status, type)
  const refuse = (when: boolean, text: string): Errors => (when ? [invalid(CONDITIONS, '', text)] : [])
  const since = (...what: Parameters<typeof changed>[2][]): boolean => changed(status, old, ...what)
  return [
    ...refuse(
      since('isComplete', 'isFailed') && has('Complete') && has('Failed'),
      'Complete and Failed exclude each other',
    ),
    ...refuse(
      since('isComplete', 'isFailureTarget') && has('Complete') && has('FailureTarget'),
      'Complete and FailureTarget exclude each other',
    ),
    ...refuse(
      since('isFailed', 'failedIndexes') && has('Failed') && !has('FailureTarget'),
      'Failed needs the FailureTarget condition',
    ),
    ...refuse(
      since('isComplete', 'isSuccessCriteriaMet') && has('Complete') && !has('SuccessCriteriaMet'),
      'Complete needs the SuccessCriteriaMet condition',
    ),
    ...refuse(has('SuccessCriteriaMet') && has('Failed'), 'SuccessCriteriaMet and Failed exclude each other'),
    ...refuse(
      has('SuccessCriteriaMet') && has('FailureTarget'),
      'SuccessCriteriaMet and FailureTarget exclude each other',
    ),
    ...refuse(
      spec.successPolicy !== undefined && !has('SuccessCriteriaMet') && has('Complete'),
      'a job with a success policy is Complete only with SuccessCriteriaMet',
    ),
  ]
}

function timeErrors(status: JobStatus, old: JobStatus, spec: JobSpec): Errors {
  const { startTime, completionTime } = status
  const complete = hasCondition(status, 'Complete')
  const at = STATUS.child('completionTime')
  const errors: Errors = []
  if (changed(status, old, 'isComplete', 'completionTime')) {
    if (completionTime !== undefined && !complete)
      errors.push(invalid(at, completionTime, 'cannot be set when there is no Complete=True condition'))
    if (completionTime === undefined && complete) errors.push(required(at, 'is required for Complete jobs'))
  }
  const times = changed(status, old, 'startTime', 'completionTime')
  if (
    times &&
    startTime !== undefined &&
    completionTime !== undefined &&
    Date.parse(completionTime) < Date.parse(startTime)
  )
    errors.push(invalid(at, completionTime, 'must be equal to or after `startTime`'))
  const emptyAndSuspended = spec.suspend === true && spec.completions === 0
  if (
    changed(status, old, 'isFinished', 'startTime') &&
    !emptyAndSuspended &&
    startTime === undefined &&
    isFinished(status)
  )
    errors.push(required(STATUS.child('startTime'), 'startTime is required for finished job'))
  return errors
}

function finishedErrors(status: JobStatus, old: JobStatus, _spec: JobSpec): Errors {
  const { active = 0, terminating = 0, ready, uncountedTerminatedPods: uncounted } = status
  const finished = isFinished(status)
  const errors: Errors = []
  if (finished && changed(status, old, 'isFinished', 'active') && active > 0)
    errors.push(invalid(STATUS.child('active'), active, 'active>0 is invalid for finished job'))
  const left = (uncounted?.failed ?? []).length + (uncounted?.succeeded ?? []).length
  if (finished && changed(status, old, 'isFinished', 'uncountedTerminatedPods') && left > 0)
    errors.push(invalid(STATUS.child('uncountedTerminatedPods'), uncounted, 'must be empty for finished job'))
  if (finished && changed(status, old, 'isFinished', 'terminating') && terminating > 0)
    errors.push(invalid(STATUS.child('terminating'), terminating, 'terminating>0 is invalid for finished job'))
  if (changed(status, old, 'ready', 'active') && ready !== undefined && ready > active)
    errors.push(invalid(STATUS.child('ready'), ready, 'cannot set more ready pods than active'))
  return errors
}

function indexErrors(status: JobStatus, old: JobStatus, spec: JobSpec): Errors {
  const { completedIndexes = '', failedIndexes } = status
  const [completed, failed] = [changed(status, old, 'completedIndexes'), changed(status, old, 'failedIndexes')]
  const { completions, backoffLimitPerIndex } = spec
  const [completedAt, failedAt] = [STATUS.child('completedIndexes'), STATUS.child('failedIndexes')]
  const errors: Errors = []
  if (completed && completions !== undefined && countIndexes(completedIndexes, completions) === undefined)
    errors.push(invalid(completedAt, completedIndexes, 'must be an ascending list of indexes'))
  if (completed && completedIndexes !== '' && spec.completionMode !== 'Indexed')
    errors.push(invalid(completedAt, completedIndexes, 'must be empty in non-indexed completion mode'))
  if (failedIndexes === undefined) return errors
  if (
    failed &&
    completions !== undefined &&
    backoffLimitPerIndex !== undefined &&
    countIndexes(failedIndexes, completions) === undefined
  )
    errors.push(invalid(failedAt, failedIndexes, 'must be an ascending list of indexes'))
  if (failed && backoffLimitPerIndex === undefined)
    errors.push(invalid(failedAt, failedIndexes, 'cannot be set when backoffLimitPerIndex is null'))
  if (
    (failed || completed) &&
    completions !== undefined &&
    indexesOverlap(completedIndexes, failedIndexes, completions)
  )
    errors.push(invalid(failedAt, failedIndexes, 'failedIndexes and completedIndexes overlap'))
  return errors
}

function transitionErrors(status: JobStatus, old: JobStatus, spec: JobSpec): Errors {
  const errors: Errors = ['Failed', 'Complete', 'FailureTarget', 'SuccessCriteriaMet']
    .filter((type) => hasCondition(old, type) && !hasCondition(status, type))
    .map((type) => invalid(CONDITIONS, '', `cannot disable the ${type}=True condition`))
  if (
    hasCondition(old, 'Complete') &&
    !hasCondition(old, 'SuccessCriteriaMet') &&
    hasCondition(status, 'SuccessCriteriaMet')
  )
    errors.push(invalid(CONDITIONS, '', 'cannot set SuccessCriteriaMet=True once Complete=True'))
  const elastic = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism
  if ((status.failed ?? 0) < (old.failed ?? 0))
    errors.push(invalid(STATUS.child('failed'), status.failed ?? 0, 'cannot decrease the failed counter'))
  if (!elastic && (status.succeeded ?? 0) < (old.succeeded ?? 0))
    errors.push(invalid(STATUS.child('succeeded'), status.succeeded ?? 0, 'cannot decrease the succeeded counter'))
  const { completionTime, startTime } = status
  if (completionTime !== undefined && old.completionTime !== undefined && completionTime !== old.completionTime)
    errors.push(invalid(STATUS.child('completionTime'), completionTime, 'field is immutable'))
  const resuming = hasCondition(old, 'Suspended') && hasCondition(status, 'Suspended', 'False')
  if (old.startTime !== undefined && startTime !== old.startTime && spec.suspend !== true && !resuming)
    errors.push(
      invalid(STATUS.child('startTime'), startTime ?? null, 'field is immutable for unsuspended job once set'),
    )
  return errors
}
