/** Thread: pool. The rules of pods: on creation, and what an update may change. */

import { FieldPath, forbidden, invalid, required } from '../../../api/field-error.js'
import type {
  Container,
  NodeAffinity,
  NodeSelectorTerm,
  Pod,
  PodSpec,
  Toleration,
} from '../../../api/generated/kinds/core.v1.js'
import { type Errors, inRange, nonnegative } from '../../../api/validation/checks.js'
import { annotationErrors, annotationUpdateErrors, profileMismatchErrors } from '../pod-template/annotations.js'
import { equalButEmptyLists } from '../pod-template/checks.js'
import { imageSpaceErrors } from '../pod-template/container.js'
import { podSpecErrors } from '../pod-template/pod-validation.js'
import { tolerationErrors } from '../pod-template/scheduling.js'

const SPEC = FieldPath.of('spec')
const ANNOTATIONS = FieldPath.of('metadata', 'annotations')
const MAX_DEADLINE = 2 ** 31 - 1

export function podErrors({ metadata, spec = {} }: Pod): Errors {
  const images = (['containers', 'initContainers'] as const).flatMap((list) =>
    (spec[list] ?? []).flatMap((container, i) => imageSpaceErrors(container, SPEC.child(list).index(i))),
  )
  return [
    ...annotationErrors(metadata?.annotations, spec, ANNOTATIONS),
    ...podSpecErrors(spec, metadata, SPEC),
    ...((spec.serviceAccountName ?? '') === '' ? tokenErrors(spec) : []),
    ...nonnegative(spec.terminationGracePeriodSeconds, SPEC.child('terminationGracePeriodSeconds')),
    ...images,
  ]
}

/** A token is an account's; without one there is nothing to project. */
function tokenErrors({ volumes = [] }: PodSpec): Errors {
  return volumes.flatMap(({ projected }, i) =>
    (projected?.sources ?? []).flatMap(({ serviceAccountToken }, j) => {
      const at = SPEC.child('volumes').index(i).child('projected', 'sources').index(j).child('serviceAccountToken')
      return serviceAccountToken === undefined
        ? []
        : [forbidden(at, 'must not be specified when serviceAccountName is not set')]
    }),
  )
}

export function podCreateErrors(pod: Pod): Errors {
  const { spec = {}, metadata } = pod
  const errors = podErrors(pod)
  if ((spec.ephemeralContainers ?? []).length > 0)
    errors.push(forbidden(SPEC.child('ephemeralContainers'), 'cannot be set on create'))
  if ((spec.nodeName ?? '') !== '' && (spec.schedulingGates ?? []).length > 0)
    errors.push(forbidden(SPEC.child('nodeName'), 'cannot be set until all schedulingGates have been cleared'))
  errors.push(...profileMismatchErrors(metadata?.annotations, spec, SPEC))
  return errors
}

export function podUpdateErrors(pod: Pod, oldPod: Pod): Errors {
  const [spec, old] = [pod.spec ?? {}, oldPod.spec ?? {}]
  const errors = [
    ...podErrors(pod),
    ...annotationUpdateErrors(pod.metadata?.annotations, oldPod.metadata?.annotations, ANNOTATIONS),
    ...annotationErrors(pod.metadata?.annotations, spec, ANNOTATIONS),
  ]
  for (const list of ['containers', 'initContainers'] as const) {
    const [now, before] = [spec[list] ?? [], old[list] ?? []]
    if (now.length !== before.length)
      return [...errors, forbidden(SPEC.child(list), 'pod updates may not add or remove containers')]
    errors.push(...now.flatMap((container, i) => imageErrors(container, SPEC.child(list).index(i))))
  }
  const deadline = deadlineErrors(spec, old)
  errors.push(...deadline.errors)
  if (deadline.stop) return errors
  errors.push(...addedTolerationErrors(spec.tolerations ?? [], old.tolerations ?? []))
  errors.push(...removedGateErrors(spec, old))
  if (equalButEmptyLists(spec, old)) return errors
  const unchanged = restored(spec, old)
  if ((old.schedulingGates ?? []).length > 0) {
    errors.push(...nodeSelectorErrors(spec, old), ...nodeAffinityErrors(spec, old))
    restoreNodePlacement(unchanged, old)
  }
  if (!equalButEmptyLists(unchanged, old))
    errors.push(
      forbidden(
        SPEC,
        'pod updates may change only images, activeDeadlineSeconds, terminationGracePeriodSeconds and added tolerations',
      ),
    )
  return errors
}

const imageErrors = (container: Container, path: FieldPath): Errors => [
  ...((container.image ?? '') === '' ? [required(path.child('image'))] : []),
  ...imageSpaceErrors(container, path),
]

/** A deadline may be set and shortened. */
function deadlineErrors(spec: PodSpec, old: PodSpec): { errors: Errors; stop: boolean } {
  const at = SPEC.child('activeDeadlineSeconds')
  const [now, before] = [spec.activeDeadlineSeconds, old.activeDeadlineSeconds]
  if (now === undefined) {
    const errors =
      before === undefined ? [] : [invalid(at, null, 'must not update from a positive integer to nil value')]
    return { errors, stop: false }
  }
  const outside = inRange(now, at, 0, MAX_DEADLINE)
  if (outside.length > 0) return { errors: outside, stop: true }
  if (before !== undefined && before < now)
    return { errors: [invalid(at, now, 'must be less than or equal to previous value')], stop: true }
  return { errors: [], stop: false }
}

function addedTolerationErrors(now: readonly Toleration[], before: readonly Toleration[]): Errors {
  const at = SPEC.child('tolerations')
  const timeless = ({ key, operator, value, effect }: Toleration): string =>
    JSON.stringify([key ?? null, operator ?? null, value ?? null, effect ?? null])
  const kept = new Set(now.map(timeless))
  const areKept = before.every((old) => kept.has(timeless(old)))
  if (!areKept) return [forbidden(at, 'existing toleration can not be modified except its tolerationSeconds')]
  return tolerationErrors(now, at)
}

function removedGateErrors({ schedulingGates = [] }: PodSpec, old: PodSpec): Errors {
  const known = new Set((old.schedulingGates ?? []).map(({ name }) => name))
  const added = new Map(
    schedulingGates.map(({ name }, i) => [name, i]).filter(([name]) => !known.has(name as string)) as [
      string,
      number,
    ][],
  )
  return [...added].map(([name, i]) =>
    forbidden(
      SPEC.child('schedulingGates').index(i).child('name'),
      `only deletion is allowed, but found new scheduling gate '${name}'`,
    ),
  )
}

/** The new spec with everything put back that an update may change. */
function restored(spec: PodSpec, old: PodSpec): PodSpec {
  const copy: PodSpec & Record<string, unknown> = { ...spec }
  for (const list of ['containers', 'initContainers'] as const) {
    const before = old[list]
    const now = spec[list]
    if (before && now) copy[list] = now.map((container, i) => ({ ...container, image: before[i]?.image ?? '' }))
  }
  const putBack = (field: keyof PodSpec): void => {
    if (old[field] === undefined) delete copy[field]
    else copy[field] = old[field] as never
  }
  putBack('activeDeadlineSeconds')
  putBack('schedulingGates')
  putBack('tolerations')
  if ((old.terminationGracePeriodSeconds ?? 0) < 0 && copy.terminationGracePeriodSeconds === 1)
    putBack('terminationGracePeriodSeconds')
  return copy
}

/** While gates hold a pod back, where it may run can still be narrowed. */
function nodeSelectorErrors(spec: PodSpec, old: PodSpec): Errors {
  const now = spec.nodeSelector ?? {}
  const kept = Object.entries(old.nodeSelector ?? {}).every(([key, value]) => now[key] === value)
  return kept ? [] : [invalid(SPEC.child('nodeSelector'), now, 'only additions to spec.nodeSelector are allowed')]
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution'
const termsOf = (affinity: NodeAffinity | undefined): NodeSelectorTerm[] =>
  affinity?.[REQUIRED]?.nodeSelectorTerms ?? []

function nodeAffinityErrors(spec: PodSpec, old: PodSpec): Errors {
  const [now, before] = [spec.affinity?.nodeAffinity, old.affinity?.nodeAffinity]
  if (before?.[REQUIRED] === undefined || equalButEmptyLists(now, before)) return []
  const at = SPEC.child('affinity', 'nodeAffinity', REQUIRED, 'nodeSelectorTerms')
  const [terms, oldTerms] = [termsOf(now), termsOf(before)]
  if (oldTerms.length > 0 && terms.length !== oldTerms.length)
    return [invalid(at, terms, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed')]
  return oldTerms.flatMap((oldTerm, i) =>
    onlyAdds(terms[i]!, oldTerm)
      ? []
      : [invalid(at.index(i), terms[i], 'only additions are allowed (no mutations or deletions)')],
  )
}

function onlyAdds(term: NodeSelectorTerm, old: NodeSelectorTerm): boolean {
  const fields = ['matchExpressions', 'matchFields'] as const
  if (fields.every((field) => (old[field] ?? []).length === 0))
    return fields.every((field) => (term[field] ?? []).length === 0)
  return fields.every((field) => {
    const before = old[field] ?? []
    return equalButEmptyLists((term[field] ?? []).slice(0, before.length), before)
  })
}

function restoreNodePlacement(spec: PodSpec, old: PodSpec): void {
  if (old.nodeSelector === undefined) delete spec.nodeSelector
  else spec.nodeSelector = old.nodeSelector
  const { nodeAffinity: _, ...others } = spec.affinity ?? {}
  const before = old.affinity?.nodeAffinity
  if (before !== undefined) spec.affinity = { ...others, nodeAffinity: before }
  else if (old.affinity === undefined && Object.keys(others).length === 0) delete spec.affinity
  else if (spec.affinity !== undefined) spec.affinity = others
}
