/** Thread: any. Volumes made of files that the kubelet writes: secrets, config maps, the downward API, tokens. */

import { type FieldPath, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type {
  DownwardAPIVolumeFile,
  KeyToPath,
  VolumeProjection,
  VolumeSource,
} from '../../../api/generated/kinds/core.v1.js'
import { type Errors, notEmpty } from '../../../api/validation/checks.js'
import { labelSelectorErrors } from '../../../api/validation/label-selectors.js'
import { fileMode } from './checks.js'
import { fieldSelectorErrors, resourceSelectorErrors, VOLUME_FIELDS } from './env.js'
import { localNonReservedPath } from './paths.js'

export function keyToPathErrors({ key, path: target = '', mode }: KeyToPath, path: FieldPath): Errors {
  return [
    ...notEmpty(key, path.child('key')),
    ...notEmpty(target, path.child('path')),
    ...localNonReservedPath(target, path.child('path')),
    ...fileMode(mode, path.child('mode')),
  ]
}

export const itemsErrors = (items: readonly KeyToPath[] | undefined, path: FieldPath): Errors =>
  (items ?? []).flatMap((item, i) => keyToPathErrors(item, path.child('items').index(i)))

/** Errors name the volume, not the item: so does the server that clients know. */
export function downwardFileErrors(file: DownwardAPIVolumeFile, path: FieldPath): Errors {
  const { path: target = '', fieldRef, resourceFieldRef, mode } = file
  const errors = [...notEmpty(target, path.child('path')), ...localNonReservedPath(target, path.child('path'))]
  if (fieldRef !== undefined) {
    errors.push(...fieldSelectorErrors(fieldRef, VOLUME_FIELDS, path.child('fieldRef')))
    if (resourceFieldRef !== undefined)
      errors.push(invalid(path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'))
  } else if (resourceFieldRef !== undefined) {
    errors.push(...resourceSelectorErrors(resourceFieldRef, path.child('resourceFieldRef'), true))
  } else errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'))
  errors.push(...fileMode(mode, path.child('mode')))
  return errors
}

export function projectedErrors(
  { defaultMode, sources }: NonNullable<VolumeSource['projected']>,
  path: FieldPath,
): Errors {
  const paths = new ProjectedPaths(path)
  return [
    ...fileMode(defaultMode, path.child('defaultMode')),
    ...(sources ?? []).flatMap((source, i) => sourceErrors(source, path, path.child('sources').index(i), paths)),
  ]
}

/** No two files of one volume may have one path. */
class ProjectedPaths {
  readonly #seen = new Set<string>()
  readonly #volume: FieldPath

  constructor(volume: FieldPath) {
    this.#volume = volume
  }

  add(target: string | undefined): Errors {
    if ((target ?? '') === '') return []
    if (this.#seen.has(target!)) return [invalid(this.#volume, target, 'conflicting duplicate paths')]
    this.#seen.add(target!)
    return []
  }
}

function sourceErrors(source: VolumeProjection, volume: FieldPath, path: FieldPath, paths: ProjectedPaths): Errors {
  const errors: Errors = []
  for (const kind of ['secret', 'configMap'] as const) {
    const given = source[kind]
    if (given === undefined) continue
    errors.push(...notEmpty(given.name, path.child(kind, 'name')))
    for (const [i, item] of (given.items ?? []).entries())
      errors.push(...keyToPathErrors(item, path.child(kind, 'items').index(i)), ...paths.add(item.path))
  }
  for (const file of source.downwardAPI?.items ?? [])
    errors.push(...downwardFileErrors(file, path.child('downwardAPI')), ...paths.add(file.path))
  if (source.serviceAccountToken !== undefined)
    errors.push(...tokenErrors(source.serviceAccountToken, volume, path.child('serviceAccountToken')))
  if (source.clusterTrustBundle !== undefined)
    errors.push(...trustBundleErrors(source.clusterTrustBundle, path.child('clusterTrustBundle'), paths))
  if (source.podCertificate !== undefined)
    errors.push(...podCertificateErrors(source.podCertificate, path.child('podCertificate'), paths))
  if (Object.values(source).filter((given) => given !== undefined).length > 1)
    errors.push(forbidden(path, 'may not specify more than 1 volume type per source'))
  return errors
}

const MAX_TOKEN_SECONDS = 2 ** 32

function tokenErrors(
  { expirationSeconds, path: target = '' }: NonNullable<VolumeProjection['serviceAccountToken']>,
  volume: FieldPath,
  path: FieldPath,
): Errors {
  const at = path.child('expirationSeconds')
  const errors: Errors = []
  if (expirationSeconds === undefined) errors.push(required(at))
  else if (expirationSeconds < 600)
    errors.push(invalid(at, expirationSeconds, 'may not specify a duration less than 10 minutes'))
  else if (expirationSeconds > MAX_TOKEN_SECONDS)
    errors.push(invalid(at, expirationSeconds, 'may not specify a duration larger than 2^32 seconds'))
  if (target === '') errors.push(required(volume.child('path')))
  else errors.push(...localNonReservedPath(target, volume.child('path')))
  return errors
}

const SIGNER = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+\/[^/]+$/

function signerErrors(signerName: string, path: FieldPath): Errors {
  if (signerName === '') return [required(path)]
  return SIGNER.test(signerName) ? [] : [invalid(path, signerName, 'must be of the form domain/name')]
}

function trustBundleErrors(
  bundle: NonNullable<VolumeProjection['clusterTrustBundle']>,
  path: FieldPath,
  paths: ProjectedPaths,
): Errors {
  const { name, signerName, labelSelector, path: target = '' } = bundle
  const errors: Errors = []
  if (name !== undefined && signerName !== undefined)
    errors.push(invalid(path, bundle, 'only one of name and signerName may be used'))
  else if (name !== undefined) {
    errors.push(...notEmpty(name, path.child('name')))
    if (labelSelector !== undefined)
      errors.push(
        invalid(path.child('labelSelector'), labelSelector, 'labelSelector must be unset if name is specified'),
      )
  } else if (signerName !== undefined) {
    errors.push(...signerErrors(signerName, path.child('signerName')))
    errors.push(...labelSelectorErrors(labelSelector, path.child('labelSelector')))
  } else errors.push(required(path, 'either name or signerName must be specified'))
  errors.push(...notEmpty(target, path.child('path')), ...localNonReservedPath(target, path.child('path')))
  errors.push(...paths.add(target))
  return errors
}

const KEY_TYPES = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519']
const DAY_SECONDS = 24 * 3600

function podCertificateErrors(
  certificate: NonNullable<VolumeProjection['podCertificate']>,
  path: FieldPath,
  paths: ProjectedPaths,
): Errors {
  const { signerName = '', keyType = '', maxExpirationSeconds: seconds } = certificate
  const errors = signerErrors(signerName, path.child('signerName'))
  if (!KEY_TYPES.includes(keyType)) errors.push(notSupported(path.child('keyType'), keyType, KEY_TYPES))
  const most = signerName.startsWith('kubernetes.io/') ? DAY_SECONDS : 91 * DAY_SECONDS
  if (seconds !== undefined && (seconds < 3600 || seconds > most))
    errors.push(invalid(path.child('maxExpirationSeconds'), seconds, `must be between 3600 and ${most}`))
  let count = 0
  for (const field of ['credentialBundlePath', 'keyPath', 'certificateChainPath'] as const) {
    const target = certificate[field] ?? ''
    if (target === '') continue
    count++
    errors.push(...localNonReservedPath(target, path.child(field)), ...paths.add(target))
  }
  if (count === 0) errors.push(required(path, 'specify at least one path'))
  return errors
}
