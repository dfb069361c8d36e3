/** Thread: pool. The rules of services. */

import { duplicate, FieldPath, forbidden, invalid, required } from '../../../api/field-error.js'
import type { Service, ServicePort, ServiceSpec } from '../../../api/generated/kinds/core.v1.js'
import { legacyCidr, legacyIP, parseAddress } from '../../../api/validation/addresses.js'
import {
  dnsLabel,
  dnsSubdomain,
  type Errors,
  oneOf,
  portNumber,
  portNumberOrName,
  qualifiedName,
} from '../../../api/validation/checks.js'
import { validateLabels } from '../../../api/validation/object-meta.js'
import { clusterIPErrors, clusterIPUpdateErrors } from './cluster-ips.js'
import { isExternallyAccessible, isHeadless, needsHealthCheck } from './service.js'

const SPEC = FieldPath.of('spec')
const PORTS = SPEC.child('ports')
const ANNOTATIONS = FieldPath.of('metadata', 'annotations')
const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints'
const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode'
const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges'
const MAX_AFFINITY_SECONDS = 86400
const LOAD_BALANCER_ONLY = "may only be used when `type` is 'LoadBalancer'"

export function serviceErrors(service: Service, old?: Service): Errors {
  const { spec = {} } = service
  const { ports = [], type = '' } = spec
  return [
    ...topologyErrors(service),
    ...(ports.length === 0 && !isHeadless(spec) && type !== 'ExternalName' ? [required(PORTS)] : []),
    ...typeErrors(spec),
    ...portsErrors(spec),
    ...validateLabels(spec.selector, SPEC.child('selector')),
    ...affinityErrors(spec),
    ...clusterIPErrors(spec, old?.spec),
    ...externalIPErrors(spec, old?.spec),
    ...oneOf(type, ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName'], SPEC.child('type'), 'required'),
    ...loadBalancerErrors(service, old),
    ...trafficErrors(spec),
  ]
}

export function serviceUpdateErrors(service: Service, old: Service): Errors {
  const [spec, before] = [service.spec ?? {}, old.spec ?? {}]
  const errors = clusterIPUpdateErrors(spec, before)
  if (
    spec.type === 'LoadBalancer' &&
    before.type === 'LoadBalancer' &&
    spec.loadBalancerClass !== before.loadBalancerClass
  )
    errors.push(invalid(SPEC.child('loadBalancerClass'), spec.loadBalancerClass ?? null, 'may not change once set'))
  errors.push(...classErrors(spec))
  const checked = needsHealthCheck(spec) && needsHealthCheck(before)
  if (checked && (spec.healthCheckNodePort ?? 0) !== (before.healthCheckNodePort ?? 0))
    errors.push(forbidden(SPEC.child('healthCheckNodePort'), 'field is immutable'))
  return [...errors, ...serviceErrors(service, old)]
}

function topologyErrors({ metadata }: Service): Errors {
  const { [TOPOLOGY_HINTS]: hints, [TOPOLOGY_MODE]: mode } = metadata?.annotations ?? {}
  if (hints === undefined || mode === undefined || hints === mode) return []
  return [invalid(ANNOTATIONS.key(TOPOLOGY_MODE), mode, `must match annotations[${TOPOLOGY_HINTS}]`)]
}

function typeErrors(spec: ServiceSpec): Errors {
  const { type, clusterIPs = [], ipFamilies = [], ipFamilyPolicy, externalName = '' } = spec
  if (type === 'LoadBalancer' || type === 'NodePort')
    return isHeadless(spec)
      ? [invalid(SPEC.child('clusterIPs').index(0), clusterIPs[0], `may not be set to 'None' for ${type} services`)]
      : []
  if (type !== 'ExternalName') return []
  const refused = (field: string) => forbidden(SPEC.child(field), 'may not be set for ExternalName services')
  const name = externalName.replace(/\.$/, '')
  return [
    ...(clusterIPs.length > 0 ? [refused('clusterIPs')] : []),
    ...(ipFamilies.length > 0 ? [refused('ipFamilies')] : []),
    ...(ipFamilyPolicy === undefined ? [] : [refused('ipFamilyPolicy')]),
    ...(name === '' ? [required(SPEC.child('externalName'))] : dnsSubdomain(name, SPEC.child('externalName'))),
  ]
}

function portsErrors({ ports = [], type }: ServiceSpec): Errors {
  const names = new Set<string>()
  const [nodePorts, numbers] = [new Set<string>(), new Set<string>()]
  return ports.flatMap((port, i) => {
    const at = PORTS.index(i)
    const { name = '', nodePort = 0, protocol = '', port: number = 0 } = port
    const errors = portErrors(port, ports.length > 1, at)
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    if (name !== '') names.add(name)
    if (nodePort !== 0) {
      if (type === 'ClusterIP')
        errors.push(forbidden(at.child('nodePort'), "may not be used when `type` is 'ClusterIP'"))
      const key = `${protocol}/${nodePort}`
      if (nodePorts.has(key)) errors.push(duplicate(at.child('nodePort'), nodePort))
      nodePorts.add(key)
    }
    const key = `${protocol}/${number}`
    if (numbers.has(key)) errors.push(duplicate(at, { protocol, port: number }))
    numbers.add(key)
    return errors
  })
}

function portErrors(
  { name = '', port = 0, protocol, targetPort = 0, appProtocol }: ServicePort,
  named: boolean,
  path: FieldPath,
): Errors {
  return [
    ...(name === '' ? (named ? [required(path.child('name'))] : []) : dnsLabel(name, path.child('name'))),
    ...portNumber(port, path.child('port')),
    ...oneOf(protocol, ['SCTP', 'TCP', 'UDP'], path.child('protocol'), 'required'),
    ...portNumberOrName(targetPort, path.child('targetPort')),
    ...(appProtocol === undefined ? [] : qualifiedName(appProtocol, path.child('appProtocol'))),
  ]
}

function affinityErrors({ sessionAffinity, sessionAffinityConfig: config }: ServiceSpec): Errors {
  const errors = oneOf(sessionAffinity, ['ClientIP', 'None'], SPEC.child('sessionAffinity'), 'required')
  const at = SPEC.child('sessionAffinityConfig')
  if (sessionAffinity === 'None' && config !== undefined)
    errors.push(forbidden(at, 'must not be set when session affinity is None'))
  if (sessionAffinity !== 'ClientIP') return errors
  const seconds = config?.clientIP?.timeoutSeconds
  if (config === undefined) errors.push(required(at))
  else if (config.clientIP === undefined) errors.push(required(at.child('clientIP')))
  else if (seconds === undefined) errors.push(required(at.child('clientIP', 'timeoutSeconds')))
  else if (seconds <= 0 || seconds > MAX_AFFINITY_SECONDS)
    errors.push(
      invalid(
        at.child('clientIP', 'timeoutSeconds'),
        seconds,
        `must be greater than 0 and at most ${MAX_AFFINITY_SECONDS}`,
      ),
    )
  return errors
}

function externalIPErrors({ externalIPs = [] }: ServiceSpec, old: ServiceSpec | undefined): Errors {
  const known = new Set(old?.externalIPs)
  return externalIPs.flatMap((ip, i) => {
    const at = SPEC.child('externalIPs').index(i)
    const errors = legacyIP(ip, at, known)
    return errors.length > 0 ? errors : routableErrors(ip, at)
  })
}

/** Addresses that mean a host itself or its link cannot be a service's. */
function routableErrors(ip: string, path: FieldPath): Errors {
  const address = parseAddress(ip)
  if (address === undefined) return [invalid(path, ip, 'must be a valid IP address')]
  const { bits, value } = address
  const within = (prefix: bigint, length: number): boolean => value >> BigInt(bits - length) === prefix
  const four = bits === 32
  const refuse = (when: boolean, text: string): Errors => (when ? [invalid(path, ip, text)] : [])
  return [
    ...refuse(value === 0n, 'may not be unspecified'),
    ...refuse(four ? within(127n, 8) : value === 1n, 'may not be in the loopback range'),
    ...refuse(four ? within(0xa9fen, 16) : within(0xfe80n >> 6n, 10), 'may not be in the link-local range'),
    ...refuse(four ? within(0xe00000n, 24) : within(0xff02n, 16), 'may not be in the link-local multicast range'),
  ]
}

function loadBalancerErrors({ metadata, spec = {} }: Service, old: Service | undefined): Errors {
  const isLoadBalancer = spec.type === 'LoadBalancer'
  const ranges = spec.loadBalancerSourceRanges ?? []
  const annotation = metadata?.annotations?.[SOURCE_RANGES]
  const errors: Errors = []
  if (ranges.length > 0) {
    const at = SPEC.child('LoadBalancerSourceRanges')
    if (!isLoadBalancer) errors.push(forbidden(at, LOAD_BALANCER_ONLY))
    const known = new Set((old?.spec?.loadBalancerSourceRanges ?? []).map((range) => range.trim()))
    for (const [i, range] of ranges.entries()) errors.push(...legacyCidr(range.trim(), at.index(i), known))
  } else if (annotation !== undefined) {
    const at = ANNOTATIONS.key(SOURCE_RANGES)
    if (!isLoadBalancer) errors.push(forbidden(at, LOAD_BALANCER_ONLY))
    const unchanged = old?.metadata?.annotations?.[SOURCE_RANGES] === annotation
    if (!unchanged && annotation.trim() !== '')
      for (const range of annotation.trim().split(',')) errors.push(...legacyCidr(range.trim(), at))
  }
  if (spec.allocateLoadBalancerNodePorts !== undefined && !isLoadBalancer)
    errors.push(forbidden(SPEC.child('allocateLoadBalancerNodePorts'), LOAD_BALANCER_ONLY))
  if (isLoadBalancer && spec.allocateLoadBalancerNodePorts === undefined)
    errors.push(required(FieldPath.of('allocateLoadBalancerNodePorts')))
  return [...errors, ...classErrors(spec)]
}

function classErrors({ type, loadBalancerClass }: ServiceSpec): Errors {
  if (loadBalancerClass === undefined) return []
  const at = SPEC.child('loadBalancerClass')
  return type === 'LoadBalancer' ? qualifiedName(loadBalancerClass, at) : [forbidden(at, LOAD_BALANCER_ONLY)]
}

function trafficErrors(spec: ServiceSpec): Errors {
  const {
    externalTrafficPolicy = '',
    healthCheckNodePort = 0,
    internalTrafficPolicy,
    trafficDistribution,
    type = '',
  } = spec
  const externalAt = SPEC.child('externalTrafficPolicy')
  const errors: Errors = []
  if (isExternallyAccessible(spec))
    errors.push(...oneOf(externalTrafficPolicy, ['Cluster', 'Local'], externalAt, 'required'))
  else if (externalTrafficPolicy !== '')
    errors.push(invalid(externalAt, externalTrafficPolicy, 'may only be set for externally-accessible services'))
  const healthAt = SPEC.child('healthCheckNodePort')
  if (needsHealthCheck(spec)) {
    if (healthCheckNodePort === 0) errors.push(required(healthAt))
    else errors.push(...portNumber(healthCheckNodePort, healthAt))
  } else if (healthCheckNodePort !== 0)
    errors.push(invalid(healthAt, healthCheckNodePort, "only for load balancers with `externalTrafficPolicy` 'Local'"))
  const internalAt = SPEC.child('internalTrafficPolicy')
  if (internalTrafficPolicy !== undefined)
    errors.push(...oneOf(internalTrafficPolicy, ['Cluster', 'Local'], internalAt))
  else if (['NodePort', 'LoadBalancer', 'ClusterIP'].includes(type)) errors.push(required(internalAt))
  if (trafficDistribution !== undefined) {
    const supported = ['PreferClose', 'PreferSameZone', 'PreferSameNode']
    errors.push(...oneOf(trafficDistribution, supported, SPEC.child('trafficDistribution')))
  }
  return errors
}

/** Only load balancers have points where traffic enters. */
export function serviceStatusErrors({ spec, status }: Service, old: Service): Errors {
  const path = FieldPath.of('status', 'loadBalancer', 'ingress')
  const ingress = status?.loadBalancer?.ingress ?? []
  if (spec?.type !== 'LoadBalancer')
    return ingress.length === 0 ? [] : [forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")]
  const known = new Set((old.status?.loadBalancer?.ingress ?? []).map(({ ip = '' }) => ip))
  return ingress.flatMap(({ ip = '', ipMode, hostname = '' }, i) => {
    const at = path.index(i)
    const errors = ip === '' ? [] : legacyIP(ip, at.child('ip'), known)
    if (ipMode === undefined) {
      if (ip !== '') errors.push(required(at.child('ipMode'), 'must be specified when `ip` is set'))
    } else if (ip === '') errors.push(forbidden(at.child('ipMode'), 'may not be specified when `ip` is not set'))
    else errors.push(...oneOf(ipMode, ['VIP', 'Proxy'], at.child('ipMode')))
    if (hostname !== '') {
      errors.push(...dnsSubdomain(hostname, at.child('hostname')))
      if (parseAddress(hostname) !== undefined)
        errors.push(invalid(at.child('hostname'), hostname, 'must be a DNS name, not an IP address'))
    }
    return errors
  })
}
