/** Thread: any. Environment variables and what they are taken from: defaults and rules. */

import { type FieldPath, invalid, notSupported, required } from '../../../api/field-error.js'
import type {
  EnvFromSource,
  EnvVar,
  ObjectFieldSelector,
  ResourceFieldSelector,
  SecretKeySelector,
} from '../../../api/generated/kinds/core.v1.js'
import { parseQuantity } from '../../../api/quantity.js'
import {
  because,
  dnsLabel,
  dnsSubdomain,
  type Errors,
  notEmpty,
  qualifiedName,
} from '../../../api/validation/checks.js'
import { keyReasons } from '../config-data.js'
import { envVarName, namePrefix } from './checks.js'
import { noBacksteps } from './paths.js'

const ENV_FIELDS: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]
export const VOLUME_FIELDS: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.labels',
  'metadata.annotations',
  'metadata.uid',
]
/** Fields that a pod offers at all, to variables or to files. */
const POD_FIELDS: ReadonlySet<string> = new Set([
  ...ENV_FIELDS,
  ...VOLUME_FIELDS,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
])
/** Clients of the first versions still send it. */
const OLD_NAMES: ReadonlyMap<string, string> = new Map([['spec.host', 'spec.nodeName']])
const RESOURCES: readonly string[] = ['limits', 'requests'].flatMap((kind) =>
  ['cpu', 'memory', 'ephemeral-storage'].map((name) => `${kind}.${name}`),
)
const HUGE_PAGES = /^(requests|limits)\.hugepages-/
const BYTE_DIVISORS: readonly string[] = [
  '1',
  ...'kMGTPE'.split('').map((s) => `1${s}`),
  ...'KMGTPE'.split('').map((s) => `1${s}i`),
]

export function setFieldRefDefaults(reference: ObjectFieldSelector | undefined): void {
  if (reference !== undefined && (reference.apiVersion ?? '') === '') reference.apiVersion = 'v1'
}

export function envErrors(variables: readonly EnvVar[], path: FieldPath): Errors {
  return variables.flatMap((variable, i) => {
    const at = path.index(i)
    const name = variable.name ?? ''
    return [
      ...(name === '' ? [required(at.child('name'))] : envVarName(name, at.child('name'))),
      ...valueFromErrors(variable, at.child('valueFrom')),
    ]
  })
}

function valueFromErrors({ value = '', valueFrom }: EnvVar, path: FieldPath): Errors {
  if (valueFrom === undefined) return []
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = valueFrom
  const errors: Errors = []
  if (fieldRef !== undefined) errors.push(...fieldSelectorErrors(fieldRef, ENV_FIELDS, path.child('fieldRef')))
  if (resourceFieldRef !== undefined)
    errors.push(...resourceSelectorErrors(resourceFieldRef, path.child('resourceFieldRef'), false))
  if (configMapKeyRef !== undefined) errors.push(...keySelectorErrors(configMapKeyRef, path.child('configMapKeyRef')))
  if (secretKeyRef !== undefined) errors.push(...keySelectorErrors(secretKeyRef, path.child('secretKeyRef')))
  if (fileKeyRef !== undefined) errors.push(...fileKeyErrors(fileKeyRef, path.child('fileKeyRef')))
  const sources = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(Boolean).length
  if (sources === 0) errors.push(invalid(path, '', 'must say where the value comes from'))
  else if (value !== '') errors.push(invalid(path, '', 'may not be specified when `value` is not empty'))
  else if (sources > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'))
  return errors
}

function keySelectorErrors({ name = '', key = '' }: SecretKeySelector, path: FieldPath): Errors {
  return [
    ...dnsSubdomain(name, path.child('name')),
    ...(key === '' ? [required(path.child('key'))] : because(keyReasons(key), path.child('key'), key)),
  ]
}

function fileKeyErrors(
  { key = '', volumeName = '', path: file = '' }: NonNullable<NonNullable<EnvVar['valueFrom']>['fileKeyRef']>,
  path: FieldPath,
): Errors {
  return [
    ...(key === '' ? [required(path.child('key'))] : envVarName(key, path.child('key'))),
    ...(volumeName === '' ? [required(path.child('volumeName'))] : dnsLabel(volumeName, path.child('volumeName'))),
    ...(file === '' ? [required(path.child('path'))] : noBacksteps(file, path.child('path'))),
  ]
}

/** metadata.labels['tier']: the field and what stands in the brackets. */
function subscriptOf(fieldPath: string): [field: string, subscript: string] | undefined {
  const open = fieldPath.indexOf("['")
  if (open <= 0 || !fieldPath.endsWith("']") || fieldPath.length < open + 4) return undefined
  return [fieldPath.slice(0, open), fieldPath.slice(open + 2, -2)]
}

export function fieldSelectorErrors(
  { apiVersion = '', fieldPath: given = '' }: ObjectFieldSelector,
  supported: readonly string[],
  path: FieldPath,
): Errors {
  if (apiVersion === '') return [required(path.child('apiVersion'))]
  if (given === '') return [required(path.child('fieldPath'))]
  const fieldPath = OLD_NAMES.get(given) ?? given
  const at = path.child('fieldPath')
  const [field, subscript] = subscriptOf(fieldPath) ?? []
  if (apiVersion !== 'v1') return [invalid(at, fieldPath, `unsupported pod version: ${apiVersion}`)]
  if (field !== undefined && subscript !== undefined) {
    if (field === 'metadata.annotations') return qualifiedName(subscript.toLowerCase(), path)
    if (field === 'metadata.labels') return qualifiedName(subscript, path)
    return [invalid(at, fieldPath, 'does not support subscript')]
  }
  if (!POD_FIELDS.has(fieldPath)) return [invalid(at, fieldPath, `field label not supported: ${fieldPath}`)]
  return supported.includes(fieldPath) ? [] : [notSupported(at, fieldPath, supported)]
}

/** In volumes, which belong to no container, the container must be named. */
export function resourceSelectorErrors(
  { containerName = '', resource = '', divisor = '0' }: ResourceFieldSelector,
  path: FieldPath,
  inVolume: boolean,
): Errors {
  const errors: Errors = []
  if (inVolume && containerName === '') errors.push(required(path.child('containerName')))
  else if (resource === '') errors.push(required(path.child('resource')))
  else if (!RESOURCES.includes(resource) && !HUGE_PAGES.test(resource))
    errors.push(notSupported(path.child('resource'), resource, RESOURCES))
  if (parseQuantity(divisor).sign === 0) return errors
  const divisors = resource.endsWith('.cpu') ? ['1m', '1'] : BYTE_DIVISORS
  const limited = RESOURCES.includes(resource) || HUGE_PAGES.test(resource)
  if (limited && !divisors.includes(divisor))
    errors.push(invalid(path.child('divisor'), resource, `only divisor's values ${divisors.join(', ')} are supported`))
  return errors
}

export function envFromErrors(sources: readonly EnvFromSource[], path: FieldPath): Errors {
  return sources.flatMap(({ prefix = '', configMapRef, secretRef }, i) => {
    const at = path.index(i)
    const errors = prefix === '' ? [] : envVarName(prefix, at.child('prefix'))
    if (configMapRef !== undefined) errors.push(...referenceErrors(configMapRef.name, at.child('configMapRef', 'name')))
    if (secretRef !== undefined) errors.push(...referenceErrors(secretRef.name, at.child('secretRef', 'name')))
    const count = [configMapRef, secretRef].filter(Boolean).length
    if (count === 0) errors.push(invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'))
    else if (count > 1) errors.push(invalid(path, '', 'may not have more than one field specified at a time'))
    return errors
  })
}

const referenceErrors = (name: string | undefined, path: FieldPath): Errors =>
  (name ?? '') === '' ? notEmpty(name, path) : namePrefix(name!, path)
