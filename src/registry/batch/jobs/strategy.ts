/** Thread: pool. Jobs: pods that end, counted until enough of them have. */

import { FieldPath, invalid, required } from '../../../api/field-error.js'
import type { Job, JobSpec } from '../../../api/generated/kinds/batch.v1.js'
import type { Container, PodSpec, PodTemplateSpec } from '../../../api/generated/kinds/core.v1.js'
import { humanDuration } from '../../../api/human-duration.js'
import { metadataOf } from '../../../api/object.js'
import type { Errors } from '../../../api/validation/checks.js'
import { labelSelectorErrors } from '../../../api/validation/label-selectors.js'
import { isDns1123Label } from '../../../api/validation/names.js'
import { equalButEmptyLists, immutableButEmptyLists } from '../../core/pod-template/checks.js'
import { labelMismatchErrors, selectorMatches } from '../../core/pod-template/selected-template.js'
import { containerColumns, isNewGeneration, nameWarnings } from '../../core/pod-template/workload.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { selectorText } from '../../generic/selector-text.js'
import type { DeleteOptions } from '../../generic/strategy.js'
import { age, tableOf, text } from '../../generic/table-rules.js'
import { jobSpecErrors, jobSpecWarnings, setJobSpecDefaults, setJobTemplateDefaults } from '../job-spec.js'
import { hasCondition, jobStatusErrors } from './status-validation.js'

const SPEC = FieldPath.of('spec')
const CONTROLLER_UID = 'batch.kubernetes.io/controller-uid'
const JOB_NAME = 'batch.kubernetes.io/job-name'
/** Labels of the pods of a job; those without a domain are older. */
const UID_LABELS = ['controller-uid', CONTROLLER_UID] as const
const NAME_LABELS = ['job-name', JOB_NAME] as const

function setDefaults(job: Job): void {
  job.spec ??= {}
  setJobTemplateDefaults(job.spec)
  setJobSpecDefaults(job.spec)
  const labels = job.spec.template?.metadata?.labels
  const metadata = metadataOf(job)
  if (labels !== undefined && Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels }
}

/** A job selects its pods by its own uid, unless it says that it selects by hand. */
function prepareForCreate(job: Job): void {
  const spec = job.spec ?? {}
  if (spec.manualSelector === true) return
  const { name = '', uid = '' } = metadataOf(job)
  spec.template ??= {}
  const template = spec.template
  template.metadata ??= {}
  const labels = { ...template.metadata.labels }
  for (const label of NAME_LABELS) labels[label] ??= name
  for (const label of UID_LABELS) labels[label] ??= uid
  template.metadata.labels = labels
  spec.selector ??= {}
  spec.selector.matchLabels = { ...spec.selector.matchLabels }
  spec.selector.matchLabels[CONTROLLER_UID] ??= uid
}

function generatedSelectorErrors(job: Job): Errors {
  const spec = job.spec ?? {}
  if (spec.manualSelector === true || spec.selector === undefined) return []
  const { name = '', uid = '' } = metadataOf(job)
  const expected: Record<string, string> = {
    'controller-uid': uid,
    'job-name': name,
    [CONTROLLER_UID]: uid,
    [JOB_NAME]: name,
  }
  const labels = spec.template?.metadata?.labels ?? {}
  const at = SPEC.child('template', 'metadata', 'labels')
  const errors: Errors = Object.entries(expected).flatMap(([label, value]) => {
    if (!Object.hasOwn(labels, label)) return [required(at.key(label), `must be '${value}'`)]
    return labels[label] === value ? [] : [invalid(at.key(label), labels, `must be '${value}'`)]
  })
  if (!selectorMatches(spec.selector, expected))
    errors.push(invalid(SPEC.child('selector'), spec.selector, '`selector` not auto-generated'))
  return errors
}

function specErrors(spec: JobSpec): Errors {
  const at = SPEC.child('selector')
  return [
    ...jobSpecErrors(spec, SPEC),
    ...(spec.selector === undefined ? [required(at)] : labelSelectorErrors(spec.selector, at)),
    ...labelMismatchErrors(spec.template, spec.selector, SPEC.child('template')),
  ]
}

/** Pods of indexed jobs are named after the job and their index. */
function podNameErrors(job: Job): Errors {
  const { completionMode, completions = 0 } = job.spec ?? {}
  if (completionMode !== 'Indexed' || completions <= 0) return []
  const name = metadataOf(job).name ?? ''
  const last = `${name}-${completions - 1}`
  if (isDns1123Label(last).length === 0) return []
  return [invalid(FieldPath.of('metadata', 'name'), name, `no pod can have the name ${last}`)]
}

const validate = (object: Job): Errors => [
  ...generatedSelectorErrors(object),
  ...specErrors(object.spec ?? {}),
  ...podNameErrors(object),
]

function updateErrors(job: Job, oldJob: Job): Errors {
  const [spec, old] = [job.spec ?? {}, oldJob.spec ?? {}]
  return [
    ...specErrors(spec),
    ...completionsErrors(spec, old),
    ...immutableButEmptyLists(spec.selector, old.selector, SPEC.child('selector')),
    ...templateErrors(spec, oldJob),
    ...(['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'] as const).flatMap(
      (field) => immutableButEmptyLists(spec[field], old[field], SPEC.child(field)),
    ),
  ]
}

/** Indexed jobs can grow and shrink as long as all of it runs at once. */
function completionsErrors(spec: JobSpec, old: JobSpec): Errors {
  const at = SPEC.child('completions')
  if (spec.completionMode !== 'Indexed') return immutableButEmptyLists(spec.completions, old.completions, at)
  if (spec.completions === undefined || spec.completions === old.completions) return []
  return spec.completions === spec.parallelism
    ? []
    : [invalid(at, spec.completions, 'can only be modified in tandem with spec.parallelism')]
}

/** While a job is suspended and nothing of it runs, where its pods go and what they need may change. */
function templateErrors(spec: JobSpec, { spec: old = {}, status }: Job): Errors {
  const idle = status?.startTime === undefined || hasCondition(status, 'Suspended')
  const open = old.suspend === true && idle && (status?.active ?? 0) === 0
  if (!open) return immutableButEmptyLists(spec.template, old.template, SPEC.child('template'))
  const [now, before] = [spec.template?.spec ?? {}, movedTemplate(spec.template ?? {}, old.template ?? {}).spec ?? {}]
  return equalButEmptyLists(now, before) ? [] : immutableButEmptyLists(now, before, SPEC.child('template.spec'))
}

/** The old template with everything of the new one that may change. */
function movedTemplate(template: PodTemplateSpec, old: PodTemplateSpec): PodTemplateSpec {
  const now = template.spec ?? {}
  const spec: PodSpec = { ...old.spec }
  for (const field of ['nodeSelector', 'tolerations', 'schedulingGates'] as const) {
    if (now[field] === undefined) delete spec[field]
    else spec[field] = now[field] as never
  }
  const { nodeAffinity: _, ...others } = old.spec?.affinity ?? {}
  const affinity = {
    ...others,
    ...(now.affinity?.nodeAffinity === undefined ? {} : { nodeAffinity: now.affinity.nodeAffinity }),
  }
  if (now.affinity === undefined && Object.keys(affinity).length === 0) delete spec.affinity
  else spec.affinity = affinity
  for (const list of ['containers', 'initContainers'] as const) {
    const before = old.spec?.[list]
    if (before) spec[list] = withResources(before, now[list] ?? [])
  }
  return { ...old, spec }
}

function withResources(old: readonly Container[], now: readonly Container[]): Container[] {
  return old.map((container, i) => {
    const next = now.length === old.length && now[i]?.name === container.name ? now[i] : undefined
    if (next === undefined) return container
    const { resources: _, ...rest } = container
    return next.resources === undefined ? rest : { ...rest, resources: next.resources }
  })
}

const orphanWarnings = ({ propagationPolicy, orphanDependents }: DeleteOptions): string[] =>
  (propagationPolicy ?? orphanDependents) === undefined
    ? [
        'the pods of a job outlive it by default; propagationPolicy=Background deletes them too, Orphan says that they stay',
      ]
    : []

const STATES = ['Complete', 'Failed', 'Suspended', 'FailureTarget', 'SuccessCriteriaMet'] as const

function stateOf({ metadata, status }: Job): string {
  const state = STATES.find((type) => hasCondition(status, type))
  if (state === 'Complete' || state === 'Failed') return state
  return metadata?.deletionTimestamp === undefined ? (state ?? 'Running') : 'Terminating'
}

function completionsText({ spec = {}, status }: Job): string {
  const done = status?.succeeded ?? 0
  if (spec.completions !== undefined) return `${done}/${spec.completions}`
  return (spec.parallelism ?? 0) > 1 ? `${done}/1 of ${spec.parallelism}` : `${done}/1`
}

function durationText({ status }: Job, nowMs: number): string {
  if (status?.startTime === undefined) return ''
  const end = status.completionTime === undefined ? nowMs : Date.parse(status.completionTime)
  return humanDuration(end - Date.parse(status.startTime))
}

export const jobRules: ResourceRules<Job> = {
  podSpecAt: ['spec', 'template', 'spec'],
  generationFields: ['spec'],
  garbageCollection: 'OrphanDependents',
  setDefaults,
  prepareForCreate,
  validate,
  // The new job is checked by itself and then once more against the old one: each cause is said twice.
  validateUpdate: (object, old) => [...validate(object), ...updateErrors(object, old)],
  warningsOnCreate: (object) => [...nameWarnings(object), ...jobSpecWarnings(object.spec ?? {}, SPEC)],
  warningsOnUpdate: (object, old) => (isNewGeneration(object, old) ? jobSpecWarnings(object.spec ?? {}, SPEC) : []),
  warningsOnDelete: orphanWarnings,
  status: { validateUpdate: jobStatusErrors },
  table: tableOf<Job>(
    text('Status', 'How far it has come.', stateOf),
    text('Completions', 'Pods that succeeded, of those wanted.', completionsText),
    text('Duration', 'How long it has run, or did.', durationText),
    age(),
    ...containerColumns<Job>(({ spec }) => spec?.template),
    text('Selector', 'Which pods are its own.', ({ spec }) => selectorText(spec?.selector), { priority: 1 }),
  ),
}
