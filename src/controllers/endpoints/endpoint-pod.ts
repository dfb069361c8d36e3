/**
 * Thread: controllers. What of a pod matters to the endpoints of services. Everything else of a pod may change without anybody
 * having to write endpoints.
 */
import type { Container, Pod, Service, ServicePort } from '../../api/generated/kinds/core.v1.js'
import { formatAddress, isMappedAddress, parseAddress } from '../../api/validation/addresses.js'

export type IpFamily = 'IPv4' | 'IPv6'

export interface EndpointPod {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly nodeName: string
  readonly hostname: string
  readonly subdomain: string
  readonly addresses: readonly { readonly family: IpFamily; readonly ip: string }[]
  readonly isReady: boolean
  readonly isTerminating: boolean
  /** The pod has come to its end: it serves nobody any more. */
  readonly hasEnded: boolean
  /** When it became ready or stopped being so; '' when it never told. */
  readonly changedAt: string
  /** Ports by `name/protocol`. */
  readonly ports: Readonly<Record<string, number>>
}

export function endpointPod({ metadata, spec, status }: Pod): EndpointPod {
  const { name = '', namespace = '', uid = '', deletionTimestamp } = metadata ?? {}
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  const texts = status?.podIPs?.length ? status.podIPs.map(({ ip = '' }) => ip) : [status?.podIP ?? '']
  return {
    name,
    namespace,
    uid,
    nodeName: spec?.nodeName ?? '',
    hostname: spec?.hostname ?? '',
    subdomain: spec?.subdomain ?? '',
    addresses: texts.flatMap(addressOf),
    isReady: ready?.status === 'True',
    isTerminating: deletionTimestamp !== undefined,
    hasEnded: status?.phase === 'Failed' || status?.phase === 'Succeeded',
    changedAt: ready?.lastTransitionTime ?? '',
    ports: portsOf(spec?.containers ?? [], spec?.initContainers ?? []),
  }
}

/** Empty for what is no address. An IPv4 address in the clothes of IPv6 is one of IPv4. */
export function addressOf(text: string): { readonly family: IpFamily; readonly ip: string }[] {
  const address = parseAddress(text)
  if (address === undefined) return []
  const family = address.bits === 32 || isMappedAddress(address) ? 'IPv4' : 'IPv6'
  return [{ family, ip: formatAddress(address) }]
}

function portsOf(containers: readonly Container[], initContainers: readonly Container[]): Record<string, number> {
  const ports: Record<string, number> = Object.create(null)
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')
  for (const { ports: named = [] } of [...containers, ...sidecars])
    for (const { name = '', protocol = 'TCP', containerPort = 0 } of named)
      if (name !== '') ports[`${name}/${protocol}`] ??= containerPort
  return ports
}

/** The number that a port of the service has in this pod; undefined when the pod has no port of that name. */
export function findPort(pod: EndpointPod, { targetPort, port, protocol = 'TCP' }: ServicePort): number | undefined {
  if (typeof targetPort === 'string') return pod.ports[`${targetPort}/${protocol}`]
  return targetPort === undefined || targetPort === 0 ? port : Number(targetPort)
}

export const isInEndpoints = (pod: EndpointPod, withTerminating: boolean): boolean =>
  !pod.hasEnded && pod.addresses.length > 0 && (withTerminating || !pod.isTerminating)

/** Pods with a hostname have it under the service that their subdomain names. */
export const hostnameIn = (pod: EndpointPod, { metadata }: Service): string =>
  pod.subdomain === metadata?.name && pod.namespace === metadata?.namespace ? pod.hostname : ''

export const isHeadless = ({ spec }: Service): boolean => (spec?.clusterIP ?? '') === '' || spec?.clusterIP === 'None'
