/** Thread: any. IP addresses and CIDRs: what passes, what is canonical. */
import { isIP, isIPv4, isIPv6 } from 'node:net'
import { type FieldPath, invalid } from '../field-error.js'
import type { Errors } from './checks.js'

const MAPPED = 0xffffn << 32n

export interface Address {
  readonly bits: 32 | 128
  readonly value: bigint
}

/** Undefined when it is none. Zones are refused; leading zeros of IPv4 are read over. */
export function parseAddress(text: string): Address | undefined {
  if (text.includes('%')) return undefined
  const plain = text.includes('.') ? text.split('.').map(withoutLeadingZeros).join('.') : text
  if (isIPv4(plain)) return { bits: 32, value: ipv4Value(plain) }
  return isIPv6(plain) ? { bits: 128, value: ipv6Value(plain) } : undefined
}

/** Of what stands between two dots, or between a colon and a dot. */
function withoutLeadingZeros(part: string): string {
  let at = part.lastIndexOf(':') + 1
  const start = at
  while (part[at] === '0' && at < part.length - 1) at++
  return part.slice(0, start) + part.slice(at)
}

const ipv4Value = (text: string): bigint => text.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n)

function ipv6Value(text: string): bigint {
  const dotted = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  if (dotted !== null) {
    const low = ipv4Value(dotted[2]!)
    return ipv6Value(`${dotted[1]}${(low >> 16n).toString(16)}:${(low & 0xffffn).toString(16)}`)
  }
  const [head = '', tail] = text.split('::')
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'))
  const left = groups(head)
  const right = tail === undefined ? [] : groups(tail)
  const middle = new Array<string>(8 - left.length - right.length).fill('0')
  return [...left, ...middle, ...right].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}

export const isMappedAddress = ({ bits, value }: Address): boolean => bits === 128 && value >> 32n === MAPPED >> 32n

/** RFC 5952; an IPv4 address mapped into IPv6 is written as IPv4. */
export function formatAddress(address: Address): string {
  if (address.bits === 32 || isMappedAddress(address)) {
    return [24n, 16n, 8n, 0n].map((shift) => (address.value >> shift) & 0xffn).join('.')
  }
  const groups = Array.from({ length: 8 }, (_, i) => ((address.value >> BigInt(112 - 16 * i)) & 0xffffn).toString(16))
  let best = { start: -1, length: 1 }
  for (let i = 0; i < 8; i++) {
    let length = 0
    while (i + length < 8 && groups[i + length] === '0') length++
    if (length > best.length) best = { start: i, length }
  }
  if (best.start < 0) return groups.join(':')
  return `${groups.slice(0, best.start).join(':')}::${groups.slice(best.start + best.length).join(':')}`
}

export const ipFamilyOf = (text: string): 'IPv4' | 'IPv6' | undefined => {
  const address = parseAddress(text)
  return address === undefined ? undefined : address.bits === 32 || isMappedAddress(address) ? 'IPv4' : 'IPv6'
}

export const isAddress = (text: string): boolean => parseAddress(text) !== undefined

const NONE: ReadonlySet<string> = new Set()

/** Fields that are older than the strict rule: any spelling, but none that two programs could read differently. What is `known` was there before. */
export function legacyIP(text: string, path: FieldPath, known: ReadonlySet<string> = NONE): Errors {
  if (known.has(text)) return []
  const address = parseAddress(text)
  if (address === undefined)
    return [invalid(path, text, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')]
  if (isIP(text) === 0) return [invalid(path, text, 'must not have leading 0s')]
  return isMappedAddress(address) ? [invalid(path, text, 'must not be an IPv4-mapped IPv6 address')] : []
}

/** The strict rule: canonical too. */
export function strictIP(text: string, path: FieldPath): Errors {
  const errors = legacyIP(text, path)
  if (errors.length > 0) return errors
  const canonical = formatAddress(parseAddress(text)!)
  return canonical === text ? [] : [invalid(path, text, `must be in canonical form (${canonical})`)]
}

export interface Cidr {
  readonly address: Address
  readonly prefix: number
  /** The address with no bits beyond the prefix. */
  readonly network: bigint
}

export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/')
  const address = slash < 0 ? undefined : parseAddress(text.slice(0, slash))
  if (address === undefined || !/^\d{1,4}$/.test(text.slice(slash + 1))) return undefined
  const prefix = Number(text.slice(slash + 1))
  if (prefix > address.bits) return undefined
  const shift = BigInt(address.bits - prefix)
  return { address, prefix, network: (address.value >> shift) << shift }
}

export const formatCidr = ({ address, prefix, network }: Cidr): string =>
  `${formatAddress({ bits: address.bits, value: network })}/${prefix}`

export function legacyCidr(text: string, path: FieldPath, known: ReadonlySet<string> = NONE): Errors {
  if (known.has(text)) return []
  const cidr = parseCidr(text)
  if (cidr === undefined)
    return [invalid(path, text, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')]
  const [ip, prefix] = text.split('/')
  if (isIP(ip!) === 0 || /^0\d/.test(prefix!)) return [invalid(path, text, 'must not have leading 0s')]
  if (isMappedAddress(cidr.address)) return [invalid(path, text, 'must not have an IPv4-mapped IPv6 address')]
  return cidr.network === cidr.address.value ? [] : [invalid(path, text, 'must not have bits set beyond the prefix')]
}

export function strictCidr(text: string, path: FieldPath): Errors {
  const errors = legacyCidr(text, path)
  if (errors.length > 0) return errors
  const canonical = formatCidr(parseCidr(text)!)
  return canonical === text ? [] : [invalid(path, text, `must be in canonical form (${canonical})`)]
}

/** Whether `inner` is a part of `outer`, and not all of it. */
export function isStrictSubset(inner: Cidr, outer: Cidr): boolean {
  if (inner.address.bits !== outer.address.bits || outer.prefix >= inner.prefix) return false
  const shift = BigInt(outer.address.bits - outer.prefix)
  return inner.network >> shift === outer.network >> shift
}

/** What to say of an accepted spelling that is not the canonical one. */
export function ipWarnings(text: string, path: FieldPath): string[] {
  const address = parseAddress(text)
  if (address === undefined) return []
  const canonical = formatAddress(address)
  if (isIP(text) === 0 || isMappedAddress(address))
    return [`${path}: non-standard IP address "${text}" will be considered invalid one day: use "${canonical}"`]
  return address.bits === 32 || canonical === text
    ? []
    : [`${path}: IPv6 address "${text}" should be in RFC 5952 canonical format ("${canonical}")`]
}

export function cidrWarnings(text: string, path: FieldPath): string[] {
  const cidr = parseCidr(text)
  if (cidr === undefined || cidr.address.bits === 32) return []
  const canonical = formatCidr(cidr)
  return canonical === text
    ? []
    : [`${path}: IPv6 CIDR value "${text}" should be in RFC 5952 canonical format ("${canonical}")`]
}
