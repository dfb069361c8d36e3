/** Thread: any. Defaults of services. */
import type { Service } from '../../../api/generated/kinds/core.v1.js'
import type { KubeObject } from '../../../api/object.js'
import { isExternallyAccessible } from './service.js'

const AFFINITY_SECONDS = 3 * 60 * 60
const WITH_CLUSTER_IP: ReadonlySet<string> = new Set(['ClusterIP', 'NodePort', 'LoadBalancer'])

export function setServiceDefaults(object: KubeObject): void {
  const service = object as Service
  service.spec ??= {}
  const { spec } = service
  spec.sessionAffinity ||= 'None'
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig
  if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined)
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: AFFINITY_SECONDS } }
  spec.type ||= 'ClusterIP'
  for (const port of spec.ports ?? []) {
    port.protocol ||= 'TCP'
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '')
      port.targetPort = port.port ?? 0
  }
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ||= 'Cluster'
  if (WITH_CLUSTER_IP.has(spec.type)) spec.internalTrafficPolicy ??= 'Cluster'
  if (spec.type !== 'LoadBalancer') return
  spec.allocateLoadBalancerNodePorts ??= true
  for (const ingress of service.status?.loadBalancer?.ingress ?? [])
    if ((ingress.ip ?? '') !== '') ingress.ipMode ??= 'VIP'
}
