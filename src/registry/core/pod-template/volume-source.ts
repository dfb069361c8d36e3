/** Thread: any. The rules of every kind of volume source, one entry a kind. */

import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../api/field-error.js'
import type { VolumeSource } from '../../../api/generated/kinds/core.v1.js'
import { parseQuantity } from '../../../api/quantity.js'
import {
  because,
  dnsLabel,
  dnsSubdomain,
  type Errors,
  inRange,
  notEmpty,
  oneOf,
} from '../../../api/validation/checks.js'
import { isDns1123Subdomain } from '../../../api/validation/names.js'
import { isIscsiName } from '../iscsi-name.js'
import { fileMode } from './checks.js'
import { claimSpecErrors, templateMetadataErrors } from './claim-spec.js'
import { localDescendingPath, noBacksteps } from './paths.js'
import { downwardFileErrors, itemsErrors, projectedErrors } from './projected.js'

type Rules = { [K in keyof VolumeSource]-?: (source: NonNullable<VolumeSource[K]>, path: FieldPath) => Errors }

export const HOST_PATH_TYPES = [
  '',
  'DirectoryOrCreate',
  'Directory',
  'FileOrCreate',
  'File',
  'Socket',
  'CharDevice',
  'BlockDevice',
]
export const PULL_POLICIES = ['Always', 'IfNotPresent', 'Never']

/** Fields that must not be empty. */
const needs = <T extends object>(source: T, path: FieldPath, ...fields: (keyof T & string)[]): FieldError[] =>
  fields.flatMap((field) => notEmpty(source[field] as string | undefined, path.child(field)))

const partition = (value: number | undefined, path: FieldPath): Errors => inRange(value ?? 0, path, 0, 255)

function iqnErrors(value: string, path: FieldPath): Errors {
  return isIscsiName(value) ? [] : [invalid(path, value, 'must be valid format')]
}

/** In the order in which they count when a volume wrongly has several. */
const RULES: Rules = {
  emptyDir: ({ sizeLimit }, path) =>
    sizeLimit !== undefined && parseQuantity(sizeLimit).sign < 0
      ? [forbidden(path.child('sizeLimit'), 'SizeLimit field must be a valid resource quantity')]
      : [],
  hostPath: ({ path: target = '', type }, path) =>
    target === ''
      ? [required(path.child('path'))]
      : [
          ...noBacksteps(target, path.child('path')),
          ...(type === undefined ? [] : oneOf(type, HOST_PATH_TYPES, path.child('type'))),
        ],
  gitRepo: (source, path) => [
    ...needs(source, path, 'repository'),
    ...localDescendingPath(source.directory ?? '', path.child('directory')),
  ],
  gcePersistentDisk: (source, path) => [
    ...needs(source, path, 'pdName'),
    ...partition(source.partition, path.child('partition')),
  ],
  awsElasticBlockStore: (source, path) => [
    ...needs(source, path, 'volumeID'),
    ...partition(source.partition, path.child('partition')),
  ],
  secret: (source, path) => [
    ...needs(source, path, 'secretName'),
    ...fileMode(source.defaultMode, path.child('defaultMode')),
    ...itemsErrors(source.items, path),
  ],
  nfs: (source, path) => [
    ...needs(source, path, 'server', 'path'),
    ...(source.path?.startsWith('/') === true
      ? []
      : [invalid(path.child('path'), source.path ?? '', 'must be an absolute path')]),
  ],
  iscsi: (source, path) => [
    ...needs(source, path, 'targetPortal', 'iqn'),
    ...((source.iqn ?? '') === '' ? [] : iqnErrors(source.iqn!, path.child('iqn'))),
    ...inRange(source.lun ?? 0, path.child('lun'), 0, 255),
    ...((source.chapAuthDiscovery === true || source.chapAuthSession === true) && source.secretRef === undefined
      ? [required(path.child('secretRef'))]
      : []),
    ...(source.initiatorName === undefined ? [] : iqnErrors(source.initiatorName, path.child('initiatorname'))),
  ],
  glusterfs: (source, path) => needs(source, path, 'endpoints', 'path'),
  flocker: ({ datasetName = '', datasetUUID = '' }, path) => [
    ...(datasetName === '' && datasetUUID === ''
      ? [required(path, 'one of datasetName and datasetUUID is required')]
      : []),
    ...(datasetName !== '' && datasetUUID !== ''
      ? [invalid(path, 'resource', 'datasetName and datasetUUID can not be specified simultaneously')]
      : []),
    ...(datasetName.includes('/') ? [invalid(path.child('datasetName'), datasetName, "must not contain '/'")] : []),
  ],
  persistentVolumeClaim: (source, path) => needs(source, path, 'claimName'),
  rbd: (source, path) => needs(source, path, 'monitors', 'image'),
  cinder: (source, path) => [...needs(source, path, 'volumeID'), ...secretRefErrors(source.secretRef, path)],
  cephfs: (source, path) => needs(source, path, 'monitors'),
  quobyte: quobyteErrors,
  downwardAPI: ({ defaultMode, items = [] }, path) => [
    ...fileMode(defaultMode, path.child('defaultMode')),
    ...items.flatMap((file) => downwardFileErrors(file, path)),
  ],
  fc: fcErrors,
  flexVolume: (source, path) => [
    ...needs(source, path, 'driver'),
    ...Object.keys(source.options ?? {})
      .filter((key) =>
        /\.(kubernetes|k8s)\.io$/.test(
          `.${key.split('/', 2).length === 2 ? key.split('/', 1)[0]!.toLowerCase() : key.toLowerCase()}`,
        ),
      )
      .map((key) => invalid(path.child('options').key(key), key, 'kubernetes.io and k8s.io namespaces are reserved')),
  ],
  configMap: (source, path) => [
    ...needs(source, path, 'name'),
    ...fileMode(source.defaultMode, path.child('defaultMode')),
    ...itemsErrors(source.items, path),
  ],
  azureFile: (source, path) => needs(source, path, 'secretName', 'shareName'),
  vsphereVolume: (source, path) => needs(source, path, 'volumePath'),
  photonPersistentDisk: (source, path) => needs(source, path, 'pdID'),
  portworxVolume: (source, path) => needs(source, path, 'volumeID'),
  azureDisk: azureDiskErrors,
  storageos: ({ volumeName = '', volumeNamespace = '', secretRef }, path) => [
    ...(volumeName === '' ? [required(path.child('volumeName'))] : dnsLabel(volumeName, path.child('volumeName'))),
    ...(volumeNamespace === '' ? [] : dnsLabel(volumeNamespace, path.child('volumeNamespace'))),
    ...secretRefErrors(secretRef, path),
  ],
  projected: projectedErrors,
  scaleIO: (source, path) => needs(source, path, 'gateway', 'system', 'volumeName'),
  csi: ({ driver = '', nodePublishSecretRef }, path) => {
    const errors = csiDriverNameErrors(driver, path.child('driver'))
    if (nodePublishSecretRef === undefined) return errors
    const { name = '' } = nodePublishSecretRef
    errors.push(
      ...(name === ''
        ? [required(path.child('nodePublishSecretRef', 'name'))]
        : dnsSubdomain(name, path.child('name'))),
    )
    return errors
  },
  ephemeral: ({ volumeClaimTemplate: template }, path) => {
    const at = path.child('volumeClaimTemplate')
    if (template === undefined) return [required(at)]
    return [
      ...templateMetadataErrors(template.metadata, at.child('metadata')),
      ...claimSpecErrors(template.spec ?? {}, at.child('spec')),
    ]
  },
  image: ({ pullPolicy }, path) => oneOf(pullPolicy, PULL_POLICIES, path.child('pullPolicy'), 'required'),
}

export const SOURCES = Object.keys(RULES) as (keyof VolumeSource)[]

/** One source's errors stand under another name than its own. */
const REPORTED_AS: Partial<Record<keyof VolumeSource, string>> = { gcePersistentDisk: 'persistentDisk' }

export function sourceErrors<K extends keyof VolumeSource>(volume: VolumeSource, kind: K, path: FieldPath): Errors {
  return RULES[kind](volume[kind] as NonNullable<VolumeSource[K]>, path.child(REPORTED_AS[kind] ?? kind))
}

const secretRefErrors = (reference: { name?: string } | undefined, path: FieldPath): Errors =>
  reference === undefined ? [] : notEmpty(reference.name, path.child('secretRef', 'name'))

export function csiDriverNameErrors(driver: string, path: FieldPath): Errors {
  if (driver === '') return [required(path)]
  return [
    ...(driver.length > 63 ? [tooLong(path, 63)] : []),
    ...because(isDns1123Subdomain(driver.toLowerCase()), path, driver),
  ]
}

function quobyteErrors(
  { registry = '', tenant = '', volume = '' }: NonNullable<VolumeSource['quobyte']>,
  path: FieldPath,
): Errors {
  const errors: Errors = []
  if (registry === '') errors.push(required(path.child('registry')))
  else if (tenant.length >= 65) errors.push(required(path.child('tenant'), 'may not exceed a length of 64 characters'))
  else {
    for (const pair of registry.split(','))
      if (!/^([^:[\]]*|\[[^\]]*\]):[^:]*$/.test(pair))
        errors.push(invalid(path.child('registry'), registry, 'must be host:port pairs separated by commas'))
  }
  errors.push(...notEmpty(volume, path.child('volume')))
  return errors
}

function fcErrors({ targetWWNs = [], wwids = [], lun }: NonNullable<VolumeSource['fc']>, path: FieldPath): Errors {
  const at = path.child('targetWWNs')
  const errors: Errors = []
  if (targetWWNs.length === 0 && wwids.length === 0)
    errors.push(required(at, 'must specify either targetWWNs or wwids'))
  if (targetWWNs.length > 0 && wwids.length > 0)
    errors.push(invalid(at, targetWWNs, 'targetWWNs and wwids can not be specified simultaneously'))
  if (targetWWNs.length > 0) {
    if (lun === undefined) errors.push(required(path.child('lun'), 'lun is required if targetWWNs is specified'))
    else errors.push(...inRange(lun, path.child('lun'), 0, 255))
  }
  return errors
}

function azureDiskErrors(source: NonNullable<VolumeSource['azureDisk']>, path: FieldPath): Errors {
  const { diskURI = '', cachingMode, kind } = source
  const errors = needs(source, path, 'diskName', 'diskURI')
  if (cachingMode !== undefined)
    errors.push(...oneOf(cachingMode, ['None', 'ReadOnly', 'ReadWrite'], path.child('cachingMode')))
  if (kind === undefined) return errors
  errors.push(...oneOf(kind, ['Shared', 'Dedicated', 'Managed'], path.child('kind')))
  const prefix = kind === 'Managed' ? '/subscriptions/' : 'https://'
  if (!diskURI.startsWith(prefix)) errors.push(notSupported(path.child('diskURI'), diskURI, [`${prefix}...`]))
  return errors
}
