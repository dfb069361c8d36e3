/** What admission plugins of the recorded server do to objects, where answers cannot be compared without it. */

import type { Service } from '#keelson/api/generated/kinds/core.v1.js'
import { type KubeObject, metadataOf } from '#keelson/api/object.js'
import { keepAllocatedValues, normalizeClusterIPs } from '#keelson/registry/core/services/allocated-values.js'
import { initIPFamilyFields } from '#keelson/registry/core/services/ip-families.js'
import { needsClusterIP, needsHealthCheck, needsNodePort } from '#keelson/registry/core/services/service.js'

interface PodLike extends KubeObject {
  spec?: {
    priority?: number
    preemptionPolicy?: string
    tolerations?: { key?: string; operator?: string; effect?: string; tolerationSeconds?: number }[]
  }
}

export function admitLikeRecordedServer(resource: string, object: KubeObject, old?: KubeObject): void {
  if (resource === 'pods') admitPod(object as PodLike, old as PodLike | undefined)
  if (resource === 'services') allocate(object as Service, old as Service | undefined)
}

/** Addresses and ports, as if every one were free; what is wrong with the addresses asked for is said alone. */
function allocate(service: Service, old: Service | undefined): void {
  const { spec = {} } = service
  if (old?.spec !== undefined) keepAllocatedValues(spec, old.spec)
  normalizeClusterIPs(spec, old?.spec)
  initIPFamilyFields(metadataOf(service).name ?? '', spec, old?.spec, { primary: 'IPv4', all: ['IPv4'] })
  if (old !== undefined) return
  if (needsClusterIP(spec)) {
    spec.clusterIP ||= '10.96.0.7'
    spec.clusterIPs ??= [spec.clusterIP]
  }
  if (needsNodePort(spec)) for (const [i, port] of (spec.ports ?? []).entries()) port.nodePort ||= 30000 + i
  if (needsHealthCheck(spec)) spec.healthCheckNodePort ||= 31000
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
