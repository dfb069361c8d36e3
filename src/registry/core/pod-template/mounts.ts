/** Thread: any. Volume mounts and block devices of a container. */

import { type FieldPath, forbidden, invalid, notFound, notSupported, required } from '../../../api/field-error.js'
import type { Container, VolumeMount, VolumeSource } from '../../../api/generated/kinds/core.v1.js'
import { type Errors, oneOf } from '../../../api/validation/checks.js'
import { localDescendingPath, noBacksteps } from './paths.js'

export type Volumes = ReadonlyMap<string, VolumeSource>

export function mountErrors(container: Container, volumes: Volumes, path: FieldPath): Errors {
  const { volumeMounts = [], volumeDevices = [] } = container
  const devices = new Map(volumeDevices.map(({ name = '', devicePath = '' }) => [name, devicePath]))
  const seen = new Set<string>()
  return volumeMounts.flatMap((mount, i) => {
    const at = path.index(i)
    const { name = '', mountPath = '', subPath = '', subPathExpr = '' } = mount
    const errors: Errors = []
    if (name === '') errors.push(required(at.child('name')))
    if (!volumes.has(name)) errors.push(notFound(at.child('name'), name))
    if (mountPath === '') errors.push(required(at.child('mountPath')))
    if (seen.has(mountPath)) errors.push(invalid(at.child('mountPath'), mountPath, 'must be unique'))
    seen.add(mountPath)
    if (devices.has(name)) errors.push(invalid(at.child('name'), name, 'must not already exist in volumeDevices'))
    if ([...devices.values()].includes(mountPath))
      errors.push(invalid(at.child('mountPath'), mountPath, 'must not already exist as a path in volumeDevices'))
    if (subPath !== '') errors.push(...localDescendingPath(subPath, path.child('subPath')))
    if (subPathExpr !== '') {
      if (subPath !== '')
        errors.push(invalid(at.child('subPathExpr'), subPathExpr, 'subPathExpr and subPath are mutually exclusive'))
      errors.push(...localDescendingPath(subPathExpr, path.child('subPathExpr')))
    }
    errors.push(...propagationErrors(mount, container, path.child('mountPropagation')))
    errors.push(...recursiveReadOnlyErrors(mount, path.child('recursiveReadOnly')))
    return errors
  })
}

function propagationErrors({ mountPropagation }: VolumeMount, container: Container, path: FieldPath): Errors {
  if (mountPropagation === undefined) return []
  const errors = oneOf(mountPropagation, ['Bidirectional', 'HostToContainer', 'None'], path)
  if (mountPropagation === 'Bidirectional' && container.securityContext?.privileged !== true)
    errors.push(forbidden(path, 'Bidirectional mount propagation is available only to privileged containers'))
  return errors
}

function recursiveReadOnlyErrors(mount: VolumeMount, path: FieldPath): Errors {
  const { recursiveReadOnly, readOnly = false, mountPropagation = 'None' } = mount
  if (recursiveReadOnly === undefined || recursiveReadOnly === 'Disabled') return []
  if (recursiveReadOnly !== 'Enabled' && recursiveReadOnly !== 'IfPossible')
    return [notSupported(path, recursiveReadOnly, ['Disabled', 'Enabled', 'IfPossible'])]
  const errors: Errors = []
  if (!readOnly) errors.push(forbidden(path, 'may only be specified when readOnly is true'))
  if (mountPropagation !== 'None')
    errors.push(forbidden(path, 'may only be specified when mountPropagation is None or not specified'))
  return errors
}

export function deviceErrors(container: Container, volumes: Volumes, path: FieldPath): Errors {
  const { volumeMounts = [], volumeDevices = [] } = container
  const mounts = new Map(volumeMounts.map(({ name = '', mountPath = '' }) => [name, mountPath]))
  const names = new Set<string>()
  const paths = new Set<string>()
  return volumeDevices.flatMap(({ name = '', devicePath = '' }, i) => {
    const [nameAt, pathAt] = [path.index(i).child('name'), path.index(i).child('devicePath')]
    const source = volumes.get(name)
    const errors: Errors = []
    if (name === '') errors.push(required(nameAt))
    if (names.has(name)) errors.push(invalid(nameAt, name, 'must be unique'))
    if (source === undefined) errors.push(notFound(nameAt, name))
    else if (source.persistentVolumeClaim === undefined && source.ephemeral === undefined)
      errors.push(invalid(nameAt, name, 'only volumes of type PersistentVolumeClaim or Ephemeral can be block devices'))
    if (devicePath === '') errors.push(required(pathAt))
    if (paths.has(devicePath)) errors.push(invalid(pathAt, devicePath, 'must be unique'))
    const backsteps = noBacksteps(devicePath, pathAt)
    if (backsteps.length > 0) errors.push(...backsteps)
    else paths.add(devicePath)
    if (mounts.has(name)) errors.push(invalid(nameAt, name, 'must not already exist in volumeMounts'))
    if ([...mounts.values()].includes(devicePath))
      errors.push(invalid(pathAt, devicePath, 'must not already exist as a path in volumeMounts'))
    if (name !== '') names.add(name)
    return errors
  })
}
