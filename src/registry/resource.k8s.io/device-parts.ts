/** Thread: pool. What claims, classes and slices of devices have in common: names, configurations, taints, tolerations. */
import { duplicate, type FieldPath, invalid, notSupported, required, tooLong, tooMany } from '../../api/field-error.js'
import type { Device, DeviceConfiguration, DeviceToleration } from '../../api/generated/kinds/resource.v1.js'
import { printRaw } from '../../api/json/print-raw.js'
import type { Json } from '../../api/object.js'
import {
  dnsSubdomain,
  type Errors,
  each,
  type List,
  labelValue,
  maxBytes,
  oneOf,
  optionalBy,
  qualifiedName,
} from '../../api/validation/checks.js'
import { driverNameErrors } from '../storage.k8s.io/parameters.js'

type BindingConditions = Pick<Device, 'bindingConditions' | 'bindingFailureConditions'>

const OPAQUE_BYTES = 10 * 1024
const ATTRIBUTE_BYTES = 32
const POOL_NAME_BYTES = 253
const MOST_BINDING_CONDITIONS = 4
export const MOST_CONFIGURATIONS = 32
export const DEVICE_EFFECTS = ['NoExecute', 'NoSchedule', 'None']
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/

type CheckItem<T> = (item: T, at: FieldPath, index: number) => Errors

/** What is in a list that is too long is not looked at. */
export const eachOfAtMost = <T>(most: number, list: List<T>, path: FieldPath, check: CheckItem<T>): Errors =>
  (list?.length ?? 0) > most ? [tooMany(path, list!.length, most)] : each(list, path, check)

/** Items and then, after all of them, which of them are there twice. */
export function eachOnce<T>(
  most: number,
  list: List<T>,
  path: FieldPath,
  check: CheckItem<T>,
  keyOf: (item: T) => string,
): Errors {
  if ((list?.length ?? 0) > most) return [tooMany(path, list!.length, most)]
  return [...each(list, path, check), ...duplicates(list, path, keyOf)]
}

function duplicates<T>(list: List<T>, path: FieldPath, keyOf: (item: T) => string): Errors {
  const seen = new Set<string>()
  return each(list, path, (item, at) => {
    const key = keyOf(item)
    if (seen.has(key)) return [duplicate(at, key)]
    seen.add(key)
    return []
  })
}

/** Parts between slashes, as drivers name the nodes or racks that a pool belongs to. */
export const poolNameErrors = (name: string | undefined, path: FieldPath): Errors =>
  (name ?? '') === ''
    ? [required(path)]
    : [...maxBytes(name, path, POOL_NAME_BYTES), ...name!.split('/').flatMap((part) => dnsSubdomain(part, path))]

/** identifier or domain/identifier. With more slashes than one nothing is looked at, as Kubernetes does not. */
export function attributeNameErrors(name: string, path: FieldPath): Errors {
  const parts = name.split('/')
  if (parts.length > 2) return []
  const [id = '', domain] = parts.reverse()
  return [
    ...(domain === '' ? [invalid(path, domain, 'the domain must not be empty')] : []),
    ...(domain ? driverNameErrors(domain, path) : []),
    ...maxBytes(id, path, ATTRIBUTE_BYTES),
    ...(IDENTIFIER.test(id) ? [] : [invalid(path, id, 'must be a C identifier')]),
  ]
}

/** Conditions that a device must have before pods run with it, and those that say it never will: both or neither. */
export function bindingErrors(
  { bindingConditions: wanted, bindingFailureConditions: failed }: BindingConditions,
  at: FieldPath,
): Errors {
  const [first, second] = [at.child('bindingConditions'), at.child('bindingFailureConditions')]
  const same = (condition: string): string => condition
  const errors = [
    ...eachOfAtMost(MOST_BINDING_CONDITIONS, wanted, first, qualifiedName),
    ...eachOfAtMost(MOST_BINDING_CONDITIONS, failed, second, qualifiedName),
    ...duplicates(wanted, first, same),
    ...duplicates(failed, second, same),
    ...each(failed, second, (condition, where) =>
      wanted?.includes(condition) ? [invalid(where, condition, 'must not be among bindingConditions')] : [],
    ),
  ]
  const [some, others] = [(wanted?.length ?? 0) > 0, (failed?.length ?? 0) > 0]
  if (others && !some) errors.push(invalid(first, wanted ?? [], 'needed with bindingFailureConditions'))
  if (some && !others) errors.push(invalid(second, failed ?? [], 'needed with bindingConditions'))
  return errors
}

export function configurationErrors({ opaque }: DeviceConfiguration, at: FieldPath): Errors {
  const path = at.child('opaque')
  if (!opaque) return [required(path)]
  const { driver, parameters } = opaque
  return [
    ...driverNameErrors(driver, path.child('driver')),
    ...(parameters === undefined || parameters === null
      ? [required(path.child('parameters'))]
      : opaqueErrors(parameters, path.child('parameters'))),
  ]
}

/** What drivers alone understand. */
export function opaqueErrors(value: Json, path: FieldPath): Errors {
  if (Buffer.byteLength(printRaw(value)) > OPAQUE_BYTES) return [tooLong(path, OPAQUE_BYTES)]
  return typeof value === 'object' && !Array.isArray(value)
    ? []
    : [invalid(path, '<value omitted>', 'must be a valid JSON object')]
}

export const tolerationErrors = (tolerations: List<DeviceToleration>, path: FieldPath): Errors =>
  each(tolerations, path, ({ key = '', operator = '', value = '', effect = '' }, at) => {
    const errors = optionalBy(key, at.child('key'), qualifiedName)
    if (operator === 'Exists') {
      if (value !== '') errors.push(invalid(at.child('value'), value, 'must be empty for operator `Exists`'))
    } else if (operator === 'Equal') {
      errors.push(...labelValue(value, at.child('value')))
    } else if (operator === '') errors.push(required(at.child('operator')))
    else errors.push(notSupported(at.child('operator'), operator, ['Equal', 'Exists']))
    return [...errors, ...oneOf(effect, DEVICE_EFFECTS, at.child('effect'), 'allowed')]
  })
