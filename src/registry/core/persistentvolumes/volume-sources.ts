/** Thread: pool. The rules of each source of a persistent volume. */

import { type FieldPath, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import {
  dnsLabel,
  dnsSubdomain,
  type Errors,
  givenBy,
  inRange,
  notEmpty,
  optionalBy,
  requiredBy,
} from '../../../api/validation/checks.js'
import { driverNameErrors } from '../../storage.k8s.io/parameters.js'
import { isIscsiName } from '../iscsi-name.js'
import { HOST_PATH_TYPES } from '../pod-template/volume-source.js'
import type { SourceName, VolumeSource } from './persistent-volume.js'

type SourceRule = (source: VolumeSource, path: FieldPath, volumeName: string) => Errors

const textOf = (source: VolumeSource, field: string): string => (source[field] as string | undefined) ?? ''
const needs =
  (...fields: string[]): SourceRule =>
  (source, path) =>
    fields.flatMap((field) => notEmpty((source[field] ?? '') as string | unknown[], path.child(field)))

const noBacksteps = (source: VolumeSource, path: FieldPath): Errors =>
  textOf(source, 'path').split('/').includes('..')
    ? [invalid(path.child('path'), textOf(source, 'path'), "must not contain '..'")]
    : []

const SECRETS = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
]

/** A secret anywhere: both parts are needed. */
function secretErrors(source: VolumeSource, field: string, path: FieldPath, strict: boolean): Errors {
  const reference = source[field] as { name?: string; namespace?: string } | undefined
  if (!reference) return []
  return [
    ...requiredBy(reference.name, path.child(field, 'name'), strict ? dnsSubdomain : undefined),
    ...requiredBy(reference.namespace, path.child(field, 'namespace'), strict ? dnsLabel : undefined),
  ]
}

const csi: SourceRule = (source, path) => [
  ...driverNameErrors(textOf(source, 'driver'), path.child('driver')),
  ...requiredBy(textOf(source, 'volumeHandle'), path.child('volumeHandle')),
  ...SECRETS.flatMap((field) => secretErrors(source, field, path, true)),
]

const hostPath: SourceRule = (source, path) => {
  if (textOf(source, 'path') === '') return [required(path.child('path'))]
  return [
    ...noBacksteps(source, path),
    ...givenBy(source['type'] as string | undefined, path.child('type'), (type, at) =>
      HOST_PATH_TYPES.includes(type) ? [] : [notSupported(at, type, HOST_PATH_TYPES)],
    ),
  ]
}

const nfs: SourceRule = (source, path) => [
  ...needs('server', 'path')(source, path, ''),
  ...(textOf(source, 'path').startsWith('/')
    ? []
    : [invalid(path.child('path'), textOf(source, 'path'), 'must be an absolute path')]),
]

const glusterfs: SourceRule = (source, path) => [
  ...needs('endpoints', 'path')(source, path, ''),
  ...givenBy(source['endpointsNamespace'] as string | undefined, path.child('endpointsNamespace'), dnsLabel),
]

const iscsi: SourceRule = (source, path, volumeName) => {
  const errors = needs('targetPortal')(source, path, '')
  const [portal, initiator] = [textOf(source, 'targetPortal'), source['initiatorName'] as string | undefined]
  if (initiator !== undefined && `${volumeName}:${portal}`.length > 64)
    errors.push(invalid(path.child('targetportal'), portal, 'is too long with the name of the volume'))
  errors.push(
    ...requiredBy(textOf(source, 'iqn'), path.child('iqn'), (iqn, at) =>
      isIscsiName(iqn) ? [] : [invalid(at, iqn, 'must be valid format')],
    ),
    ...inRange((source['lun'] as number | undefined) ?? 0, path.child('lun'), 0, 255),
  )
  const secret = source['secretRef'] as { name?: string } | undefined
  if ((source['chapAuthDiscovery'] === true || source['chapAuthSession'] === true) && !secret)
    errors.push(required(path.child('secretRef')))
  if (secret) errors.push(...requiredBy(secret.name, path.child('secretRef', 'name')))
  if (initiator !== undefined && !isIscsiName(initiator))
    errors.push(invalid(path.child('initiatorname'), initiator, 'must be valid format'))
  return errors
}

const fc: SourceRule = (source, path) => {
  const [names, ids] = [(source['targetWWNs'] ?? []) as string[], (source['wwids'] ?? []) as string[]]
  const at = path.child('targetWWNs')
  const errors: Errors = []
  if (names.length === 0 && ids.length === 0) errors.push(required(at))
  if (names.length > 0 && ids.length > 0) errors.push(invalid(at, names, 'not together with wwids'))
  if (names.length === 0) return errors
  const lun = source['lun'] as number | undefined
  return [...errors, ...(lun === undefined ? [required(path.child('lun'))] : inRange(lun, path.child('lun'), 0, 255))]
}

const flexVolume: SourceRule = (source, path) => [
  ...needs('driver')(source, path, ''),
  ...Object.keys((source['options'] ?? {}) as object)
    .filter((key) => /(^|\.)(kubernetes|k8s)\.io$/i.test(key.split('/')[0]!))
    .map((key) => invalid(path.child('options').key(key), key, 'kubernetes.io and k8s.io namespaces are reserved')),
]

const flocker: SourceRule = (source, path) => {
  const [name, id] = [textOf(source, 'datasetName'), textOf(source, 'datasetUUID')]
  const errors: Errors = []
  if (name === '' && id === '') errors.push(required(path, 'one of datasetName and datasetUUID is required'))
  if (name !== '' && id !== '') errors.push(invalid(path, name, 'datasetName and datasetUUID exclude each other'))
  if (name.includes('/')) errors.push(invalid(path.child('datasetName'), name, "must not contain '/'"))
  return errors
}

const HOST_PORT = /^(\[[^[\]]*\]|[^:[\]]*):[^:[\]]*$/
const MOST_TENANT_BYTES = 64

const quobyte: SourceRule = (source, path) => {
  const [registry, tenant] = [textOf(source, 'registry'), textOf(source, 'tenant')]
  const errors: Errors = []
  if (registry === '') errors.push(required(path.child('registry')))
  // Too long a tenant is a Required error there.
  else if (Buffer.byteLength(tenant) > MOST_TENANT_BYTES) errors.push(required(path.child('tenant')))
  else
    for (const pair of registry.split(','))
      if (!HOST_PORT.test(pair)) errors.push(invalid(path.child('registry'), registry, 'must be host:port pairs'))
  return [...errors, ...needs('volume')(source, path, '')]
}

const azureDisk: SourceRule = (source, path) => {
  const errors = needs('diskName', 'diskURI')(source, path, '')
  const check = (field: string, values: readonly string[]): Errors =>
    givenBy(source[field] as string | undefined, path.child(field), (value, at) =>
      values.includes(value) ? [] : [notSupported(at, value, values)],
    )
  errors.push(
    ...check('cachingMode', ['None', 'ReadOnly', 'ReadWrite']),
    ...check('kind', ['Shared', 'Dedicated', 'Managed']),
  )
  const start = source['kind'] === 'Managed' ? '/subscriptions/' : 'https://'
  if (source['kind'] !== undefined && !textOf(source, 'diskURI').startsWith(start))
    errors.push(notSupported(path.child('diskURI'), textOf(source, 'diskURI'), [start]))
  return errors
}

const azureFile: SourceRule = (source, path) => [
  ...needs('secretName', 'shareName')(source, path, ''),
  ...(source['secretNamespace'] === '' ? [required(path.child('secretNamespace'))] : []),
]

const storageos: SourceRule = (source, path) => [
  ...requiredBy(textOf(source, 'volumeName'), path.child('volumeName'), dnsLabel),
  ...optionalBy(textOf(source, 'volumeNamespace'), path.child('volumeNamespace'), dnsLabel),
  ...secretErrors(source, 'secretRef', path, false),
]

const RULES: Readonly<Record<SourceName, SourceRule>> = {
  hostPath,
  gcePersistentDisk: (source, path) => [
    ...needs('pdName')(source, path, ''),
    ...inRange((source['partition'] as number | undefined) ?? 0, path.child('partition'), 0, 255),
  ],
  awsElasticBlockStore: (source, path) => [
    ...needs('volumeID')(source, path, ''),
    ...inRange((source['partition'] as number | undefined) ?? 0, path.child('partition'), 0, 255),
  ],
  glusterfs,
  flocker,
  nfs,
  rbd: needs('monitors', 'image'),
  quobyte,
  cephfs: needs('monitors'),
  iscsi,
  cinder: (source, path) => [...needs('volumeID')(source, path, ''), ...secretErrors(source, 'secretRef', path, false)],
  fc,
  flexVolume,
  azureFile,
  vsphereVolume: needs('volumePath'),
  photonPersistentDisk: needs('pdID'),
  portworxVolume: needs('volumeID'),
  azureDisk,
  scaleIO: needs('gateway', 'system', 'volumeName'),
  local: (source, path) => [...needs('path')(source, path, ''), ...noBacksteps(source, path)],
  storageos,
  csi,
}

/** Some fields are called otherwise in errors. */
const SAID: Partial<Record<SourceName, string>> = { gcePersistentDisk: 'persistentDisk' }

export function sourceErrors(
  given: readonly [SourceName, VolumeSource][],
  path: FieldPath,
  volumeName: string,
): Errors {
  return given.flatMap(([name, source], i) =>
    i > 0 && name !== 'flexVolume'
      ? [forbidden(path.child(name === 'cephfs' ? 'cephFS' : name), 'may not specify more than 1 volume type')]
      : RULES[name](source, path.child(SAID[name] ?? name), volumeName),
  )
}

const DEFAULTS: Partial<Record<SourceName, VolumeSource>> = {
  hostPath: { type: '' },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  iscsi: { iscsiInterface: 'default' },
  azureDisk: { cachingMode: 'ReadWrite', kind: 'Shared', fsType: 'ext4', readOnly: false },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
}

/** Their fields are pointers: an empty text is a value. */
const WITH_POINTERS: readonly SourceName[] = ['hostPath', 'azureDisk']

export function setSourceDefaults(name: SourceName, source: VolumeSource): void {
  for (const [field, value] of Object.entries(DEFAULTS[name] ?? {})) {
    if (source[field] === undefined || (source[field] === '' && !WITH_POINTERS.includes(name))) source[field] = value
  }
}
