/** Thread: main. The flags of service networking and of the service that leads to this server. */
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { IPRange } from '../../api/network/ip-range.js'
import { parsePortRange } from '../../api/network/port-range.js'
import { formatCidr, parseCidr } from '../../api/validation/addresses.js'
import type { ServiceNetwork } from '../../protocol/pool-start.js'
import type { Flag } from './flags.js'

const SERVICES = 'Services'
/** The shortest prefixes of ranges, by address length: larger ranges are refused, as by kube-apiserver. */
const MIN_PREFIX = { 32: 12, 128: 64 } as const
/** The fewest addresses of a range: one for the kubernetes service and some for others. */
const MIN_ADDRESSES = 8

export const SERVICE_FLAGS: readonly Flag[] = [
  {
    name: 'service-cluster-ip-range',
    type: 'list',
    default: '10.0.0.0/24',
    group: SERVICES,
    help: 'The range that cluster IPs come from: a CIDR, or two of different families, separated by a comma.',
  },
  {
    name: 'service-node-port-range',
    type: 'string',
    default: '30000-32767',
    group: SERVICES,
    help: 'The ports of nodes that services may have, both ends included.',
  },
  {
    name: 'advertise-address',
    type: 'string',
    default: '',
    group: SERVICES,
    help: 'The address at which the cluster finds this server; without it --bind-address, or the first of this host.',
  },
  {
    name: 'kubernetes-service-node-port',
    type: 'integer',
    default: '0',
    group: SERVICES,
    help: 'The port of the nodes at which the kubernetes service is reached; 0: a cluster IP only.',
  },
  {
    name: 'endpoint-reconciler-type',
    type: 'string',
    default: 'lease',
    group: SERVICES,
    help: 'How servers on one storage keep the endpoints of the kubernetes service: lease or none.',
  },
]

export interface ServiceSettings {
  readonly clusterIPRanges: readonly string[]
  readonly nodePortRange: string
  readonly advertiseAddress: string
  readonly kubernetesServiceNodePort: number
  readonly endpointReconcilerType: string
}

export function serviceErrors(settings: ServiceSettings): string[] {
  const { clusterIPRanges, nodePortRange, advertiseAddress, kubernetesServiceNodePort, endpointReconcilerType } =
    settings
  const errors = rangeErrors(clusterIPRanges)
  const ports = parsePortRange(nodePortRange)
  if (ports === undefined || ports.base < 1)
    errors.push(`--service-node-port-range ${JSON.stringify(nodePortRange)} is no range of ports`)
  else if (
    kubernetesServiceNodePort !== 0 &&
    (kubernetesServiceNodePort < ports.base || kubernetesServiceNodePort >= ports.base + ports.size)
  )
    errors.push('--kubernetes-service-node-port must be within --service-node-port-range')
  if (advertiseAddress !== '' && isIP(advertiseAddress) === 0)
    errors.push(`--advertise-address ${JSON.stringify(advertiseAddress)} is no IP address`)
  if (!['lease', 'none'].includes(endpointReconcilerType))
    errors.push(`--endpoint-reconciler-type ${JSON.stringify(endpointReconcilerType)} is unknown; it is lease or none`)
  return errors
}

function rangeErrors(ranges: readonly string[]): string[] {
  const flag = '--service-cluster-ip-range'
  if (ranges.length === 0 || ranges.length > 2) return [`${flag} must hold one or two ranges`]
  const cidrs = ranges.map(parseCidr)
  const errors = ranges.flatMap((text, i) => {
    const cidr = cidrs[i]
    if (cidr === undefined) return [`${flag}: ${JSON.stringify(text)} is no CIDR`]
    const { bits } = cidr.address
    if (cidr.prefix < MIN_PREFIX[bits]) return [`${flag}: ${text} is too large; a /${MIN_PREFIX[bits]} is the largest`]
    const size = 2 ** (bits - cidr.prefix)
    return size < MIN_ADDRESSES ? [`${flag}: ${text} is too small; it must have ${MIN_ADDRESSES} addresses`] : []
  })
  if (cidrs.length === 2 && cidrs[0] !== undefined && cidrs[0].address.bits === cidrs[1]?.address.bits)
    errors.push(`${flag} must hold one range of each IP family when it holds two`)
  return errors
}

/** The service network of settings that have no errors. */
export function serviceNetwork({ clusterIPRanges, nodePortRange }: ServiceSettings): ServiceNetwork {
  return { clusterIPRanges: clusterIPRanges.map((text) => formatCidr(parseCidr(text)!)), nodePortRange }
}

/** The address of the service `kubernetes`: the first one of the first range. */
export const kubernetesServiceIP = ({ clusterIPRanges }: ServiceNetwork): string =>
  new IPRange(parseCidr(clusterIPRanges[0]!)!).firstAddress!

const NOT_ADVERTISED: ReadonlySet<string> = new Set(['', '0.0.0.0', '::', '127.0.0.1', '::1', 'localhost'])

/**
 * The address that endpoints have: they may not be on loopback, so a server there tells the host's address. Undefined
 * when the host has none.
 */
export function advertisedAddress(advertised: string, bound: string): string | undefined {
  if (advertised !== '') return advertised
  if (!NOT_ADVERTISED.has(bound) && isIP(bound) !== 0) return bound
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const own = addresses.filter(({ internal, address }) => !internal && !address.startsWith('fe80:'))
  return (own.find(({ family }) => family === 'IPv4') ?? own[0])?.address
}
