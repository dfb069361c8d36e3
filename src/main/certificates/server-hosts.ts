/** Thread: main. Every name and address under which clients may know the server. */
import { isIP } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'

const SERVICE_NAMES = [
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
]

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9])?)*$/

export interface ServerHostsOptions {
  readonly bindAddress: string
  /** The value of --advertise-address; '' when there is none. */
  readonly advertiseAddress: string
  /** The address of the service `kubernetes`. */
  readonly serviceAddress: string
}

export function serverHosts({ bindAddress, advertiseAddress, serviceAddress }: ServerHostsOptions): string[] {
  const machine = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    // Link-local addresses are left out: they mean something on one link only.
    .filter(({ scopeid }) => scopeid === undefined || scopeid === 0)
    .map(({ address }) => address)
  const named = [bindAddress, advertiseAddress].filter((host) => host !== '' && !isUnspecified(host))
  const own = hostname().toLowerCase()
  const all = ['localhost', '127.0.0.1', '::1', ...SERVICE_NAMES, serviceAddress, ...machine, ...named]
  if (isIP(own) !== 0 || HOST_NAME.test(own)) all.push(own)
  return [...new Set(all)]
}

export const isUnspecified = (host: string): boolean => host === '0.0.0.0' || host === '::'

/** The first address of a range: 10.96.0.0/16 → 10.96.0.1. A text that is no IPv4 range gives the usual one. */
export function firstAddress(range: string): string {
  const [base = ''] = range.split('/')
  if (isIP(base) !== 4) return '10.96.0.1'
  const bytes = Buffer.from(base.split('.').map(Number))
  bytes.writeUInt32BE(bytes.readUInt32BE() + 1)
  return [...bytes].join('.')
}
