/** Thread: pool. Endpoints: where a service's traffic goes, before EndpointSlices. */

import { FieldPath, required } from '../../../api/field-error.js'
import type { EndpointAddress, EndpointPort, Endpoints } from '../../../api/generated/kinds/core.v1.js'
import { ipWarnings, legacyIP } from '../../../api/validation/addresses.js'
import {
  dnsLabel,
  dnsSubdomain,
  type Errors,
  each,
  givenBy,
  oneOf,
  optionalBy,
  portNumber,
  qualifiedName,
  sameValue,
} from '../../../api/validation/checks.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, NONE, tableOf, text } from '../../generic/table-rules.js'
import { endpointIPErrors } from '../endpoint-addresses.js'

const SUBSETS = FieldPath.of('subsets')
const SHOWN = 3

function addressErrors({ ip = '', hostname, nodeName }: EndpointAddress, at: FieldPath): Errors {
  return [
    ...legacyIP(ip, at.child('ip')),
    ...optionalBy(hostname, at.child('hostname'), dnsLabel),
    ...givenBy(nodeName, at.child('nodeName'), dnsSubdomain),
    ...endpointIPErrors(ip, at.child('ip')),
  ]
}

function portErrors(
  { name = '', port = 0, protocol, appProtocol }: EndpointPort,
  at: FieldPath,
  needName: boolean,
): Errors {
  return [
    ...(needName && name === '' ? [required(at.child('name'))] : optionalBy(name, at.child('name'), dnsLabel)),
    ...portNumber(port, at.child('port')),
    ...oneOf(protocol, ['TCP', 'UDP', 'SCTP'], at.child('protocol'), 'required'),
    ...givenBy(appProtocol, at.child('appProtocol'), qualifiedName),
  ]
}

const validate = (object: Endpoints): Errors =>
  each(object.subsets, SUBSETS, ({ addresses, notReadyAddresses, ports }, at) => {
    const none = (addresses?.length ?? 0) + (notReadyAddresses?.length ?? 0) === 0
    return [
      ...(none ? [required(at, 'must specify `addresses` or `notReadyAddresses`')] : []),
      ...each(addresses, at.child('addresses'), addressErrors),
      ...each(notReadyAddresses, at.child('notReadyAddresses'), addressErrors),
      ...each(ports, at.child('ports'), (port, path) => portErrors(port, path, (ports?.length ?? 0) > 1)),
    ]
  })

function warnings(object: Endpoints): string[] {
  if (object.metadata?.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller') return []
  return (object.subsets ?? []).flatMap((subset, i) =>
    (['addresses', 'notReadyAddresses'] as const).flatMap((field) =>
      (subset[field] ?? []).flatMap(({ ip = '' }, j) =>
        ipWarnings(ip, SUBSETS.index(i).child(field).index(j).child('ip')),
      ),
    ),
  )
}

function addressesText({ subsets }: Endpoints): string {
  const all = (subsets ?? []).flatMap(({ addresses, ports }) => {
    const ips = (addresses ?? []).map(({ ip = '' }) => ip)
    if ((ports?.length ?? 0) === 0) return ips
    return (ports ?? []).flatMap(({ port = 0 }) =>
      ips.map((ip) => (ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`)),
    )
  })
  if ((subsets?.length ?? 0) === 0) return NONE
  return all.length > SHOWN ? `${all.slice(0, SHOWN).join(',')} + ${all.length - SHOWN} more...` : all.join(',')
}

export const endpointsRules: ResourceRules<Endpoints> = {
  allowCreateOnUpdate: true,
  setDefaults: (object) => {
    for (const { ports } of object.subsets ?? [])
      for (const port of ports ?? []) if ((port.protocol ?? '') === '') port.protocol = 'TCP'
  },
  validate,
  // What was accepted before may stay.
  validateUpdate: (object, old) => (sameValue(object['subsets'], old['subsets']) ? [] : validate(object)),
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  table: tableOf<Endpoints>(text('Endpoints', 'The addresses that are ready.', addressesText), age()),
}
