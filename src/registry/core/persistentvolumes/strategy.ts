/** Thread: pool. PersistentVolumes: storage in the cluster. Where the data is never changes. */

import { FieldPath, forbidden } from '../../../api/field-error.js'
import type { PersistentVolume, PersistentVolumeSpec } from '../../../api/generated/kinds/core.v1.js'
import { type Errors, immutable, sameValue } from '../../../api/validation/checks.js'
import { lookupTable } from '../../../lib/lookup-table.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import type { RequestContext } from '../../generic/strategy.js'
import { formatTime } from '../../generic/system-fields.js'
import { age, orUnset, tableOf, text } from '../../generic/table-rules.js'
import { accessModesText } from '../access-modes.js'
import { nodeSelectorWarnings, withNamesOf } from '../node-labels.js'
import { statusMetadataErrors } from '../pod-template/workload.js'
import { SOURCES, type SourceName } from './persistent-volume.js'
import { persistentVolumeSpecErrors, setSpecDefaults } from './volume-spec.js'

const SPEC = FieldPath.of('spec')
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'
const MOUNT_ANNOTATION = 'volume.beta.kubernetes.io/mount-options'
const OLD_ANNOTATIONS: Readonly<Record<string, string>> = lookupTable({
  [CLASS_ANNOTATION]: 'deprecated since v1.8; use "storageClassName" attribute instead',
  [MOUNT_ANNOTATION]: 'deprecated since v1.31; use "mountOptions" attribute instead',
})
const OLD_SOURCES: Partial<Record<SourceName, string>> = {
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
}
/** Sources that are not mounted with options. */
const WITHOUT_OPTIONS: readonly SourceName[] = [
  'hostPath',
  'flocker',
  'fc',
  'flexVolume',
  'portworxVolume',
  'scaleIO',
  'local',
  'storageos',
  'csi',
]

function setDefaults(volume: PersistentVolume): void {
  volume.spec ??= {}
  volume.status ??= {}
  if ((volume.status.phase ?? '') === '') volume.status.phase = 'Pending'
  if ((volume.spec.persistentVolumeReclaimPolicy ?? '') === '') volume.spec.persistentVolumeReclaimPolicy = 'Retain'
  volume.spec.volumeMode ??= 'Filesystem'
  setSpecDefaults(volume.spec)
}

const validate = (object: PersistentVolume): Errors =>
  persistentVolumeSpecErrors(object.spec ?? {}, object.metadata?.name ?? '', SPEC)

function mountErrors(object: PersistentVolume): Errors {
  const { metadata, spec = {} } = object
  const mounted = SOURCES.some((name) => spec[name] && !WITHOUT_OPTIONS.includes(name))
  if (mounted || metadata?.annotations?.[MOUNT_ANNOTATION] === undefined) return []
  return [forbidden(FieldPath.of('metadata', 'annotations', MOUNT_ANNOTATION), 'not for this type of volume')]
}

/** A secret for expansion may be added to a volume that has none. */
function sourcesOf(spec: PersistentVolumeSpec, other: PersistentVolumeSpec): unknown[] {
  return SOURCES.map((name) => {
    const [source, before] = [spec[name], other[name]] as (Record<string, unknown> | undefined)[]
    if (name !== 'csi' || !source || !before || before['controllerExpandSecretRef']) return source
    const { controllerExpandSecretRef: _, ...rest } = source
    return rest
  })
}

function changeErrors(object: PersistentVolume, old: PersistentVolume): Errors {
  const [now, before] = [object.spec ?? {}, old.spec ?? {}]
  const errors: Errors = []
  if (!sameValue(sourcesOf(now, before), sourcesOf(before, before)))
    errors.push(forbidden(SPEC.child('persistentvolumesource'), 'is immutable after creation'))
  errors.push(...immutable(now.volumeMode, before.volumeMode, FieldPath.of('volumeMode')))
  if (before.nodeAffinity) {
    const { required } = before.nodeAffinity
    const renamed = required ? { required: withNamesOf(required, now.nodeAffinity?.required) } : before.nodeAffinity
    errors.push(...immutable(now.nodeAffinity, renamed, FieldPath.of('nodeAffinity')))
  }
  if (before.volumeAttributesClassName !== undefined && now.volumeAttributesClassName === undefined)
    errors.push(forbidden(SPEC.child('volumeAttributesClassName'), 'may not be taken away'))
  return errors
}

function warnings(object: PersistentVolume): string[] {
  const { metadata, spec } = object
  return [
    ...Object.entries(OLD_ANNOTATIONS)
      .filter(([name]) => metadata?.annotations?.[name] !== undefined)
      .map(([name, why]) => `${FieldPath.of('metadata', 'annotations').key(name)}: ${why}`),
    ...(spec?.persistentVolumeReclaimPolicy === 'Recycle'
      ? ['spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated; prefer dynamic provisioning']
      : []),
    ...nodeSelectorWarnings(
      spec?.nodeAffinity?.required?.nodeSelectorTerms,
      SPEC.child('nodeAffinity', 'required', 'nodeSelectorTerms'),
    ),
    ...SOURCES.filter((name) => spec?.[name] && OLD_SOURCES[name] !== undefined).map(
      (name) => `${SPEC.child(name)}: ${OLD_SOURCES[name]}`,
    ),
  ]
}

/** The time of the last change of phase is the server's unless the client names one. */
function keepPhaseTime(volume: PersistentVolume, old: PersistentVolume, context: RequestContext): void {
  volume.status ??= {}
  const [now, before] = [volume.status, old.status ?? {}]
  const same = now.phase === before.phase
  if (same && now.lastPhaseTransitionTime === undefined) {
    if (before.lastPhaseTransitionTime !== undefined) now.lastPhaseTransitionTime = before.lastPhaseTransitionTime
  } else if (
    !same &&
    (now.lastPhaseTransitionTime ?? before.lastPhaseTransitionTime) === before.lastPhaseTransitionTime
  )
    now.lastPhaseTransitionTime = formatTime(context.now())
}

export const persistentVolumeRules: ResourceRules<PersistentVolume> = {
  returnDeletedObject: true,
  setDefaults,
  prepareForCreate: (object, context) => {
    object['status'] = { phase: 'Pending', lastPhaseTransitionTime: formatTime(context.now()) }
  },
  validate: (object) => [...validate(object), ...mountErrors(object)],
  // Said twice, as Kubernetes says it.
  validateUpdate: (object, old) => [
    ...validate(object),
    ...mountErrors(object),
    ...validate(object),
    ...changeErrors(object, old),
  ],
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  status: {
    prepareForUpdate: keepPhaseTime,
    validateUpdate: statusMetadataErrors,
  },
  table: tableOf<PersistentVolume>(
    text('Capacity', 'How much it holds.', ({ spec }) => spec?.capacity?.['storage'] ?? '0'),
    text('Access Modes', 'How it can be mounted.', ({ spec }) => accessModesText(spec?.accessModes)),
    text(
      'Reclaim Policy',
      'What becomes of it when it is released.',
      ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? '',
    ),
    text('Status', 'Its phase.', ({ metadata, status }) =>
      metadata?.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating',
    ),
    text('Claim', 'The claim that has it.', ({ spec }) =>
      spec?.claimRef ? `${spec.claimRef.namespace ?? ''}/${spec.claimRef.name ?? ''}` : '',
    ),
    text(
      'StorageClass',
      'Its class.',
      ({ metadata, spec }) => metadata?.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? '',
    ),
    text('VolumeAttributesClass', 'The class of its attributes.', ({ spec }) =>
      orUnset(spec?.volumeAttributesClassName),
    ),
    text('Reason', 'Why it is in this phase.', ({ status }) => status?.reason ?? ''),
    age(),
    text('VolumeMode', 'A file system or a block device.', ({ spec }) => orUnset(spec?.volumeMode), { priority: 1 }),
  ),
}
