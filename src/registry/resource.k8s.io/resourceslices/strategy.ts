/** Thread: pool. ResourceSlices: the devices of a driver, in portions. */
import { FieldPath, invalid, required, tooLong } from '../../../api/field-error.js'
import type { KubeObject } from '../../../api/object.js'
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
  positive,
  qualifiedName,
  requiredBy,
} from '../../../api/validation/checks.js'
import { type NodeSelector, nodeSelectorErrors } from '../../../api/validation/node-selectors.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { formatTime } from '../../generic/system-fields.js'
import { age, tableOf, text } from '../../generic/table-rules.js'
import { driverNameErrors } from '../../storage.k8s.io/parameters.js'
import { slicesV1beta1, V1BETA1 } from '../conversion.js'
import { DEVICE_EFFECTS } from '../device-parts.js'
import { type Capacity, capacityErrors } from './capacity-policy.js'

interface Device {
  name?: string
  nodeName?: string
  allNodes?: boolean
  nodeSelector?: NodeSelector
  attributes?: Record<string, { int?: number; bool?: boolean; string?: string; version?: string }>
  taints?: List<{ key?: string; value?: string; effect?: string; timeAdded?: string }>
  allowMultipleAllocations?: boolean
  capacity?: Record<string, Capacity>
  bindingConditions?: List<string>
  bindingFailureConditions?: List<string>
  consumesCounters?: List<{ counterSet?: string; counters?: object }>
}

interface ResourceSlice extends KubeObject {
  spec?: {
    driver?: string
    pool?: { name?: string; generation?: number; resourceSliceCount?: number }
    nodeName?: string
    nodeSelector?: NodeSelector
    allNodes?: boolean
    perDeviceNodeSelection?: boolean
    devices?: List<Device>
    sharedCounters?: List<unknown>
  }
}

const SPEC = FieldPath.of('spec')
const VALUE_BYTES = 64
const SEMVER =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?(\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$/

/** Exactly one way to say which nodes can use it. */
function nodeErrors(holder: Device & { perDeviceNodeSelection?: boolean }, path: FieldPath): Errors {
  const errors = [
    ...givenBy(holder.nodeName, path.child('nodeName'), dnsSubdomain),
    ...(holder.nodeSelector ? nodeSelectorErrors(holder.nodeSelector, path.child('nodeSelector')) : []),
  ]
  const ways = [holder.nodeName, holder.nodeSelector, holder.allNodes, holder.perDeviceNodeSelection].filter(Boolean)
  if (ways.length === 0) errors.push(required(path, 'exactly one way to choose nodes is required'))
  if (ways.length > 1) errors.push(invalid(path, '', 'exactly one way to choose nodes is required'))
  return errors
}

function poolNameErrors(name: string, path: FieldPath): Errors {
  return name.split('/').flatMap((part) => dnsSubdomain(part, path))
}

function attributeErrors(attributes: Device['attributes'], path: FieldPath): Errors {
  return Object.entries(attributes ?? {}).flatMap(([name, attribute]) => {
    const at = path.key(name)
    const values = Object.entries(attribute ?? {}).filter(([, value]) => value !== undefined && value !== null)
    const errors: Errors = values.length === 1 ? [] : [invalid(at, attribute, 'exactly one value must be specified')]
    const { string: word, version } = attribute ?? {}
    if (Buffer.byteLength(word ?? '') > VALUE_BYTES) errors.push(tooLong(at.child('string'), VALUE_BYTES))
    if (Buffer.byteLength(version ?? '') > VALUE_BYTES) errors.push(tooLong(at.child('version'), VALUE_BYTES))
    if (version !== undefined && !SEMVER.test(version))
      errors.push(invalid(at.child('version'), version, 'must be a semantic version'))
    return errors
  })
}

/** A taint without a time gets the server's. */
function stampTaints(object: KubeObject, nowMs: number): void {
  for (const { taints } of (object as ResourceSlice).spec?.devices ?? [])
    for (const taint of taints ?? []) taint.timeAdded ??= formatTime(nowMs)
}

function bindingErrors({ bindingConditions: wanted, bindingFailureConditions: failed }: Device, at: FieldPath): Errors {
  const [first, second] = [at.child('bindingConditions'), at.child('bindingFailureConditions')]
  const errors = [...each(wanted, first, qualifiedName), ...each(failed, second, qualifiedName)]
  const [some, others] = [(wanted?.length ?? 0) > 0, (failed?.length ?? 0) > 0]
  if (others && !some) errors.push(invalid(first, wanted ?? [], 'needed with bindingFailureConditions'))
  if (some && !others) errors.push(invalid(second, failed ?? [], 'needed with bindingConditions'))
  return errors
}

function deviceErrors(device: Device, at: FieldPath, perDevice: boolean): Errors {
  return [
    ...dnsLabel(device.name ?? '', at.child('name')),
    ...(perDevice ? nodeErrors(device, at) : []),
    ...attributeErrors(device.attributes, at.child('attributes')),
    ...capacityErrors(device.capacity, device.allowMultipleAllocations === true, at.child('capacity')),
    ...each(device.taints, at.child('taints'), ({ key = '', value = '', effect = '' }, path) => [
      ...qualifiedName(key, path.child('key')),
      ...labelValue(value, path.child('value')),
      ...oneOf(effect, DEVICE_EFFECTS, path.child('effect'), 'required'),
    ]),
    ...each(device.consumesCounters, at.child('consumesCounters'), ({ counterSet, counters }, path) => [
      ...requiredBy(counterSet, path.child('counterSet'), dnsLabel),
      ...(Object.keys(counters ?? {}).length === 0 ? [required(path.child('counters'))] : []),
    ]),
    ...bindingErrors(device, at),
  ]
}

function validate(object: KubeObject): Errors {
  const { spec = {} } = object as ResourceSlice
  const { pool = {} } = spec
  const { devices: _devices, ...nodes } = spec
  return [
    ...driverNameErrors(spec.driver, SPEC.child('driver')),
    ...requiredBy(pool.name, SPEC.child('pool', 'name'), poolNameErrors),
    ...positive(pool.resourceSliceCount, SPEC.child('pool', 'resourceSliceCount')),
    ...((pool.generation ?? 0) < 0
      ? [invalid(SPEC.child('pool', 'generation'), pool.generation, 'must not be negative')]
      : []),
    ...nodeErrors(nodes as Device, SPEC),
    ...each(spec.devices, SPEC.child('devices'), (device, at) =>
      deviceErrors(device, at, spec.perDeviceNodeSelection === true),
    ),
  ]
}

export const resourceSliceRules: ResourceRules = {
  returnDeletedObject: true,
  conversions: { [V1BETA1]: slicesV1beta1 },
  generationFields: ['spec'],
  indexedFields: [{ name: 'spec.nodeName' }, { name: 'spec.driver' }],
  prepareForCreate: (object, context) => stampTaints(object, context.now()),
  prepareForUpdate: (object, _old, context) => stampTaints(object, context.now()),
  validate,
  validateUpdate: (object, old) => {
    const [now, before] = [(object as ResourceSlice).spec ?? {}, (old as ResourceSlice).spec ?? {}]
    return [
      ...validate(object),
      ...immutable(now.driver ?? '', before.driver ?? '', SPEC.child('driver')),
      ...immutable(now.pool?.name ?? '', before.pool?.name ?? '', SPEC.child('pool', 'name')),
      ...immutable(now.nodeName ?? '', before.nodeName ?? '', SPEC.child('nodeName')),
    ]
  },
  warningsOnCreate: driverWarnings,
  table: tableOf<ResourceSlice>(
    text('Node', 'The node that has the devices.', ({ spec }) => spec?.nodeName ?? '<unset>'),
    text('Driver', 'The driver of the devices.', ({ spec }) => spec?.driver ?? ''),
    text('Pool', 'The pool of the devices.', ({ spec }) => spec?.pool?.name ?? ''),
    age(),
  ),
}

function driverWarnings(object: KubeObject): string[] {
  const driver = (object as ResourceSlice).spec?.driver ?? ''
  return driver === driver.toLowerCase()
    ? []
    : [`spec.driver: driver names should be lowercase; "${driver}" contains uppercase characters`]
}
