/** Thread: any. What a claim on storage asks for: of claims themselves, of ephemeral volumes, of stateful sets. */

import { type FieldPath, forbidden, invalid, required } from '../../../api/field-error.js'
import type { PersistentVolumeClaimSpec, TypedLocalObjectReference } from '../../../api/generated/kinds/core.v1.js'
import type { ObjectMeta } from '../../../api/object.js'
import { parseQuantity } from '../../../api/quantity.js'
import { dnsLabel, dnsSubdomain, type Errors, oneOf } from '../../../api/validation/checks.js'
import { labelSelectorErrors } from '../../../api/validation/label-selectors.js'
import { validateAnnotations, validateLabels } from '../../../api/validation/object-meta.js'
import { setResourceListDefaults } from './resources.js'

const ACCESS_MODES = ['ReadWriteOnce', 'ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOncePod']

export function setClaimSpecDefaults(spec: PersistentVolumeClaimSpec): void {
  spec.volumeMode ??= 'Filesystem'
  setResourceListDefaults(spec.resources?.limits)
  setResourceListDefaults(spec.resources?.requests)
}

/** Of an object's metadata a template may carry labels and annotations only. */
export function templateMetadataErrors(metadata: ObjectMeta | undefined, path: FieldPath): Errors {
  const { labels, annotations, ...others } = metadata ?? {}
  return [
    ...validateAnnotations(annotations, path.child('annotations')),
    ...validateLabels(labels, path.child('labels')),
    ...Object.entries(others)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([field]) => forbidden(path.child(field === 'uid' ? 'uID' : field), 'cannot be set')),
  ]
}

export function claimSpecErrors(spec: PersistentVolumeClaimSpec, path: FieldPath): Errors {
  const { accessModes = [], resources, storageClassName = '', volumeAttributesClassName = '', volumeMode } = spec
  const modesAt = path.child('accessModes')
  const errors: Errors = []
  if (accessModes.length === 0) errors.push(required(modesAt, 'at least 1 access mode is required'))
  errors.push(...labelSelectorErrors(spec.selector, path.child('selector')))
  for (const mode of accessModes) errors.push(...oneOf(mode, ACCESS_MODES, modesAt))
  const others = accessModes.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode))
  if (accessModes.includes('ReadWriteOncePod') && others)
    errors.push(forbidden(modesAt, 'may not use ReadWriteOncePod with other access modes'))
  errors.push(...storageErrors(resources?.requests?.['storage'], path.child('resources').key('storage')))
  if (storageClassName !== '') errors.push(...dnsSubdomain(storageClassName, path.child('storageClassName')))
  if (volumeMode !== undefined) errors.push(...oneOf(volumeMode, ['Block', 'Filesystem'], path.child('volumeMode')))
  errors.push(...dataSourceErrors(spec, path))
  if (volumeAttributesClassName !== '')
    errors.push(...dnsSubdomain(volumeAttributesClassName, path.child('volumeAttributesClassName')))
  return errors
}

function storageErrors(amount: string | undefined, path: FieldPath): Errors {
  if (amount === undefined) return [required(path)]
  return parseQuantity(amount).sign <= 0 ? [invalid(path, amount, 'must be greater than zero')] : []
}

export function claimSpecWarnings({ resources }: PersistentVolumeClaimSpec, path: FieldPath): string[] {
  return (['requests', 'limits'] as const).flatMap((list) => {
    const amount = resources?.[list]?.['storage']
    if (amount === undefined || parseQuantity(amount).milliValue() % 1000n === 0n) return []
    return [`${path.child('resources', list).key('storage')}: ${JSON.stringify(amount)} is not a whole number of bytes`]
  })
}

function dataSourceErrors({ dataSource, dataSourceRef }: PersistentVolumeClaimSpec, path: FieldPath): Errors {
  const errors: Errors = []
  if (dataSource !== undefined) errors.push(...sourceErrors(dataSource, path.child('dataSource')))
  if (dataSourceRef === undefined) return errors
  errors.push(...sourceErrors(dataSourceRef, path.child('dataSourceRef')))
  const { namespace = '' } = dataSourceRef
  if (namespace !== '') errors.push(...dnsLabel(namespace, path.child('dataSourceRef', 'namespace')))
  if (dataSource === undefined) return errors
  const same = (['apiGroup', 'kind', 'name'] as const).every(
    (field) => (dataSource[field] ?? null) === (dataSourceRef[field] ?? null),
  )
  if (namespace !== '')
    errors.push(invalid(path, 'dataSource', 'may not be specified when dataSourceRef.namespace is specified'))
  else if (!same) errors.push(invalid(path, 'dataSource', 'must match dataSourceRef'))
  return errors
}

function sourceErrors({ name = '', kind = '', apiGroup: group }: TypedLocalObjectReference, path: FieldPath): Errors {
  const apiGroup = group ?? ''
  return [
    ...(name === '' ? [required(path.child('name'))] : []),
    ...(kind === '' ? [required(path.child('kind'))] : []),
    ...(apiGroup === '' && kind !== 'PersistentVolumeClaim'
      ? [invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")]
      : []),
    ...(apiGroup === '' ? [] : dnsSubdomain(apiGroup, path.child('apiGroup'))),
  ]
}
