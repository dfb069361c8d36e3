/** Thread: pool. ResourceSlices: the devices of a driver, in portions. */

import { FieldPath, invalid } from '../../../api/field-error.js'
import type { Device, ResourceSlice, ResourceSliceSpec } from '../../../api/generated/kinds/resource.v1.js'
import { type Errors, immutable, type List, nonnegative, positive } from '../../../api/validation/checks.js'
import { firstByName } from '../../generic/first-by-name.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { formatTime } from '../../generic/system-fields.js'
import { age, tableOf, text } from '../../generic/table-rules.js'
import { driverNameErrors } from '../../storage.k8s.io/parameters.js'
import { slicesV1beta1, V1BETA1 } from '../conversion.js'
import { eachOnce, poolNameErrors } from '../device-parts.js'
import { counterSetErrors, deviceErrors, dropAlphaFields } from './device.js'
import { nodeErrors, singleTermErrors } from './node-choice.js'

const SPEC = FieldPath.of('spec')
const MOST_DEVICES = 128
/** When devices have taints or share counters, which make each of them larger. */
const MOST_LARGE_DEVICES = 64
const MOST_COUNTER_SETS = 8

/** A taint without a time gets the server's. */
function prepare({ spec }: ResourceSlice, nowMs: number): void {
  for (const device of spec?.devices ?? []) {
    dropAlphaFields(device)
    for (const taint of device.taints ?? []) taint.timeAdded ??= formatTime(nowMs)
  }
}

function mostDevices(devices: List<Device>): number {
  const large = ({ taints, consumesCounters }: Device): boolean =>
    (taints?.length ?? 0) > 0 || (consumesCounters?.length ?? 0) > 0
  return devices?.some(large) ? MOST_LARGE_DEVICES : MOST_DEVICES
}

function errorsOf({ spec = {} }: ResourceSlice, old?: ResourceSlice): Errors {
  const before = old?.spec
  const known = firstByName(before?.devices)
  const { pool = {}, devices, sharedCounters } = spec
  const at = SPEC.child('pool')
  return [
    ...driverNameErrors(spec.driver, SPEC.child('driver')),
    ...poolNameErrors(pool.name, at.child('name')),
    ...positive(pool.resourceSliceCount, at.child('resourceSliceCount')),
    ...nonnegative(pool.generation, at.child('generation')),
    ...(old === undefined ? [] : changeErrors(spec, before ?? {})),
    ...nodeErrors(spec, SPEC),
    ...singleTermErrors(spec, SPEC),
    ...(sharedCounters && devices ? [invalid(SPEC, '', 'there can be sharedCounters or devices, not both')] : []),
    ...eachOnce(
      mostDevices(devices),
      devices,
      SPEC.child('devices'),
      (device, path) => deviceErrors(device, known.get(device.name ?? ''), spec.perDeviceNodeSelection === true, path),
      ({ name }) => name ?? '',
    ),
    ...eachOnce(
      MOST_COUNTER_SETS,
      sharedCounters,
      SPEC.child('sharedCounters'),
      counterSetErrors,
      ({ name }) => name ?? '',
    ),
  ]
}

const changeErrors = (now: ResourceSliceSpec, before: ResourceSliceSpec): Errors => [
  ...immutable(now.pool?.name ?? '', before.pool?.name ?? '', SPEC.child('pool', 'name')),
  ...immutable(now.driver ?? '', before.driver ?? '', SPEC.child('driver')),
  ...immutable(now.nodeName ?? '', before.nodeName ?? '', SPEC.child('nodeName')),
]

function driverWarnings({ spec }: ResourceSlice): string[] {
  const driver = spec?.driver ?? ''
  return driver === driver.toLowerCase()
    ? []
    : [`spec.driver: driver names should be lowercase; "${driver}" contains uppercase characters`]
}

export const resourceSliceRules: ResourceRules<ResourceSlice> = {
  returnDeletedObject: true,
  metadataOnUpdate: 'changes',
  conversions: { [V1BETA1]: slicesV1beta1 },
  generationFields: ['spec'],
  prepareForCreate: (object, context) => prepare(object, context.now()),
  prepareForUpdate: (object, _old, context) => prepare(object, context.now()),
  validate: (object) => errorsOf(object),
  validateUpdate: errorsOf,
  warningsOnCreate: driverWarnings,
  warningsOnUpdate: driverWarnings,
  table: tableOf<ResourceSlice>(
    text('Node', 'The node that has the devices.', ({ spec }) => spec?.nodeName ?? ''),
    text('Driver', 'The driver of the devices.', ({ spec }) => spec?.driver ?? ''),
    text('Pool', 'The pool of the devices.', ({ spec }) => spec?.pool?.name ?? ''),
    age(),
  ),
}
