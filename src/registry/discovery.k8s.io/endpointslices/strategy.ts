/** Thread: pool. EndpointSlices: where a service's traffic goes, in portions. */

import { duplicate, FieldPath, invalid, notSupported, required, tooMany } from '../../../api/field-error.js'
import type { Endpoint, EndpointHints, EndpointPort, EndpointSlice } from '../../../api/generated/kinds/discovery.v1.js'
import { metadataOf, nextGeneration } from '../../../api/object.js'
import { ipFamilyOf, ipWarnings, legacyIP, strictIP } from '../../../api/validation/addresses.js'
import {
  dnsLabel,
  dnsSubdomain,
  type Errors,
  each,
  givenBy,
  immutable,
  type List,
  labelValue,
  oneOf,
  optionalBy,
  qualifiedName,
  sameValue,
} from '../../../api/validation/checks.js'
import { isDns1123Subdomain } from '../../../api/validation/names.js'
import { validateLabels } from '../../../api/validation/object-meta.js'
import { endpointIPErrors } from '../../core/endpoint-addresses.js'
import { equalState } from '../../generic/equal-state.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, tableOf, text, UNSET } from '../../generic/table-rules.js'

const ENDPOINTS = FieldPath.of('endpoints')
const PORTS = FieldPath.of('ports')
const LIMITS = { endpoints: 1000, addresses: 100, ports: 20000, topology: 16, hints: 8 }
const TYPES = ['IPv4', 'IPv6', 'FQDN']
const SHOWN = 3
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
const MENDING_CONTROLLERS = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io']

function domainErrors(name: string, at: FieldPath): Errors {
  if (name === '') return [required(at)]
  const domain = name.endsWith('.') ? name.slice(0, -1) : name
  const reasons = isDns1123Subdomain(domain)
  if (reasons.length > 0) return [invalid(at, domain, reasons.join(','))]
  const labels = domain.split('.')
  if (labels.length < 2) return [invalid(at, domain, 'should be a domain with at least two segments')]
  return labels.some((label) => label.length > 63) ? [invalid(at, domain, 'a label is too long')] : []
}

function addressErrors(address: string, type: string, at: FieldPath, list: FieldPath): Errors {
  if (type === 'FQDN') return domainErrors(address, at)
  if (type !== 'IPv4' && type !== 'IPv6') return []
  const errors = type === 'IPv4' ? legacyIP(address, at) : strictIP(address, at)
  if (errors.length > 0) return errors
  const wrong = ipFamilyOf(address) !== type ? [invalid(list, address, `must be an ${type} address`)] : []
  return [...wrong, ...endpointIPErrors(address, at)]
}

function hintErrors({ forZones, forNodes }: EndpointHints, path: FieldPath): Errors {
  const zones = hintListErrors(forZones, path.child('forZones'), labelValue)
  // Too many zones end it.
  if ((forZones?.length ?? 0) > LIMITS.hints) return zones
  return [...zones, ...hintListErrors(forNodes, path.child('forNodes'), dnsSubdomain)]
}

function hintListErrors(
  list: EndpointHints['forZones'],
  path: FieldPath,
  check: (name: string, at: FieldPath) => Errors,
): Errors {
  if ((list?.length ?? 0) > LIMITS.hints) return [tooMany(path, list!.length, LIMITS.hints)]
  const seen = new Set<string>()
  return each(list, path, ({ name = '' }, at) => {
    const doubled = seen.has(name) ? [duplicate(at.child('name'), name)] : []
    seen.add(name)
    return [...doubled, ...check(name, at.child('name'))]
  })
}

function endpointErrors(endpoint: Endpoint, type: string, at: FieldPath): Errors {
  const list = at.child('addresses')
  const count = endpoint.addresses?.length ?? 0
  const topology = Object.keys(endpoint.deprecatedTopology ?? {}).length
  return [
    ...(count === 0 ? [required(list, 'must contain at least 1 address')] : []),
    ...(count > LIMITS.addresses ? [tooMany(list, count, LIMITS.addresses)] : []),
    ...each(endpoint.addresses, list, (address, path) => addressErrors(address, type, path, list)),
    ...givenBy(endpoint.nodeName, at.child('nodeName'), dnsSubdomain),
    ...(topology > LIMITS.topology ? [tooMany(at.child('deprecatedTopology'), topology, LIMITS.topology)] : []),
    ...validateLabels(endpoint.deprecatedTopology, at.child('deprecatedTopology')),
    ...givenBy(endpoint.hostname, at.child('hostname'), dnsLabel),
    ...hintErrors(endpoint.hints ?? {}, at.child('hints')),
  ]
}

function portErrors(ports: List<EndpointPort>): Errors {
  if ((ports?.length ?? 0) > LIMITS.ports) return [tooMany(PORTS, ports!.length, LIMITS.ports)]
  const names = new Set<string>()
  return each(ports, PORTS, ({ name = '', protocol, appProtocol }, at) => {
    const errors = optionalBy(name, at.child('name'), dnsLabel)
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    names.add(name)
    if (protocol === undefined) errors.push(required(at.child('protocol')))
    else if (!['TCP', 'UDP', 'SCTP'].includes(protocol))
      errors.push(notSupported(at.child('protocol'), protocol, ['TCP', 'UDP', 'SCTP']))
    return [...errors, ...givenBy(appProtocol, at.child('appProtocol'), qualifiedName)]
  })
}

function errorsOf(object: EndpointSlice, old?: EndpointSlice): Errors {
  const { addressType = '', endpoints, ports } = object
  const many = (endpoints?.length ?? 0) > LIMITS.endpoints
  const inEndpoints = many
    ? [tooMany(ENDPOINTS, endpoints!.length, LIMITS.endpoints)]
    : each(endpoints, ENDPOINTS, (endpoint, at) => endpointErrors(endpoint, addressType, at))
  const kept = old !== undefined && inEndpoints.length > 0 && equalState(endpoints, old['endpoints'])
  return [
    ...oneOf(addressType, TYPES, FieldPath.of('addressType'), 'required'),
    ...portErrors(ports),
    ...(kept ? [] : inEndpoints),
  ]
}

function addressWarnings(object: EndpointSlice): string[] {
  // Kubernetes' own controllers copy what users wrote elsewhere, and mend it.
  if (MENDING_CONTROLLERS.includes(metadataOf(object).labels?.[MANAGED_BY] ?? '')) return []
  return (object.endpoints ?? []).flatMap(({ addresses }, i) =>
    (addresses ?? []).flatMap((address, j) => ipWarnings(address, ENDPOINTS.index(i).child('addresses').index(j))),
  )
}

function few(values: readonly string[]): string {
  const shown = values.slice(0, SHOWN).join(',')
  if (values.length > SHOWN) return `${shown} + ${values.length - SHOWN} more...`
  return shown === '' ? UNSET : shown
}

export const endpointSliceRules: ResourceRules<EndpointSlice> = {
  metadataOnUpdate: 'new',
  generationFields: [],
  setDefaults: (object) => {
    for (const port of object.ports ?? []) {
      port.name ??= ''
      port.protocol ??= 'TCP'
    }
  },
  prepareForCreate: dropTopology,
  prepareForUpdate: (object, old) => {
    const [now, before] = [metadataOf(object), metadataOf(old)]
    // Counted before topology is dropped: who writes some has changed the endpoints.
    const changed = (['addressType', 'endpoints', 'ports'] as const).some(
      (field) => !equalState(object[field], old[field]),
    )
    if (changed || !sameValue(now.labels, before.labels)) now.generation = nextGeneration(before)
    if (!equalState(object['endpoints'], old['endpoints'])) dropTopology(object)
  },
  validate: (object) => errorsOf(object),
  validateUpdate: (object, old) => [
    ...errorsOf(object, old),
    ...immutable(object['addressType'], old['addressType'], FieldPath.of('addressType')),
  ],
  warningsOnCreate: (object) => [
    ...(object.addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : []),
    ...addressWarnings(object),
  ],
  warningsOnUpdate: addressWarnings,
  table: tableOf<EndpointSlice>(
    text('AddressType', 'What its addresses are.', ({ addressType }) => addressType ?? ''),
    text('Ports', 'The ports.', ({ ports }) => few((ports ?? []).map(({ port, name }) => String(port ?? name ?? '*')))),
    text('Endpoints', 'The addresses.', ({ endpoints }) =>
      few((endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
    ),
    age(),
  ),
}

/** Topology was for v1beta1: v1 does not write it. */
function dropTopology(object: EndpointSlice): void {
  for (const endpoint of object.endpoints ?? []) delete endpoint.deprecatedTopology
}
