/** Thread: pool. What a request to proxy names (a scheme, a name and a port), and addresses that may be passed on to. */
import { BlockList, isIP } from 'node:net'
import { newBadRequest, newServiceUnavailable } from '../../api/status.js'
import type { ConnectPlan } from '../../protocol/main-pool.js'

interface NamedPort {
  /** The scheme; '' when none was given. */
  readonly scheme: '' | 'http' | 'https'
  readonly name: string
  /** The port as a number or a name; '' when none was given. */
  readonly port: string
}

/** `name`, `name:port` or `scheme:name:port`; undefined for anything else. */
function splitSchemeNamePort(id: string): NamedPort | undefined {
  const parts = id.split(':')
  if (parts.length > 3) return undefined
  const [scheme, name, port] = parts.length === 3 ? parts : ['', parts[0], parts[1] ?? '']
  if (scheme !== '' && scheme !== 'http' && scheme !== 'https') return undefined
  return name === undefined || name === '' ? undefined : { scheme, name, port: port ?? '' }
}

/** `what` is the kind of the target, for messages: pod. Throws a StatusError. */
export function proxyTarget(id: string, what: string): NamedPort & { readonly scheme: 'http' | 'https' } {
  const target = splitSchemeNamePort(id)
  if (target === undefined) throw newBadRequest(`invalid ${what} request ${JSON.stringify(id)}`)
  return { ...target, scheme: target.scheme === '' ? 'http' : target.scheme }
}

/** The plan of a connection to what runs in a pod or on a node, which is not authenticated. */
export function workloadPlan(scheme: 'http' | 'https', host: string, port: number): ConnectPlan {
  return { kind: 'proxy', scheme, host, port, path: '', trust: 'workload', extendedWebSockets: false }
}

/** The number of a port; throws a StatusError when the text is none. */
export function portNumber(text: string): number {
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535)
    throw newServiceUnavailable(`error trying to reach service: ${JSON.stringify(text)} is no port`)
  return port
}

/** Loopback, link-local, multicast, broadcast and unspecified addresses, by which no pod or node is reached. */
const REFUSED = new BlockList()
REFUSED.addAddress('0.0.0.0')
REFUSED.addAddress('255.255.255.255')
REFUSED.addSubnet('127.0.0.0', 8)
REFUSED.addSubnet('169.254.0.0', 16)
REFUSED.addSubnet('224.0.0.0', 4)
REFUSED.addAddress('::', 'ipv6')
REFUSED.addAddress('::1', 'ipv6')
REFUSED.addSubnet('fe80::', 10, 'ipv6')
REFUSED.addSubnet('ff00::', 8, 'ipv6')

export function isProxyableAddress(address: string): boolean {
  const family = isIP(address)
  return family !== 0 && !REFUSED.check(address, family === 4 ? 'ipv4' : 'ipv6')
}
