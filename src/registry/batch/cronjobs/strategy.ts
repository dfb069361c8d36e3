/** Thread: pool. CronJobs: a job again and again, by the clock. */

import { FieldPath, invalid, notSupported, required } from '../../../api/field-error.js'
import type { CronJob, JobSpec } from '../../../api/generated/kinds/batch.v1.js'
import { humanDuration } from '../../../api/human-duration.js'
import { metadataOf } from '../../../api/object.js'
import { type Errors, nonnegative, oneOf } from '../../../api/validation/checks.js'
import { containerColumns, isNewGeneration, nameWarnings } from '../../core/pod-template/workload.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { selectorText } from '../../generic/selector-text.js'
import { age, NONE, tableOf, text } from '../../generic/table-rules.js'
import { jobSpecErrors, jobSpecWarnings, setJobTemplateDefaults } from '../job-spec.js'
import { isSchedule } from './schedule.js'
import { isTimeZone } from './time-zone.js'

type Spec = NonNullable<CronJob['spec']>

const SPEC = FieldPath.of('spec')
const JOB_SPEC = SPEC.child('jobTemplate', 'spec')
/** Names of jobs have a time appended, and become labels. */
const MAX_NAME = 52

function setDefaults(cronJob: CronJob): void {
  cronJob.spec ??= {}
  const { spec } = cronJob
  spec.concurrencyPolicy ||= 'Allow'
  spec.suspend ??= false
  spec.successfulJobsHistoryLimit ??= 3
  spec.failedJobsHistoryLimit ??= 1
  spec.jobTemplate ??= {}
  spec.jobTemplate.spec ??= {}
  setJobTemplateDefaults(spec.jobTemplate.spec)
}

function specErrors(spec: Spec, old?: Spec): Errors {
  const { schedule = '', timeZone } = spec
  return [
    ...(schedule === '' ? [required(SPEC.child('schedule'))] : scheduleErrors(schedule, timeZone, old)),
    ...nonnegative(spec.startingDeadlineSeconds, SPEC.child('startingDeadlineSeconds')),
    ...(timeZone === undefined || timeZone === old?.timeZone ? [] : timeZoneErrors(timeZone)),
    ...oneOf(spec.concurrencyPolicy, ['Allow', 'Forbid', 'Replace'], SPEC.child('concurrencyPolicy'), 'required'),
    ...jobTemplateErrors(spec.jobTemplate?.spec ?? {}),
    ...nonnegative(spec.successfulJobsHistoryLimit, SPEC.child('successfulJobsHistoryLimit')),
    ...nonnegative(spec.failedJobsHistoryLimit, SPEC.child('failedJobsHistoryLimit')),
  ]
}

/** Zones within schedules are kept where they are, and not allowed where they are not. */
function scheduleErrors(schedule: string, timeZone: string | undefined, old: Spec | undefined): Errors {
  const at = SPEC.child('schedule')
  const errors: Errors = isSchedule(schedule) ? [] : [invalid(at, schedule, 'is no schedule')]
  if (!schedule.includes('TZ')) return errors
  if (old?.schedule?.includes('TZ') !== true)
    errors.push(invalid(at, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'))
  else if (timeZone !== undefined)
    errors.push(invalid(at, schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule'))
  return errors
}

function timeZoneErrors(timeZone: string): Errors {
  const at = SPEC.child('timeZone')
  if (timeZone === '') return [invalid(at, timeZone, 'timeZone must be nil or non-empty string')]
  const strange = (part: string): boolean =>
    part === '.' || part === '..' || part.startsWith('-') || !/^[A-Za-z.\-_0-9+]{1,14}$/.test(part)
  if (timeZone.split('/').some(strange)) return [invalid(at, timeZone, `unknown time zone ${timeZone}`)]
  return [
    ...(timeZone.toLowerCase() === 'local' ? [invalid(at, timeZone, 'timeZone must be an explicit time zone')] : []),
    ...(isTimeZone(timeZone) ? [] : [invalid(at, timeZone, `unknown time zone ${timeZone}`)]),
  ]
}

function jobTemplateErrors(spec: JobSpec): Errors {
  const errors = jobSpecErrors(spec, JOB_SPEC)
  if (spec.selector !== undefined)
    errors.push(invalid(JOB_SPEC.child('selector'), spec.selector, '`selector` will be auto-generated'))
  if (spec.manualSelector === true) errors.push(notSupported(JOB_SPEC.child('manualSelector'), true, ['nil', 'false']))
  return errors
}

function createErrors(object: CronJob): Errors {
  const { name = '' } = metadataOf(object)
  const errors = specErrors(object.spec ?? {})
  if (name.length > MAX_NAME)
    errors.push(invalid(FieldPath.of('metadata', 'name'), name, `must be no more than ${MAX_NAME} characters`))
  return errors
}

const jobWarnings = (object: CronJob): string[] => jobSpecWarnings(object.spec?.jobTemplate?.spec ?? {}, JOB_SPEC)

export const cronJobRules: ResourceRules<CronJob> = {
  podSpecAt: ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
  generationFields: ['spec'],
  metadataOnUpdate: 'changes',
  setDefaults,
  validate: createErrors,
  validateUpdate: (object, old) => specErrors(object.spec ?? {}, old.spec ?? {}),
  warningsOnCreate: (object) => [...nameWarnings(object), ...jobWarnings(object)],
  warningsOnUpdate: (object, old) => [
    ...(isNewGeneration(object, old) ? jobWarnings(object) : []),
    ...(object.spec?.schedule?.includes('TZ') === true
      ? ['spec.schedule: TZ and CRON_TZ cannot be used there, use timeZone instead']
      : []),
  ],
  table: tableOf<CronJob>(
    text('Schedule', 'When it runs.', ({ spec }) => spec?.schedule ?? ''),
    text('Timezone', 'Whose clock it runs by.', ({ spec }) => spec?.timeZone ?? NONE),
    text('Suspend', 'Whether it is held back.', ({ spec }) => (spec?.suspend === true ? 'True' : 'False'), {
      type: 'boolean',
    }),
    text('Active', 'How many of its jobs run.', ({ status }) => status?.active?.length ?? 0, { type: 'integer' }),
    text('Last Schedule', 'How long ago it ran last.', ({ status }, nowMs) =>
      status?.lastScheduleTime === undefined ? NONE : humanDuration(nowMs - Date.parse(status.lastScheduleTime)),
    ),
    age(),
    ...containerColumns<CronJob>(({ spec }) => spec?.jobTemplate?.spec?.template),
    text('Selector', 'Which pods are its own.', ({ spec }) => selectorText(spec?.jobTemplate?.spec?.selector), {
      priority: 1,
    }),
  ),
}
