/** Thread: any. Volumes: which kinds there are, defaults and rules. */

import { duplicate, type FieldPath, forbidden, invalid, required } from '../../../api/field-error.js'
import type { Volume, VolumeSource } from '../../../api/generated/kinds/core.v1.js'
import type { ObjectMeta } from '../../../api/object.js'
import { because, dnsLabel, type Errors, notEmpty } from '../../../api/validation/checks.js'
import { dnsSubdomainName } from '../../../api/validation/names.js'
import { setClaimSpecDefaults } from './claim-spec.js'
import { setFieldRefDefaults } from './env.js'
import { imageTag } from './image-name.js'
import { SOURCES, sourceErrors } from './volume-source.js'

const FILE_MODE = 0o644
const TOKEN_SECONDS = 3600

export function setVolumeDefaults(volume: Volume): void {
  if (!SOURCES.some((source) => volume[source] !== undefined)) volume.emptyDir = {}
  for (const source of ['secret', 'configMap', 'downwardAPI', 'projected'] as const) {
    const given = volume[source]
    if (given !== undefined) given.defaultMode ??= FILE_MODE
  }
  if (volume.hostPath !== undefined) volume.hostPath.type ??= ''
  for (const file of volume.downwardAPI?.items ?? []) setFieldRefDefaults(file.fieldRef)
  for (const source of volume.projected?.sources ?? []) {
    for (const file of source.downwardAPI?.items ?? []) setFieldRefDefaults(file.fieldRef)
    if (source.serviceAccountToken !== undefined) source.serviceAccountToken.expirationSeconds ??= TOKEN_SECONDS
  }
  const claim = volume.ephemeral?.volumeClaimTemplate
  if (claim !== undefined) {
    claim.spec ??= {}
    setClaimSpecDefaults(claim.spec)
  }
  setRemoteDefaults(volume)
  if (volume.image !== undefined && (volume.image.pullPolicy ?? '') === '')
    volume.image.pullPolicy = imageTag(volume.image.reference ?? '') === 'latest' ? 'Always' : 'IfNotPresent'
}

function setRemoteDefaults({ iscsi, rbd, azureDisk, scaleIO }: Volume): void {
  if (iscsi !== undefined) iscsi.iscsiInterface ||= 'default'
  if (rbd !== undefined) {
    rbd.pool ||= 'rbd'
    rbd.user ||= 'admin'
    rbd.keyring ||= '/etc/ceph/keyring'
  }
  if (azureDisk !== undefined) {
    azureDisk.cachingMode ??= 'ReadWrite'
    azureDisk.kind ??= 'Shared'
    azureDisk.fsType ??= 'ext4'
    azureDisk.readOnly ??= false
  }
  if (scaleIO !== undefined) {
    scaleIO.storageMode ||= 'ThinProvisioned'
    scaleIO.fsType ||= 'xfs'
  }
}

/** The volumes that are in order, for mounts to name, and what is wrong with the others. */
export function volumesErrors(
  volumes: readonly Volume[],
  podMeta: ObjectMeta | undefined,
  path: FieldPath,
): { sound: Map<string, VolumeSource>; errors: Errors } {
  const sound = new Map<string, VolumeSource>()
  const errors: Errors = []
  const podName = podMeta?.name ?? ''
  const claims = new Set(
    volumes
      .filter(({ ephemeral }) => podName !== '' && ephemeral !== undefined)
      .map(({ name }) => `${podName}-${name ?? ''}`),
  )
  for (const [i, volume] of volumes.entries()) {
    const at = path.index(i)
    const name = volume.name ?? ''
    const own = volumeErrors(volume, podMeta, at)
    own.push(...(name === '' ? [required(at.child('name'))] : dnsLabel(name, at.child('name'))))
    if (sound.has(name)) own.push(duplicate(at.child('name'), name))
    if (own.length === 0) sound.set(name, volume)
    errors.push(...own)
    const claimName = volume.persistentVolumeClaim?.claimName
    if (claimName !== undefined && claims.has(claimName))
      errors.push(
        invalid(
          at.child('persistentVolumeClaim', 'claimName'),
          claimName,
          'must not be a claim made for an ephemeral volume',
        ),
      )
  }
  return { sound, errors }
}

/** A volume has one source; of several the first counts and the others are refused. */
function volumeErrors(volume: Volume, podMeta: ObjectMeta | undefined, path: FieldPath): Errors {
  const given = SOURCES.filter((source) => volume[source] !== undefined)
  if (given.length === 0) return [required(path, 'must specify a volume type')]
  const errors = given.flatMap((source, i) =>
    i === 0
      ? sourceErrors(volume, source, path)
      : [forbidden(path.child(REFUSED_AS[source] ?? source), 'may not specify more than 1 volume type')],
  )
  const name = volume.name ?? ''
  if (volume.iscsi?.initiatorName !== undefined && `${name}:${volume.iscsi.targetPortal ?? ''}`.length > 64)
    errors.push(
      invalid(path.child('name'), name, 'the name and iscsi.targetPortal together are longer than 64 characters'),
    )
  // A template may leave the image to whoever makes the pods.
  if (given[0] === 'image' && podMeta !== undefined)
    errors.push(...notEmpty(volume.image?.reference, path.child('image', 'reference')))
  const podName = podMeta?.name ?? ''
  if (given[0] === 'ephemeral' && podName !== '' && name !== '')
    errors.push(...because(dnsSubdomainName(`${podName}-${name}`, false), path.child('name'), name))
  return errors
}

/** Two names are misspelt where clients know them. */
const REFUSED_AS: Partial<Record<keyof VolumeSource, string>> = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' }
