/** Thread: any. Networks in expressions: `cidr('10.0.0.0/8').containsIP('10.1.2.3')`. Bits beyond the prefix are kept. */
import { formatAddress } from '../../validation/addresses.js'
import { addRanges, exactly, type Range, STRING_TRAVERSAL_FACTOR, scaleRange } from '../cost/estimate.js'
import type { Library } from '../function-declaration.js'
import { BOOL, type CelType, INT, opaque, STRING } from '../types.js'
import { traversalCost } from '../values/strings.js'
import { Boxed, CelError, type CelValue } from '../values/value.js'
import { goQuote } from './go-numbers.js'
import { IP, IPValue, parseIP } from './ip-addresses.js'
import { type Costs, declare, method, plain, sizeOrNone, walks } from './overload.js'

const CIDR = opaque('net.CIDR')

class CIDRValue extends Boxed {
  readonly ip: IPValue
  readonly prefix: number

  constructor(ip: IPValue, prefix: number) {
    super()
    this.ip = ip
    this.prefix = prefix
  }

  get type(): CelType {
    return CIDR
  }

  equals(other: CelValue): boolean | CelError {
    return other instanceof CIDRValue
      ? this.prefix === other.prefix && this.ip.equals(other.ip)
      : new CelError('no such overload')
  }

  /** In bytes: how much of an address is compared with it. */
  get size(): number {
    return Math.ceil(this.prefix / 8)
  }

  contains({ address: { bits, value } }: IPValue): boolean {
    const own = this.ip.address
    const shift = BigInt(own.bits - this.prefix)
    return own.bits === bits && own.value >> shift === value >> shift
  }
}

const PREFIX = /^(?:0|[1-9]\d{0,2})$/
const TWICE = 'network address parse error during conversion from string'

function parse(text: string): CIDRValue | CelError {
  const slash = text.lastIndexOf('/')
  const wrong = (why: string): CelError =>
    new CelError(`${TWICE}: ${TWICE}: netip.ParsePrefix(${goQuote(text)}): ${why}`)
  if (slash < 0) return wrong("no '/'")
  const ip = parseIP(text.slice(0, slash))
  if (ip instanceof CelError) {
    if (!ip.message.startsWith('IPv4-mapped')) return wrong('unable to parse IP')
    return new CelError(`${TWICE}: IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`)
  }
  const prefix = text.slice(slash + 1)
  if (!PREFIX.test(prefix)) return wrong(`bad bits after slash: ${goQuote(prefix)}`)
  return Number(prefix) > ip.address.bits ? wrong('prefix length out of range') : new CIDRValue(ip, Number(prefix))
}

function masked({ ip: { address }, prefix }: CIDRValue): CIDRValue {
  const shift = BigInt(address.bits - prefix)
  return new CIDRValue(new IPValue({ bits: address.bits, value: (address.value >> shift) << shift }), prefix)
}

const containsCIDR = (outer: CIDRValue, inner: CIDRValue): boolean =>
  outer.prefix <= inner.prefix && outer.contains(inner.ip)

const containsIPText = (cidr: CIDRValue, text: string): CelValue => {
  const ip = parseIP(text)
  return ip instanceof CelError ? ip : cidr.contains(ip)
}

const containsCIDRText = (cidr: CIDRValue, text: string): CelValue => {
  const inner = parse(text)
  return inner instanceof CelError ? inner : containsCIDR(cidr, inner)
}

/** An address has 4 or 16 bytes. */
const BYTES: Range = { min: 4, max: 16 }
const COMPARING = scaleRange(addRanges(BYTES, BYTES), STRING_TRAVERSAL_FACTOR)
const MASKING = addRanges(scaleRange(BYTES, STRING_TRAVERSAL_FACTOR), exactly(1))

const contains = (what: 'ip' | 'cidr', isText: boolean): Costs => ({
  cost: (_result: CelValue, cidr: CIDRValue, other: CelValue) => {
    const comparing = Math.ceil(2 * cidr.size * STRING_TRAVERSAL_FACTOR)
    const masking = what === 'ip' ? 0 : Math.ceil(cidr.size * STRING_TRAVERSAL_FACTOR) + 1
    return comparing + masking + (isText ? traversalCost(other as string) : 0)
  },
  estimate: (_cidr, other) => {
    const comparing = what === 'ip' ? COMPARING : addRanges(COMPARING, MASKING)
    return { cost: isText ? addRanges(comparing, scaleRange(sizeOrNone(other), STRING_TRAVERSAL_FACTOR)) : comparing }
  },
})

export const cidrs: Library = {
  types: [CIDR],
  functions: [
    declare('cidr', plain('string_to_cidr', [STRING], CIDR, parse, walks())),
    declare(
      'isCIDR',
      plain('is_cidr', [STRING], BOOL, (text: string) => !(parse(text) instanceof CelError), walks()),
    ),
    declare(
      'containsIP',
      method('cidr_contains_ip_string', [CIDR, STRING], BOOL, containsIPText, contains('ip', true)),
      method(
        'cidr_contains_ip_ip',
        [CIDR, IP],
        BOOL,
        (cidr: CIDRValue, ip: IPValue) => cidr.contains(ip),
        contains('ip', false),
      ),
    ),
    declare(
      'containsCIDR',
      method('cidr_contains_cidr_string', [CIDR, STRING], BOOL, containsCIDRText, contains('cidr', true)),
      method('cidr_contains_cidr', [CIDR, CIDR], BOOL, containsCIDR, contains('cidr', false)),
    ),
    declare(
      'ip',
      method('cidr_ip', [CIDR], IP, (cidr: CIDRValue) => cidr.ip),
    ),
    declare(
      'prefixLength',
      method('cidr_prefix_length', [CIDR], INT, (cidr: CIDRValue) => cidr.prefix),
    ),
    declare('masked', method('cidr_masked', [CIDR], CIDR, masked)),
    declare(
      'string',
      plain('cidr_to_string', [CIDR], STRING, ({ ip, prefix }: CIDRValue) => `${formatAddress(ip.address)}/${prefix}`),
    ),
  ],
}
