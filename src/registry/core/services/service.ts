/** Thread: any. The shape of services, and what follows from their type. */
import type { KubeObject } from '../../../api/object.js'

export interface ServicePort {
  name?: string
  protocol?: string
  appProtocol?: string
  port?: number
  targetPort?: number | string
  nodePort?: number
}

export interface ServiceSpec {
  type?: string
  ports?: ServicePort[]
  selector?: Record<string, string>
  clusterIP?: string
  clusterIPs?: string[]
  ipFamilies?: string[]
  ipFamilyPolicy?: string
  externalIPs?: string[]
  externalName?: string
  sessionAffinity?: string
  sessionAffinityConfig?: { clientIP?: { timeoutSeconds?: number } }
  loadBalancerIP?: string
  loadBalancerSourceRanges?: string[]
  loadBalancerClass?: string
  allocateLoadBalancerNodePorts?: boolean
  externalTrafficPolicy?: string
  internalTrafficPolicy?: string
  healthCheckNodePort?: number
  trafficDistribution?: string
}

export interface LoadBalancerIngress {
  ip?: string
  ipMode?: string
  hostname?: string
}

export interface Service extends KubeObject {
  spec?: ServiceSpec
  status?: { loadBalancer?: { ingress?: LoadBalancerIngress[] }; conditions?: unknown[] }
}

export const CLUSTER_IP_NONE = 'None'

export const isHeadless = ({ clusterIPs = [] }: ServiceSpec): boolean =>
  clusterIPs.length === 1 && clusterIPs[0] === CLUSTER_IP_NONE

export const needsClusterIP = ({ type }: ServiceSpec): boolean => type !== 'ExternalName'

/** Whether ports of nodes are given out for it. */
export const needsNodePort = ({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean =>
  type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false)

/** Load balancers that keep traffic on the node ask a port of the node whether anything runs there. */
export const needsHealthCheck = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local'

export const isExternallyAccessible = ({ type, externalIPs = [] }: ServiceSpec): boolean =>
  type === 'LoadBalancer' || type === 'NodePort' || (type === 'ClusterIP' && externalIPs.length > 0)
