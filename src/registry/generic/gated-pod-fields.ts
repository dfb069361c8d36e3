/** Thread: pool. Fields of pods behind gates that are off: only what an object has used before can it go on using. */
import { type FieldError, FieldPath, notSupported } from '../../api/field-error.js'
import type { KubeObject } from '../../api/object.js'

const LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const
const GATED_SOURCES = ['clusterTrustBundle', 'podCertificate'] as const
const ALLOWED_CHANGE_POLICY = 'Recursive'
const GATED_CHANGE_POLICY = 'MountOption'

interface Container {
  lifecycle?: { stopSignal?: string }
}

interface PodSpec extends Partial<Record<(typeof LISTS)[number], Container[] | null>> {
  schedulingGroup?: unknown
  securityContext?: { seLinuxChangePolicy?: string }
  volumes?: { projected?: { sources?: Record<string, unknown>[] | null } }[] | null
}

function specAt(object: KubeObject | undefined, path: readonly string[]): PodSpec {
  let value: unknown = object
  for (const name of path) value = (value as Record<string, unknown> | null | undefined)?.[name]
  return (value ?? {}) as PodSpec
}

const containersOf = (spec: PodSpec): Container[] => LISTS.flatMap((list) => spec[list] ?? [])
const sourcesOf = (spec: PodSpec): Record<string, unknown>[] =>
  (spec.volumes ?? []).flatMap(({ projected }) => projected?.sources ?? [])

export function dropGatedPodFields(
  object: KubeObject,
  old: KubeObject | undefined,
  podSpecAt: readonly string[],
): void {
  const [spec, before] = [specAt(object, podSpecAt), specAt(old, podSpecAt)]
  if (before.schedulingGroup === undefined) delete spec.schedulingGroup
  for (const kind of GATED_SOURCES) {
    if (sourcesOf(before).some((source) => source[kind] !== undefined)) continue
    for (const source of sourcesOf(spec)) delete source[kind]
  }
  if (!containersOf(before).some(({ lifecycle }) => lifecycle?.stopSignal !== undefined)) dropStopSignals(spec)
}

/** A lifecycle that said nothing else goes with it. */
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
  podSpecAt: readonly string[],
): FieldError[] {
  const policy = specAt(object, podSpecAt).securityContext?.seLinuxChangePolicy
  if (policy !== GATED_CHANGE_POLICY) return []
  if (specAt(old, podSpecAt).securityContext?.seLinuxChangePolicy !== undefined) return []
  const at = FieldPath.of(...podSpecAt).child('securityContext', 'seLinuxChangePolicy')
  return [notSupported(at, policy, [ALLOWED_CHANGE_POLICY])]
}
