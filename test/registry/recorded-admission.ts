/** What admission plugins of the recorded server do to objects, where answers cannot be compared without it. */
import type { KubeObject } from '#keelson/api/object.js'

interface PodLike extends KubeObject {
  spec?: {
    priority?: number
    preemptionPolicy?: string
    tolerations?: { key?: string; operator?: string; effect?: string; tolerationSeconds?: number }[]
  }
}

export function admitLikeRecordedServer(resource: string, object: KubeObject, old?: KubeObject): void {
  if (resource === 'pods') admitPod(object as PodLike, old as PodLike | undefined)
}

/** Priority and DefaultTolerationSeconds. */
function admitPod({ spec }: PodLike, old: PodLike | undefined): void {
  if (spec === undefined || spec === null) return
  if (old !== undefined) {
    if (old.spec?.priority !== undefined) spec.priority ??= old.spec.priority
    if (old.spec?.preemptionPolicy !== undefined) spec.preemptionPolicy ??= old.spec.preemptionPolicy
  } else {
    spec.priority ??= 0
    spec.preemptionPolicy ??= 'PreemptLowerPriority'
  }
  for (const key of ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']) {
    const tolerates = (spec.tolerations ?? []).some(
      (toleration) =>
        ((toleration.key ?? '') === key || (toleration.key ?? '') === '') &&
        ((toleration.effect ?? '') === '' || toleration.effect === 'NoExecute'),
    )
    if (tolerates) continue
    spec.tolerations = [
      ...(spec.tolerations ?? []),
      { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
    ]
  }
}
