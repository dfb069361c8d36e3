/** Thread: pool. Fields of pods behind gates that are off: only what an object has used before can it go on using. */

import { type FieldError, FieldPath, notSupported } from '../../api/field-error.js'
import type { EphemeralContainer, PodSpec, VolumeProjection } from '../../api/generated/kinds/core.v1.js'
import type { KubeObject } from '../../api/object.js'
import { podSpecAt } from './pod-spec-at.js'

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const
const GATED_SOURCES = ['clusterTrustBundle', 'podCertificate'] as const
const ALLOWED_CHANGE_POLICY = 'Recursive'
const GATED_CHANGE_POLICY = 'MountOption'

const containersOf = (spec: PodSpec): EphemeralContainer[] => LISTS.flatMap((list) => spec[list] ?? [])
const sourcesOf = (spec: PodSpec): VolumeProjection[] =>
  (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? [])

export function dropGatedPodFields(object: KubeObject, old: KubeObject | undefined, path: readonly string[]): void {
  const [spec, before] = [podSpecAt(object, path), podSpecAt(old, path)]
  if (before.schedulingGroup === undefined) delete spec.schedulingGroup
  for (const kind of GATED_SOURCES) {
    if (sourcesOf(before).some((source) => source[kind] !== undefined)) continue
    for (const source of sourcesOf(spec)) delete source[kind]
  }
  if (!containersOf(before).some(({ lifecycle }) => lifecycle?.stopSignal !== undefined)) dropStopSignals(spec)
}

/** A lifecycle that said nothing but a stop signal goes with it. */
function dropStopSignals(spec: PodSpec): void {
  for (const container of containersOf(spec)) {
    if (container.lifecycle?.stopSignal === undefined) continue
    delete container.lifecycle.stopSignal
    if (Object.keys(container.lifecycle).length === 0) delete container.lifecycle
  }
}

/** One policy is accepted only from objects that state a policy already. */
export function gatedPodValueErrors(
  object: KubeObject,
  old: KubeObject | undefined,
  path: readonly string[],
): FieldError[] {
  const policy = podSpecAt(object, path).securityContext?.seLinuxChangePolicy
  if (policy !== GATED_CHANGE_POLICY) return []
  if (podSpecAt(old, path).securityContext?.seLinuxChangePolicy !== undefined) return []
  const at = FieldPath.of(...path).child('securityContext', 'seLinuxChangePolicy')
  return [notSupported(at, policy, [ALLOWED_CHANGE_POLICY])]
}
