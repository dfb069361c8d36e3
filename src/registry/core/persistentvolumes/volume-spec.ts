/** Thread: pool. What a persistent volume says of itself; also where an attachment carries it inline. */

import { posix } from 'node:path'
import { type FieldPath, forbidden, notSupported, required } from '../../../api/field-error.js'
import type { PersistentVolumeSpec } from '../../../api/generated/kinds/core.v1.js'
import { dnsSubdomain, type Errors, type List, optionalBy } from '../../../api/validation/checks.js'
import { nodeSelectorErrors } from '../../../api/validation/node-selectors.js'
import { nonnegativeQuantity, positiveQuantity } from '../../../api/validation/quantities.js'
import { SOURCES, type SourceName, sourceOf, type VolumeSource } from './persistent-volume.js'
import { setSourceDefaults, sourceErrors } from './volume-sources.js'

const ACCESS_MODES = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod']
export const VOLUME_MODES = ['Block', 'Filesystem']
const INLINE = 'may not be specified in the context of inline volumes'

export function accessModeErrors(modes: List<string>, path: FieldPath): Errors {
  const given = modes ?? []
  const errors = given.flatMap((mode) => (ACCESS_MODES.includes(mode) ? [] : [notSupported(path, mode, ACCESS_MODES)]))
  const others = given.some((mode) => mode !== 'ReadWriteOncePod' && ACCESS_MODES.includes(mode))
  if (given.includes('ReadWriteOncePod') && others)
    errors.push(forbidden(path, 'may not use ReadWriteOncePod with other access modes'))
  return errors
}

export function setSpecDefaults(spec: PersistentVolumeSpec): void {
  for (const name of SOURCES) {
    const source = sourceOf(spec, name)
    if (source) setSourceDefaults(name, source)
  }
}

function capacityErrors(capacity: Readonly<Record<string, string>>, path: FieldPath): Errors {
  const names = Object.keys(capacity)
  const errors: Errors = names.length === 0 ? [required(path)] : []
  if (names.length !== 1 || names[0] !== 'storage') errors.push(notSupported(path, capacity, ['storage']))
  return [
    ...errors,
    ...names.flatMap((name) => [
      ...nonnegativeQuantity(capacity[name]!, path.key(name)),
      ...positiveQuantity(capacity[name]!, path.key(name)),
    ]),
  ]
}

/** What an inline volume may not have. */
function inlineErrors(spec: PersistentVolumeSpec, path: FieldPath): Errors {
  const not = (field: string, wrong: boolean): Errors => (wrong ? [forbidden(path.child(field), INLINE)] : [])
  const { persistentVolumeReclaimPolicy: policy = '', volumeMode, storageClassName = '' } = spec
  return [
    ...not('claimRef', Boolean(spec.claimRef)),
    ...not('capacity', Object.keys(spec.capacity ?? {}).length > 0),
    ...(sourceOf(spec, 'csi') ? [] : [required(path.child('csi'), 'inline volumes are of CSI drivers')]),
    ...not('persistentVolumeReclaimPolicy', policy !== '' && policy !== 'Retain'),
    ...not('nodeAffinity', Boolean(spec.nodeAffinity)),
    ...not('storageClassName', storageClassName !== ''),
    ...not('volumeMode', volumeMode !== undefined && volumeMode !== 'Filesystem'),
  ]
}

function storedErrors(spec: PersistentVolumeSpec, path: FieldPath): Errors {
  const { persistentVolumeReclaimPolicy: policy = '', volumeMode, nodeAffinity } = spec
  const policies = ['Delete', 'Recycle', 'Retain']
  const errors = capacityErrors(spec.capacity ?? {}, path.child('capacity'))
  if (policy !== '' && !policies.includes(policy))
    errors.push(notSupported(path.child('persistentVolumeReclaimPolicy'), policy, policies))
  if (nodeAffinity) {
    const at = path.child('nodeAffinity', 'required')
    errors.push(...(nodeAffinity.required ? nodeSelectorErrors(nodeAffinity.required, at) : [required(at)]))
  }
  errors.push(...optionalBy(spec.storageClassName, path.child('storageClassName'), dnsSubdomain))
  if (volumeMode !== undefined && !VOLUME_MODES.includes(volumeMode))
    errors.push(notSupported(path.child('volumeMode'), volumeMode, VOLUME_MODES))
  return errors
}

export function persistentVolumeSpecErrors(
  spec: PersistentVolumeSpec,
  volumeName: string,
  path: FieldPath,
  inline = false,
): Errors {
  const given = SOURCES.map((name) => [name, sourceOf(spec, name)] as const).filter(
    (entry): entry is [SourceName, VolumeSource] => Boolean(entry[1]),
  )
  const errors = inline ? inlineErrors(spec, path) : storedErrors(spec, path)
  if ((spec.accessModes?.length ?? 0) === 0) errors.push(required(path.child('accessModes')))
  errors.push(
    ...accessModeErrors(spec.accessModes, path.child('accessModes')),
    ...sourceErrors(given, path, volumeName),
  )
  if (given.length === 0) errors.push(required(path, 'must specify a volume type'))
  const has = (name: SourceName): boolean => given.some(([other]) => other === name)
  if (given[0]?.[0] === 'local' && !spec.nodeAffinity) errors.push(required(path.child('nodeAffinity')))
  const root = posix.normalize(String(sourceOf(spec, 'hostPath')?.['path'] ?? '')) === '/'
  if (has('hostPath') && root && spec.persistentVolumeReclaimPolicy === 'Recycle')
    errors.push(forbidden(path.child('persistentVolumeReclaimPolicy'), "may not be 'recycle' for a hostPath of '/'"))
  return [...errors, ...(inline ? [] : attributesClassErrors(spec, path, has('csi')))]
}

function attributesClassErrors(
  { volumeAttributesClassName: name }: PersistentVolumeSpec,
  path: FieldPath,
  csi: boolean,
): Errors {
  if (name === undefined) return []
  const at = path.child('volumeAttributesClassName')
  return [
    ...(name === '' ? [required(at, 'an empty string is disallowed')] : dnsSubdomain(name, at)),
    ...(csi ? [] : [required(path.child('csi'), 'only CSI volumes have a class of attributes')]),
  ]
}
