/** Thread: pool. What a claim asks for: requests, what they must have in common, and how devices are set up for them. */
import {
  duplicate,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../api/field-error.js'
import {
  because,
  dnsLabel,
  dnsSubdomain,
  type Errors,
  each,
  type List,
  positive,
  requiredBy,
} from '../../../api/validation/checks.js'
import { isDns1123Subdomain } from '../../../api/validation/names.js'
import {
  type Configuration,
  configurationErrors,
  type DeviceToleration,
  type Selector,
  selectorErrors,
  tolerationErrors,
} from '../device-parts.js'

export interface DeviceRequest {
  name?: string
  deviceClassName?: string
  selectors?: List<Selector>
  allocationMode?: string
  count?: number
  adminAccess?: boolean
  tolerations?: List<DeviceToleration>
  exactly?: DeviceRequest
  firstAvailable?: List<DeviceRequest>
}

export interface DeviceClaim {
  requests?: List<DeviceRequest>
  constraints?: List<{ requests?: List<string>; matchAttribute?: string; distinctAttribute?: string }>
  config?: List<Configuration & { requests?: List<string> }>
}

const ATTRIBUTE_BYTES = 32
const DOMAIN_BYTES = 63
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/

export function setClaimDefaults({ requests }: DeviceClaim): void {
  for (const whole of requests ?? []) {
    const { exactly, firstAvailable, deviceClassName } = whole
    // In v1beta1 the request itself says what is asked for.
    const asked = exactly ? [exactly] : deviceClassName === undefined ? [] : [whole]
    for (const request of [...asked, ...(firstAvailable ?? [])]) {
      request.allocationMode ||= 'ExactCount'
      if (request.allocationMode === 'ExactCount') request.count ||= 1
      for (const toleration of request.tolerations ?? []) toleration.operator ||= 'Equal'
    }
  }
}

function exactErrors(request: DeviceRequest, at: FieldPath): Errors {
  const { allocationMode = '', count = 0 } = request
  const modes = ['All', 'ExactCount']
  return [
    ...requiredBy(request.deviceClassName, at.child('deviceClassName'), dnsSubdomain),
    ...selectorErrors(request.selectors, at.child('selectors')),
    ...(allocationMode === 'ExactCount' ? positive(count, at.child('count')) : []),
    ...(allocationMode === 'All' && count !== 0
      ? [invalid(at.child('count'), count, 'not when all are asked for')]
      : []),
    ...(modes.includes(allocationMode) ? [] : [notSupported(at.child('allocationMode'), allocationMode, modes)]),
    ...tolerationErrors(request.tolerations, at.child('tolerations')),
  ]
}

function requestErrors({ name = '', exactly, firstAvailable }: DeviceRequest, at: FieldPath): Errors {
  const errors = dnsLabel(name, at.child('name'))
  const several = (firstAvailable?.length ?? 0) > 0
  if (!exactly && !several) return [...errors, required(at, 'exactly one of `exactly` or `firstAvailable` is required')]
  if (exactly && several)
    return [...errors, invalid(at, name, 'exactly one of `exactly` or `firstAvailable` is required')]
  if (exactly) return [...errors, ...exactErrors(exactly, at.child('exactly'))]
  const names = new Set<string>()
  return [
    ...errors,
    ...each(firstAvailable, at.child('firstAvailable'), (request, path) => {
      const own = request.name ?? ''
      const doubled = names.has(own) ? [duplicate(path, own)] : []
      names.add(own)
      return [...dnsLabel(own, path.child('name')), ...exactErrors(request, path), ...doubled]
    }),
  ]
}

const requestNames = ({ requests }: DeviceClaim): Set<string> =>
  new Set(
    (requests ?? []).flatMap(({ name = '', firstAvailable }) => [
      name,
      ...(firstAvailable ?? []).map((request) => `${name}/${request.name ?? ''}`),
    ]),
  )

function referenceErrors(references: List<string>, known: ReadonlySet<string>, path: FieldPath): Errors {
  const seen = new Set<string>()
  return each(references, path, (reference, at) => {
    const unknown = invalid(at, reference, 'must be the name of a request, or of a request and a subrequest')
    const segments = reference.split('/')
    if (segments.length > 2) return [unknown]
    const errors = segments.flatMap((segment) => dnsLabel(segment, at))
    if (!known.has(reference)) errors.push(unknown)
    if (seen.has(reference)) errors.push(duplicate(at, reference))
    seen.add(reference)
    return errors
  })
}

/** domain/identifier */
function attributeErrors(name: string, path: FieldPath): Errors {
  const slash = name.indexOf('/')
  const id = slash < 0 ? name : name.slice(slash + 1)
  const domain = slash < 0 ? '' : name.slice(0, slash)
  return [
    ...(slash < 0 ? [invalid(path, name, 'must be a domain and a name separated by a slash')] : []),
    ...(slash >= 0 ? because(isDns1123Subdomain(domain.toLowerCase()), path, domain) : []),
    ...(Buffer.byteLength(domain) > DOMAIN_BYTES ? [tooLong(path, DOMAIN_BYTES)] : []),
    ...(Buffer.byteLength(id) > ATTRIBUTE_BYTES ? [tooLong(path, ATTRIBUTE_BYTES)] : []),
    ...(IDENTIFIER.test(id) ? [] : [invalid(path, id, 'must be a C identifier')]),
  ]
}

export function deviceClaimErrors(claim: DeviceClaim, path: FieldPath): Errors {
  const known = requestNames(claim)
  const names = new Set<string>()
  return [
    ...each(claim.requests, path.child('requests'), (request, at) => {
      const doubled = names.has(request.name ?? '') ? [duplicate(at, request.name)] : []
      names.add(request.name ?? '')
      return [...requestErrors(request, at), ...doubled]
    }),
    ...each(claim.constraints, path.child('constraints'), ({ requests, matchAttribute, distinctAttribute }, at) => {
      const errors = referenceErrors(requests, known, at.child('requests'))
      if (matchAttribute !== undefined) errors.push(...attributeErrors(matchAttribute, at.child('matchAttribute')))
      if (distinctAttribute !== undefined)
        errors.push(...attributeErrors(distinctAttribute, at.child('distinctAttribute')))
      if (matchAttribute === undefined && distinctAttribute === undefined) errors.push(required(at))
      if (matchAttribute !== undefined && distinctAttribute !== undefined)
        errors.push(forbidden(at, 'matchAttribute and distinctAttribute exclude each other'))
      return errors
    }),
    ...each(claim.config, path.child('config'), (config, at) => [
      ...referenceErrors(config.requests, known, at.child('requests')),
      ...configurationErrors(config, at),
    ]),
  ]
}
