/** Thread: pool. What became of a claim: the devices it got, who may use them, and what their drivers say of them. */

import { isDeepStrictEqual } from 'node:util'
import { type FieldPath, forbidden, invalid, tooMany } from '../../../api/field-error.js'
import type {
  AllocatedDeviceStatus,
  AllocationResult,
  DeviceRequestAllocationResult,
  ResourceClaimConsumerReference,
  ResourceClaimStatus,
} from '../../../api/generated/kinds/resource.v1.js'
import { dnsLabel, type Errors, givenBy, immutable, oneOf, requiredBy } from '../../../api/validation/checks.js'
import { conditionErrors } from '../../../api/validation/conditions.js'
import { nodeSelectorErrors } from '../../../api/validation/node-selectors.js'
import { driverNameErrors } from '../../storage.k8s.io/parameters.js'
import {
  bindingErrors,
  configurationErrors,
  eachOfAtMost,
  eachOnce,
  MOST_CONFIGURATIONS,
  opaqueErrors,
  poolNameErrors,
} from '../device-parts.js'
import { referenceErrors, referencesErrors } from './device-claim.js'
import { networkDataErrors } from './network-data.js'

/** `shareID` is that of a device that several claims have a part of. */
type DeviceId = Pick<AllocatedDeviceStatus, 'driver' | 'pool' | 'device' | 'shareID'>

const MOST_CONSUMERS = 256
const MOST_RESULTS = 32
const MOST_CONDITIONS = 8
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const deviceId = ({ driver = '', pool = '', device = '', shareID = '' }: DeviceId): string =>
  JSON.stringify([driver, pool, device, shareID])

const allocatedIds = ({ allocation }: ResourceClaimStatus): Set<string> =>
  new Set((allocation?.devices?.results ?? []).map(deviceId))

/** The one node that can use it, where the selector names one and nothing else; '' otherwise. */
export function nodeOfAllocation({ nodeSelector }: AllocationResult): string {
  const [term, ...others] = nodeSelector?.nodeSelectorTerms ?? []
  const [field, ...more] = term?.matchFields ?? []
  if (others.length + more.length + (term?.matchExpressions?.length ?? 0) > 0) return ''
  const named = field?.key === 'metadata.name' && field.operator === 'In' && field.values?.length === 1
  return named ? field.values![0]! : ''
}

export function setClaimStatusDefaults({ allocation }: ResourceClaimStatus): void {
  for (const { tolerations } of allocation?.devices?.results ?? [])
    for (const toleration of tolerations ?? []) toleration.operator ||= 'Equal'
}

/** What is said of a device goes with the device, so that whoever gives it back need not know of such reports. */
export function dropReturnedDevices(status: ResourceClaimStatus, old: ResourceClaimStatus): void {
  const kept = allocatedIds(status)
  const returned = new Set([...allocatedIds(old)].filter((id) => !kept.has(id)))
  const devices = (status.devices ?? []).filter((device) => !returned.has(deviceId(device)))
  if (devices.length > 0) status.devices = devices
  else delete status.devices
}

export function claimStatusErrors(
  status: ResourceClaimStatus,
  old: ResourceClaimStatus,
  claim: { readonly requests: ReadonlySet<string>; readonly beingDeleted: boolean },
  path: FieldPath,
): Errors {
  const allocated = allocatedIds(status)
  return [
    ...eachOnce(MOST_CONSUMERS, status.reservedFor, path.child('reservedFor'), consumerErrors, ({ uid }) => uid ?? ''),
    ...eachOnce(
      Number.POSITIVE_INFINITY,
      status.devices,
      path.child('devices'),
      (device, at) => deviceStatusErrors(device, allocated, at),
      deviceId,
    ),
    ...reservationErrors(status, old, claim.beingDeleted, path.child('reservedFor')),
    ...allocationErrors(status.allocation, old.allocation, claim.requests, path.child('allocation')),
  ]
}

const consumerErrors = ({ resource, name, uid }: ResourceClaimConsumerReference, at: FieldPath): Errors => [
  ...requiredBy(resource, at.child('resource')),
  ...requiredBy(name, at.child('name')),
  ...requiredBy(uid, at.child('uid')),
]

function reservationErrors(
  status: ResourceClaimStatus,
  old: ResourceClaimStatus,
  beingDeleted: boolean,
  path: FieldPath,
): Errors {
  if ((status.reservedFor?.length ?? 0) === 0) return []
  if (!status.allocation) return [forbidden(path, 'nothing is allocated')]
  const known = old.reservedFor ?? []
  const added = status.reservedFor!.some((consumer) => !known.some((other) => isDeepStrictEqual(other, consumer)))
  return beingDeleted && added ? [forbidden(path, 'a claim that is being deleted gets no new consumers')] : []
}

/** Given once; what is checked today may be stricter than what was checked then. */
function allocationErrors(
  allocation: AllocationResult | undefined,
  old: AllocationResult | undefined,
  requests: ReadonlySet<string>,
  path: FieldPath,
): Errors {
  if (!allocation) return []
  if (old) return immutable(allocation, old, path)
  const { results, config } = allocation.devices ?? {}
  const devices = path.child('devices')
  return [
    ...eachOfAtMost(MOST_RESULTS, results, devices.child('results'), (result, at) =>
      resultErrors(result, requests, at),
    ),
    // Those of the class and those of the claim.
    ...eachOfAtMost(2 * MOST_CONFIGURATIONS, config, devices.child('config'), (item, at) => [
      ...oneOf(item.source, ['FromClaim', 'FromClass'], at.child('source'), 'required'),
      ...referencesErrors(item.requests, requests, at.child('requests')),
      ...configurationErrors(item, at),
    ]),
    ...(allocation.nodeSelector ? nodeSelectorErrors(allocation.nodeSelector, path.child('nodeSelector')) : []),
  ]
}

const resultErrors = (result: DeviceRequestAllocationResult, requests: ReadonlySet<string>, at: FieldPath): Errors => [
  ...referenceErrors(result.request ?? '', requests, at.child('request')),
  ...driverNameErrors(result.driver, at.child('driver')),
  ...poolNameErrors(result.pool, at.child('pool')),
  ...dnsLabel(result.device ?? '', at.child('device')),
  ...bindingErrors(result, at),
  ...givenBy(result.shareID, at.child('shareID'), uuidErrors),
]

function deviceStatusErrors(device: AllocatedDeviceStatus, allocated: ReadonlySet<string>, at: FieldPath): Errors {
  const conditions = device.conditions?.length ?? 0
  return [
    ...driverNameErrors(device.driver, at.child('driver')),
    ...poolNameErrors(device.pool, at.child('pool')),
    ...dnsLabel(device.device ?? '', at.child('device')),
    ...givenBy(device.shareID, at.child('shareID'), uuidErrors),
    ...(allocated.has(deviceId(device))
      ? []
      : [invalid(at, deviceId(device), 'must be an allocated device in the claim')]),
    ...(conditions > MOST_CONDITIONS ? [tooMany(at.child('conditions'), conditions, MOST_CONDITIONS)] : []),
    ...conditionErrors(device.conditions, at.child('conditions')),
    ...givenBy(device.data, at.child('data'), opaqueErrors),
    ...givenBy(device.networkData, at.child('networkData'), networkDataErrors),
  ]
}

const uuidErrors = (id: string, path: FieldPath): Errors =>
  UUID.test(id) ? [] : [invalid(path, id, 'must be a UUID in lower case')]
