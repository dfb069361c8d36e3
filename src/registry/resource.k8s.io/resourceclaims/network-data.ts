/** Thread: pool. What drivers say of network devices. */

import { type FieldPath, invalid } from '../../../api/field-error.js'
import type { NetworkDeviceData } from '../../../api/generated/kinds/resource.v1.js'
import { formatAddress, isMappedAddress, parseCidr } from '../../../api/validation/addresses.js'
import { type Errors, maxBytes } from '../../../api/validation/checks.js'
import { eachOnce } from '../device-parts.js'

const INTERFACE_NAME_BYTES = 256
const HARDWARE_ADDRESS_BYTES = 128
const MOST_ADDRESSES = 16

export const networkDataErrors = (
  { interfaceName, hardwareAddress, ips }: NetworkDeviceData,
  path: FieldPath,
): Errors => [
  ...maxBytes(interfaceName, path.child('interfaceName'), INTERFACE_NAME_BYTES),
  ...maxBytes(hardwareAddress, path.child('hardwareAddress'), HARDWARE_ADDRESS_BYTES),
  ...eachOnce(MOST_ADDRESSES, ips, path.child('ips'), interfaceAddressErrors, (ip) => ip),
]

/** An address with the size of its network, in canonical form: bits beyond the prefix are the host's. */
function interfaceAddressErrors(text: string, at: FieldPath): Errors {
  const cidr = parseCidr(text)
  if (cidr === undefined) return [invalid(at, text, 'must be an address in CIDR form, (e.g. 10.9.8.7/24)')]
  const prefix = isMappedAddress(cidr.address) && cidr.prefix > 32 ? cidr.prefix - 96 : cidr.prefix
  const canonical = `${formatAddress(cidr.address)}/${prefix}`
  return canonical === text ? [] : [invalid(at, text, `must be in canonical form (${canonical})`)]
}
