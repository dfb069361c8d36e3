/** Thread: pool. Names with a scheme and a port around them, and addresses that may be passed on to. */
import { BlockList, isIP } from 'node:net'

export interface NamedPort {
  /** '' when none was given. */
  readonly scheme: '' | 'http' | 'https'
  readonly name: string
  /** A number or a name; '' when none was given. */
  readonly port: string
}

/** `name`, `name:port` or `scheme:name:port`; undefined for anything else. */
export function splitSchemeNamePort(id: string): NamedPort | undefined {
  const parts = id.split(':')
  if (parts.length > 3) return undefined
  const [scheme, name, port] = parts.length === 3 ? parts : ['', parts[0], parts[1] ?? '']
  if (scheme !== '' && scheme !== 'http' && scheme !== 'https') return undefined
  return name === undefined || name === '' ? undefined : { scheme, name, port: port ?? '' }
}

/** Loopback, link-local, multicast, broadcast and none: never what a pod or a node is reached by. */
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
