/** Thread: pool. Addresses that traffic is sent to: not one's own, not the local link. */
import { type FieldPath, invalid } from '../../api/field-error.js'
import { type Address, parseAddress } from '../../api/validation/addresses.js'
import type { Errors } from '../../api/validation/checks.js'

const topBits = ({ bits, value }: Address, count: number): bigint => value >> BigInt(bits - count)

/** Reason, then the prefixes of IPv4 and of IPv6 that it is for. */
const KINDS: readonly (readonly [string, bigint, number, bigint, number])[] = [
  ['may not be unspecified', 0n, 32, 0n, 128],
  ['may not be in the loopback range (127.0.0.0/8, ::1/128)', 127n, 8, 1n, 128],
  ['may not be in the link-local range (169.254.0.0/16, fe80::/10)', 0xa9fen, 16, 0x3fan, 10],
  ['may not be in the link-local multicast range (224.0.0.0/24, ff02::/16)', 0xe00000n, 24, 0xff02n, 16],
]

export function endpointIPErrors(text: string, path: FieldPath): Errors {
  const address = parseAddress(text)
  if (address === undefined) return [invalid(path, text, 'must be a valid IP address')]
  return KINDS.filter(([, v4, bits4, v6, bits6]) =>
    address.bits === 32 ? topBits(address, bits4) === v4 : topBits(address, bits6) === v6,
  ).map(([reason]) => invalid(path, text, reason))
}
