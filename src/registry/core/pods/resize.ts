/** Thread: pool. pods/resize: cpu and memory of a pod that runs, and nothing else. */

import { FieldPath, forbidden, invalid } from '../../../api/field-error.js'
import type { Container, Pod, PodSpec, ResourceRequirements } from '../../../api/generated/kinds/core.v1.js'
import { metadataOf } from '../../../api/object.js'
import type { ResourceList } from '../../../api/scalar-types.js'
import type { Errors } from '../../../api/validation/checks.js'
import { validateObjectMetaUpdate } from '../../../api/validation/object-meta.js'
import type { PartRules } from '../../generic/resource-rules.js'
import { keepMetadata } from '../../generic/rules-strategy.js'
import { equalButEmptyLists } from '../pod-template/checks.js'
import { qosClass } from '../pod-template/pod-resources.js'
import { MIRROR_ANNOTATION } from './ephemeral-containers.js'
import { podErrors } from './validation.js'

type Lists = 'containers' | 'initContainers'

const SPEC = FieldPath.of('spec')
const LISTS: readonly Lists[] = ['containers', 'initContainers']
const MUTABLE = ['cpu', 'memory']

/** Containers that were renamed, moved, added or removed are left as they came: validation says so. */
function prepareForUpdate(object: Pod, old: Pod): void {
  const [pod, oldPod] = [object, old]
  const [spec, before] = [pod.spec ?? {}, oldPod.spec ?? {}]
  if (LISTS.some((list) => (spec[list] ?? []).length !== (before[list] ?? []).length)) return
  const next: PodSpec = structuredClone(before)
  for (const list of LISTS) {
    const merged = withResources(spec[list] ?? [], next[list] ?? [])
    if (merged.length > 0) next[list] = merged
  }
  if (spec.resources === undefined) delete next.resources
  else next.resources = spec.resources
  pod.spec = next
  keepMetadata(pod, oldPod)
}

function withResources(now: Container[], before: Container[]): Container[] {
  if (now.some(({ name }, i) => name !== before[i]?.name)) return now
  return before.map((container, i) => {
    const { resources: _resources, resizePolicy: _policy, ...rest } = container
    const { resources, resizePolicy } = now[i]!
    return {
      ...rest,
      ...(resources === undefined ? {} : { resources }),
      ...(resizePolicy === undefined ? {} : { resizePolicy }),
    }
  })
}

function validateUpdate(object: Pod, old: Pod): Errors {
  const [pod, oldPod] = [object, old]
  const [spec, before] = [pod.spec ?? {}, oldPod.spec ?? {}]
  if (metadataOf(oldPod).annotations?.[MIRROR_ANNOTATION] !== undefined)
    return [forbidden(FieldPath.of(), 'static pods cannot be resized')]
  if (before.os?.name === 'windows') return [forbidden(FieldPath.of(), 'windows pods cannot be resized')]
  const errors = [...validateObjectMetaUpdate(metadataOf(pod), metadataOf(oldPod)), ...podErrors(pod)]
  const oldClass = oldPod.status?.qosClass ?? qosClass(before)
  if (oldClass !== qosClass(spec)) {
    const why = 'Pod QOS Class may not change as a result of resizing'
    errors.push(invalid(SPEC, pod.status?.qosClass ?? '', why))
  }
  const running = (oldPod.status?.containerStatuses ?? []).find(({ state }) => state?.running !== undefined)
  if (running !== undefined && running.resources === undefined)
    errors.push(forbidden(SPEC, 'Pod running on node without support for resize'))
  if (hasAmounts(before.resources) || hasAmounts(spec.resources)) errors.push(...podLevelErrors(spec, before))
  const order = LISTS.flatMap((list) => orderErrors(list, spec, before))
  if (order.length > 0) return [...errors, ...order]
  errors.push(...[...LISTS].reverse().flatMap((list) => removalErrors(list, spec, before)))
  for (const list of LISTS) errors.push(...otherChangeErrors(list, spec, before))
  if (!equalButEmptyLists(spec.volumes, before.volumes))
    errors.push(forbidden(SPEC.child('volumes'), 'volumes are immutable on resize'))
  return errors
}

const hasAmounts = (resources: ResourceRequirements | undefined): boolean =>
  Object.keys(resources?.requests ?? {}).length + Object.keys(resources?.limits ?? {}).length > 0

function orderErrors(list: Lists, spec: PodSpec, before: PodSpec): Errors {
  const [now, old] = [spec[list] ?? [], before[list] ?? []]
  const at = SPEC.child(list)
  if (now.length !== old.length) return [forbidden(at, `${list} may not be added or removed on resize`)]
  return old.flatMap(({ name }, i) =>
    now[i]!.name === name
      ? []
      : [forbidden(at.index(i).child('name'), `${list} may not be renamed or reordered on resize`)],
  )
}

const isRemoved = (now: ResourceList = {}, old: ResourceList = {}): boolean =>
  Object.keys(old).some((name) => !Object.hasOwn(now, name))

function removalErrors(list: Lists, spec: PodSpec, before: PodSpec): Errors {
  return (before[list] ?? []).flatMap(({ resources: old }, i) => {
    const now = spec[list]![i]!.resources
    const at = SPEC.child(list).index(i).child('resources')
    return (['requests', 'limits'] as const).flatMap((side) =>
      isRemoved(now?.[side], old?.[side]) ? [forbidden(at.child(side), `resource ${side} cannot be removed`)] : [],
    )
  })
}

/** The amounts with cpu and memory as they were. */
function withoutMutable(now: ResourceList | undefined, old: ResourceList | undefined): ResourceList | undefined {
  if (now === undefined && old === undefined) return undefined
  const rest = { ...now }
  for (const name of MUTABLE) {
    delete rest[name]
    if (old?.[name] !== undefined) rest[name] = old[name]
  }
  return Object.keys(rest).length === 0 ? undefined : rest
}

const sameAmounts = (now: ResourceRequirements | undefined, old: ResourceRequirements | undefined): boolean =>
  (['requests', 'limits'] as const).every((side) => {
    const wanted = Object.keys(old?.[side] ?? {}).length === 0 ? undefined : old?.[side]
    return equalButEmptyLists(withoutMutable(now?.[side], old?.[side]), wanted)
  }) && equalButEmptyLists(now?.claims, old?.claims)

function otherChangeErrors(list: Lists, spec: PodSpec, before: PodSpec): Errors {
  return (before[list] ?? []).flatMap((old, i) => {
    const now = spec[list]![i]!
    const { resources: _now, ...rest } = now
    const { resources: _old, ...oldRest } = old
    const at = list === 'containers' ? SPEC : SPEC.child(list).index(i)
    const which = list === 'containers' ? '' : ' for init or sidecar containers'
    const errors: Errors = []
    if (!equalButEmptyLists(rest, oldRest) || !sameAmounts(now.resources, old.resources))
      errors.push(forbidden(at, `only cpu and memory resources${which} are mutable`))
    const restarts = (now.resizePolicy ?? []).filter(({ restartPolicy }) => restartPolicy === 'RestartContainer')
    if (list === 'initContainers' && now.restartPolicy !== 'Always' && !equalButEmptyLists(now, old)) {
      const why = 'non-sidecar init containers with a resize policy of RestartContainer cannot be resized'
      errors.push(...restarts.map(() => forbidden(at, why)))
    }
    return errors
  })
}

function podLevelErrors(spec: PodSpec, before: PodSpec): Errors {
  const at = SPEC.child('resources')
  const [now, old] = [spec.resources, before.resources]
  if (old !== undefined && now === undefined) return [forbidden(at, 'pod-level resources cannot be removed')]
  const errors = (['requests', 'limits'] as const).flatMap((side) =>
    isRemoved(now?.[side], old?.[side])
      ? [forbidden(at.child(side), `pod-level resource ${side} cannot be removed`)]
      : [],
  )
  if (!sameAmounts(now, old)) errors.push(forbidden(SPEC, 'only cpu and memory resources are mutable at pod-level'))
  return errors
}

const ANY = '*'

export const resizeRules: PartRules<Pod> = {
  writes: 'spec',
  ownedFields: LISTS.flatMap((list) =>
    ['f:resources', 'f:resizePolicy'].map((field) => ['f:spec', `f:${list}`, ANY, field]),
  ),
  prepareForUpdate,
  validateUpdate,
}
