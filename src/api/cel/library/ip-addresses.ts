/** Thread: any. IP addresses in expressions: `ip('10.0.0.1').family()`. No zones, no IPv4 within IPv6, no leading zeros. */
import { isIP } from 'node:net'
import { type Address, formatAddress, isMappedAddress, parseAddress } from '../../validation/addresses.js'
import type { FunctionDeclaration, Library } from '../function-declaration.js'
import { BOOL, type CelType, INT, opaque, STRING } from '../types.js'
import { Boxed, CelError, type CelValue } from '../values/value.js'
import { goQuote } from './go-numbers.js'
import { declare, method, plain, walks } from './overload.js'

export const IP = opaque('net.IP')

export class IPValue extends Boxed {
  readonly address: Address

  constructor(address: Address) {
    super()
    this.address = address
  }

  get type(): CelType {
    return IP
  }

  equals(other: CelValue): boolean | CelError {
    if (!(other instanceof IPValue)) return new CelError('no such overload')
    return this.address.bits === other.address.bits && this.address.value === other.address.value
  }
}

export function parseIP(text: string): IPValue | CelError {
  const [bare = '', zone] = text.split('%', 2)
  const address = isIP(bare) === 0 ? undefined : parseAddress(bare)
  if (address === undefined || (zone !== undefined && (zone === '' || address.bits === 32))) {
    const quoted = goQuote(text)
    return new CelError(
      `IP Address ${quoted} parse error during conversion from string: ParseAddr(${quoted}): unable to parse IP`,
    )
  }
  if (zone !== undefined) return new CelError(`IP address ${goQuote(text)} with zone value is not allowed`)
  if (isMappedAddress(address)) return new CelError(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`)
  return new IPValue(address)
}

/** Whether an address begins with these bits. */
const within = ({ value, bits }: Address, prefix: bigint, length: number): boolean =>
  value >> BigInt(bits - length) === prefix

const isUnspecified = ({ value }: Address): boolean => value === 0n
const isLoopback = (address: Address): boolean =>
  address.bits === 32 ? within(address, 127n, 8) : address.value === 1n
const isMulticast = (address: Address): boolean =>
  address.bits === 32 ? within(address, 0xen, 4) : within(address, 0xffn, 8)
const isLinkLocalMulticast = (address: Address): boolean =>
  address.bits === 32 ? within(address, 0xe00000n, 24) : ((address.value >> 112n) & 0xff0fn) === 0xff02n
const isLinkLocalUnicast = (address: Address): boolean =>
  address.bits === 32 ? within(address, 0xa9fen, 16) : within(address, 0x3fan, 10)
const isGlobalUnicast = (address: Address): boolean =>
  !isUnspecified(address) &&
  !(address.bits === 32 && address.value === 0xffffffffn) &&
  !isLoopback(address) &&
  !isMulticast(address) &&
  !isLinkLocalUnicast(address)

const test = (name: string, id: string, is: (address: Address) => boolean): FunctionDeclaration =>
  declare(
    name,
    method(id, [IP], BOOL, (ip: IPValue) => is(ip.address)),
  )

function isCanonical(text: string): CelValue {
  const ip = parseIP(text)
  return ip instanceof CelError ? ip : formatAddress(ip.address) === text
}

export const ipAddresses: Library = {
  types: [IP],
  functions: [
    declare('ip', plain('string_to_ip', [STRING], IP, parseIP, walks())),
    declare(
      'isIP',
      plain('is_ip', [STRING], BOOL, (text: string) => !(parseIP(text) instanceof CelError), walks()),
    ),
    declare('ip.isCanonical', plain('ip_is_canonical', [STRING], BOOL, isCanonical, walks(2))),
    declare(
      'family',
      method('ip_family', [IP], INT, ({ address }: IPValue) => (address.bits === 32 ? 4 : 6)),
    ),
    declare(
      'string',
      plain('ip_to_string', [IP], STRING, ({ address }: IPValue) => formatAddress(address)),
    ),
    test('isUnspecified', 'ip_is_unspecified', isUnspecified),
    test('isLoopback', 'ip_is_loopback', isLoopback),
    test('isLinkLocalMulticast', 'ip_is_link_local_multicast', isLinkLocalMulticast),
    test('isLinkLocalUnicast', 'ip_is_link_local_unicast', isLinkLocalUnicast),
    test('isGlobalUnicast', 'ip_is_global_unicast', isGlobalUnicast),
  ],
}
