/**
 * Thread: pool. Values that the server gave a service: kept when a client sends the service without them, dropped when it
 * becomes a type that has none. Pure; nothing is allocated here.
 */
import type { ServiceSpec } from '../../../api/generated/kinds/core.v1.js'
import { equalButEmptyLists } from '../pod-template/checks.js'
import { isExternallyAccessible, needsClusterIP, needsHealthCheck, needsNodePort } from './service.js'

/** clusterIP and clusterIPs say one thing; clients of old know the former only. */
export function normalizeClusterIPs(spec: ServiceSpec, old?: ServiceSpec): void {
  const single = spec.clusterIP ?? ''
  if (old === undefined) {
    if (single !== '' && (spec.clusterIPs ?? []).length === 0) spec.clusterIPs = [single]
    return
  }
  const before = old.clusterIP ?? ''
  if ((old.clusterIPs ?? []).length > 0 && (spec.clusterIPs ?? []).length === 0 && before === single)
    spec.clusterIPs = [...old.clusterIPs!]
  if (before === single || !equalButEmptyLists(spec.clusterIPs ?? [], old.clusterIPs ?? [])) return
  // Only the single one was changed: the list follows it.
  if (single === '') delete spec.clusterIPs
  else spec.clusterIPs = [single]
}

export function keepAllocatedValues(spec: ServiceSpec, old: ServiceSpec): void {
  if (needsClusterIP(old) && needsClusterIP(spec)) {
    if ((spec.clusterIP ?? '') === '' && old.clusterIP !== undefined) spec.clusterIP = old.clusterIP
    if ((spec.clusterIPs ?? []).length === 0 && (old.clusterIPs ?? []).length > 0)
      spec.clusterIPs = [...old.clusterIPs!]
  }
  if (needsNodePort(old) && needsNodePort(spec)) keepNodePorts(spec, old)
  if (needsHealthCheck(old) && needsHealthCheck(spec) && old.healthCheckNodePort !== undefined)
    spec.healthCheckNodePort ||= old.healthCheckNodePort
}

const nodePortsOf = ({ ports = [] }: ServiceSpec): Set<number> =>
  new Set(ports.map(({ nodePort = 0 }) => nodePort).filter((port) => port !== 0))

/** By the names of the ports, unless another port has taken the number. */
function keepNodePorts(spec: ServiceSpec, old: ServiceSpec): void {
  const now = nodePortsOf(spec)
  const taken = new Set([...nodePortsOf(old)].filter((port) => now.has(port)))
  const byName = new Map((old.ports ?? []).map(({ name = '', nodePort = 0 }) => [name, nodePort]))
  for (const port of spec.ports ?? []) {
    const before = byName.get(port.name ?? '') ?? 0
    if ((port.nodePort ?? 0) === 0 && before !== 0 && !taken.has(before)) port.nodePort = before
  }
}

/** What a client carried over without meaning it when it changed the type. */
export function dropTypeDependentFields(spec: ServiceSpec, old: ServiceSpec): void {
  if (needsClusterIP(old) && !needsClusterIP(spec)) {
    if (spec.clusterIP === old.clusterIP && equalButEmptyLists(spec.clusterIPs, old.clusterIPs)) {
      delete spec.clusterIP
      delete spec.clusterIPs
    }
    if (equalButEmptyLists(spec.ipFamilies, old.ipFamilies)) delete spec.ipFamilies
    if (spec.ipFamilyPolicy === old.ipFamilyPolicy) delete spec.ipFamilyPolicy
  }
  const hasNodePorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer'
  const [before, now] = [nodePortsOf(old), nodePortsOf(spec)]
  if (hasNodePorts(old) && !hasNodePorts(spec) && [...now].every((port) => before.has(port)))
    for (const port of spec.ports ?? []) delete port.nodePort
  if (needsHealthCheck(old) && !needsHealthCheck(spec) && spec.healthCheckNodePort === old.healthCheckNodePort)
    delete spec.healthCheckNodePort
  if (old.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    if (spec.allocateLoadBalancerNodePorts === old.allocateLoadBalancerNodePorts)
      delete spec.allocateLoadBalancerNodePorts
    if (spec.loadBalancerClass === old.loadBalancerClass) delete spec.loadBalancerClass
  }
  if (
    isExternallyAccessible(old) &&
    !isExternallyAccessible(spec) &&
    spec.externalTrafficPolicy === old.externalTrafficPolicy
  )
    delete spec.externalTrafficPolicy
}
