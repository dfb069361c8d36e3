/** Thread: pool. What a claim asks for: requests, what they must have in common, and how devices are set up for them. */

import { type FieldPath, invalid, notSupported, required } from '../../../api/field-error.js'
import type {
  DeviceClaim,
  DeviceConstraint,
  DeviceRequest,
  DeviceSubRequest,
  ExactDeviceRequest,
} from '../../../api/generated/kinds/resource.v1.js'
import { dnsLabel, dnsSubdomain, type Errors, type List, positive, requiredBy } from '../../../api/validation/checks.js'
import {
  attributeNameErrors,
  configurationErrors,
  eachOfAtMost,
  eachOnce,
  MOST_CONFIGURATIONS,
  tolerationErrors,
} from '../device-parts.js'
import { selectorErrors } from '../device-selectors.js'

const MOST_REQUESTS = 32
const MOST_SUBREQUESTS = 8
const MOST_CONSTRAINTS = 32

/** In v1beta1 the request itself says what is asked for. */
type AnyRequest = DeviceRequest & ExactDeviceRequest

export function setClaimDefaults({ requests }: { readonly requests?: List<AnyRequest> }): void {
  for (const whole of requests ?? []) {
    const { exactly, firstAvailable, deviceClassName } = whole
    const asked = exactly ? [exactly] : deviceClassName === undefined ? [] : [whole]
    for (const request of [...asked, ...(firstAvailable ?? [])]) {
      request.allocationMode ||= 'ExactCount'
      if (request.allocationMode === 'ExactCount') request.count ||= 1
      for (const toleration of request.tolerations ?? []) toleration.operator ||= 'Equal'
    }
  }
}

function exactErrors(request: ExactDeviceRequest, at: FieldPath): Errors {
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
  return [
    ...errors,
    ...eachOnce(
      MOST_SUBREQUESTS,
      firstAvailable,
      at.child('firstAvailable'),
      (request, path) => [...dnsLabel(request.name ?? '', path.child('name')), ...exactErrors(request, path)],
      nameOf,
    ),
  ]
}

const nameOf = ({ name }: DeviceRequest | DeviceSubRequest): string => name ?? ''

/** Of requests, and of a request and one of its alternatives: request/subrequest. */
export const requestNames = ({ requests }: DeviceClaim): Set<string> =>
  new Set(
    (requests ?? []).flatMap(({ name = '', firstAvailable }) => [
      name,
      ...(firstAvailable ?? []).map((request) => `${name}/${request.name ?? ''}`),
    ]),
  )

export function referenceErrors(reference: string, known: ReadonlySet<string>, at: FieldPath): Errors {
  const unknown = invalid(at, reference, 'must be the name of a request, or of a request and a subrequest')
  const segments = reference.split('/')
  if (segments.length > 2) return [unknown]
  return [...segments.flatMap((segment) => dnsLabel(segment, at)), ...(known.has(reference) ? [] : [unknown])]
}

export const referencesErrors = (references: List<string>, known: ReadonlySet<string>, path: FieldPath): Errors =>
  eachOnce(
    MOST_REQUESTS,
    references,
    path,
    (reference, at) => referenceErrors(reference, known, at),
    (reference) => reference,
  )

function fullNameErrors(name: string, path: FieldPath): Errors {
  const errors = attributeNameErrors(name, path)
  return name.includes('/') ? errors : [...errors, invalid(path, name, 'must be a domain and a name')]
}

/** One attribute counts, the first: with both, Kubernetes says nothing of the second. */
function constraintErrors(
  { requests, matchAttribute, distinctAttribute }: DeviceConstraint,
  known: ReadonlySet<string>,
  at: FieldPath,
): Errors {
  const errors = referencesErrors(requests, known, at.child('requests'))
  if (matchAttribute !== undefined) errors.push(...fullNameErrors(matchAttribute, at.child('matchAttribute')))
  else if (distinctAttribute !== undefined)
    errors.push(...fullNameErrors(distinctAttribute, at.child('distinctAttribute')))
  else errors.push(required(at, 'exactly one of `matchAttribute` or `distinctAttribute` is required'))
  return errors
}

export function deviceClaimErrors(claim: DeviceClaim, path: FieldPath): Errors {
  const known = requestNames(claim)
  return [
    ...eachOnce(MOST_REQUESTS, claim.requests, path.child('requests'), requestErrors, nameOf),
    ...eachOfAtMost(MOST_CONSTRAINTS, claim.constraints, path.child('constraints'), (constraint, at) =>
      constraintErrors(constraint, known, at),
    ),
    ...eachOfAtMost(MOST_CONFIGURATIONS, claim.config, path.child('config'), (config, at) => [
      ...referencesErrors(config.requests, known, at.child('requests')),
      ...configurationErrors(config, at),
    ]),
  ]
}
