/** Thread: any. The shape of services, and what follows from their type. */
import type { ServiceSpec } from '../../../api/generated/kinds/core.v1.js'

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
