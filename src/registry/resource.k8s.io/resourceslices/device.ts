/** Thread: pool. One device of a slice: what it is, how much of it there is, and what keeps pods from it. */

import { type FieldPath, invalid, required, tooLong, tooMany } from '../../../api/field-error.js'
import type { CounterSet, Device, DeviceAttribute, DeviceTaint } from '../../../api/generated/kinds/resource.v1.js'
import {
  dnsLabel,
  type Errors,
  labelValue,
  maxBytes,
  oneOf,
  optionalBy,
  qualifiedName,
  requiredBy,
  sameValue,
} from '../../../api/validation/checks.js'
import { attributeNameErrors, bindingErrors, DEVICE_EFFECTS, eachOfAtMost, eachOnce } from '../device-parts.js'
import { capacityErrors } from './capacity-policy.js'
import { nodeErrors } from './node-choice.js'

const VALUE_BYTES = 64
const MOST_PROPERTIES = 32
const MOST_TAINTS = 16
const MOST_COUNTERS = 32
const MOST_CONSUMED_SETS = 2
/** A key in a path is no longer than the longest that is allowed. */
const KEY_LENGTH = 63 + 1 + 32
const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)(\.(?:0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*))*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/

/** Fields behind feature gates that are off. */
export function dropAlphaFields(device: Device): void {
  delete device.nodeAllocatableResourceMappings
  for (const attribute of Object.values(device.attributes ?? {}))
    for (const field of ['ints', 'bools', 'strings', 'versions'] as const) delete attribute?.[field]
}

function shortened(key: string): string {
  if (key.length <= KEY_LENGTH) return key
  const kept = KEY_LENGTH - 3
  return `${key.slice(0, Math.floor((kept + 1) / 2))}...${key.slice(key.length - Math.floor(kept / 2))}`
}

const eachProperty = <T>(
  properties: Readonly<Record<string, T>> | undefined,
  path: FieldPath,
  check: (value: T, at: FieldPath) => Errors,
): Errors =>
  Object.entries(properties ?? {}).flatMap(([name, value]) => [
    ...attributeNameErrors(name, path),
    ...check(value, path.key(shortened(name))),
  ])

function attributeErrors(attribute: DeviceAttribute | null, at: FieldPath): Errors {
  const { string: word, version } = attribute ?? {}
  const errors = maxBytes(word, at.child('string'), VALUE_BYTES)
  if (version !== undefined) {
    const where = at.child('version')
    if (!SEMVER.test(version)) errors.push(invalid(where, version, 'must be a semantic version'))
    if (Buffer.byteLength(version) > VALUE_BYTES) errors.push(tooLong(where, VALUE_BYTES))
  }
  const values = Object.values(attribute ?? {}).filter((value) => value !== undefined && value !== null)
  return values.length === 1 ? errors : [...errors, invalid(at, attribute, 'exactly one value must be specified')]
}

const taintErrors = ({ key = '', value = '', effect }: DeviceTaint, at: FieldPath): Errors => [
  ...qualifiedName(key, at.child('key')),
  ...optionalBy(value, at.child('value'), labelValue),
  ...oneOf(effect, DEVICE_EFFECTS, at.child('effect'), 'required'),
]

function countersErrors(counters: object | undefined, path: FieldPath): Errors {
  const names = Object.keys(counters ?? {})
  if (names.length === 0) return [required(path)]
  if (names.length > MOST_COUNTERS) return [tooMany(path, names.length, MOST_COUNTERS)]
  return names.flatMap((name) => dnsLabel(name, path))
}

export const counterSetErrors = ({ name, counters }: CounterSet, at: FieldPath): Errors => [
  ...requiredBy(name, at.child('name'), dnsLabel),
  ...countersErrors(counters, at.child('counters')),
]

export function deviceErrors(device: Device, old: Device | undefined, perDevice: boolean, at: FieldPath): Errors {
  const { attributes, capacity, taints } = device
  const shared = device.allowMultipleAllocations === true
  const properties = Object.keys(attributes ?? {}).length + Object.keys(capacity ?? {}).length
  return [
    ...dnsLabel(device.name ?? '', at.child('name')),
    ...(properties > MOST_PROPERTIES ? [invalid(at, properties, `must not exceed ${MOST_PROPERTIES}`)] : []),
    ...eachProperty(attributes, at.child('attributes'), attributeErrors),
    ...eachProperty(capacity, at.child('capacity'), (item, where) => capacityErrors(item, shared, where)),
    ...(old !== undefined && sameValue(taints, old.taints)
      ? []
      : eachOfAtMost(MOST_TAINTS, taints, at.child('taints'), taintErrors)),
    ...eachOnce(
      MOST_CONSUMED_SETS,
      device.consumesCounters,
      at.child('consumesCounters'),
      ({ counterSet, counters }, where) => [
        ...requiredBy(counterSet, where.child('counterSet'), dnsLabel),
        ...countersErrors(counters, where.child('counters')),
      ],
      ({ counterSet }) => counterSet ?? '',
    ),
    ...deviceNodeErrors(device, perDevice, at),
    ...bindingErrors(device, at),
  ]
}

function deviceNodeErrors(device: Device, perDevice: boolean, at: FieldPath): Errors {
  if (perDevice) return nodeErrors(device, at)
  const { nodeName, nodeSelector, allNodes } = device
  const chosen = [nodeName, nodeSelector, allNodes].some((way) => way !== undefined && way !== null)
  return chosen ? [invalid(at, '', 'devices choose nodes when `perDeviceNodeSelection` is true')] : []
}
