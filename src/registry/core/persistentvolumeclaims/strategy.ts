/** Thread: pool. PersistentVolumeClaims: the wish for storage. Once made it stays, but for the size of a bound one. */

import { FieldPath, forbidden, notSupported, required } from '../../../api/field-error.js'
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../../../api/generated/kinds/core.v1.js'
import type { KubeObject } from '../../../api/object.js'
import { dnsSubdomain, type Errors, immutable, optionalBy, sameValue } from '../../../api/validation/checks.js'
import { labelSelectorErrors } from '../../../api/validation/label-selectors.js'
import { positiveQuantity, quantityOf, resourceQuantity } from '../../../api/validation/quantities.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, orUnset, tableOf, text } from '../../generic/table-rules.js'
import { accessModesText } from '../access-modes.js'
import { accessModeErrors, VOLUME_MODES } from '../persistentvolumes/volume-spec.js'
import { statusMetadataErrors } from '../pod-template/workload.js'
import { claimStatusErrors } from './claim-status.js'
import { dataSourcesErrors, settleDataSources } from './data-source.js'

const SPEC = FieldPath.of('spec')
const STORAGE = SPEC.child('resources').key('storage')
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'

function storageErrors(amount: string | undefined): Errors {
  if (amount === undefined) return [required(STORAGE)]
  const errors = positiveQuantity(amount, STORAGE)
  return errors.length > 0 ? errors : resourceQuantity('storage', amount, STORAGE)
}

function errorsOf(object: PersistentVolumeClaim, old?: PersistentVolumeClaim): Errors {
  const { spec = {} } = object
  const before = old?.spec
  const anyValues = labelSelectorErrors(before?.selector, SPEC).length > 0
  return [
    ...((spec.accessModes?.length ?? 0) === 0 ? [required(SPEC.child('accessModes'))] : []),
    ...labelSelectorErrors(spec.selector, SPEC.child('selector'), { anyValues }),
    ...accessModeErrors(spec.accessModes, SPEC.child('accessModes')),
    ...storageErrors(spec.resources?.requests?.['storage']),
    ...optionalBy(spec.storageClassName, SPEC.child('storageClassName'), dnsSubdomain),
    ...(spec.volumeMode === undefined || VOLUME_MODES.includes(spec.volumeMode)
      ? []
      : [notSupported(SPEC.child('volumeMode'), spec.volumeMode, VOLUME_MODES)]),
    ...dataSourcesErrors(spec, before, SPEC),
    ...optionalBy(spec.volumeAttributesClassName, SPEC.child('volumeAttributesClassName'), dnsSubdomain),
  ]
}

/** The specification with what may change taken from the other one. */
function comparable(object: PersistentVolumeClaim, old: PersistentVolumeClaim): unknown {
  const [spec, before] = [{ ...object.spec }, old.spec ?? {}]
  if ((before.volumeName ?? '') === '') delete spec.volumeName
  if (before.storageClassName === undefined) delete spec.storageClassName
  const { storageClassName } = spec
  if (object.status?.phase === 'Bound') {
    delete spec.volumeAttributesClassName
    const { storage: _, ...requests } = spec.resources?.requests ?? {}
    if (spec.resources?.requests !== undefined) spec.resources = { ...spec.resources, requests }
  }
  // Nothing and the empty class differ: the latter asks for volumes without one.
  return { ...spec, storageClassName: storageClassName === undefined ? undefined : `=${storageClassName}` }
}

/** The class may move from the annotation to the field. */
function movesClass(object: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const [next, before] = [object, old].map(({ metadata }) => metadata?.annotations?.[CLASS_ANNOTATION])
  const moved = old.spec?.storageClassName === undefined && object.spec?.storageClassName === before
  return before !== undefined && moved && (next === undefined || next === before)
}

function changeErrors(object: PersistentVolumeClaim, old: PersistentVolumeClaim): Errors {
  const errors: Errors = []
  const annotation = (claim: KubeObject): string => claim.metadata?.annotations?.[CLASS_ANNOTATION] ?? ''
  if (annotation(object) !== annotation(old) && !movesClass(object, old))
    errors.push(
      ...immutable(annotation(object), annotation(old), FieldPath.of('metadata', 'annotations').key(CLASS_ANNOTATION)),
    )
  if (!sameValue(comparable(object, old), comparable({ ...old, status: object.status ?? {} }, old)))
    errors.push(
      forbidden(
        SPEC,
        'is immutable after creation except resources.requests and volumeAttributesClassName for bound claims',
      ),
    )
  const size = (claim: PersistentVolumeClaim) => quantityOf(claim.spec?.resources?.requests?.['storage'])
  if (size(object).compare(size(old)) < 0 && size(object).compare(quantityOf(old.status?.capacity?.['storage'])) <= 0)
    errors.push(forbidden(SPEC.child('resources', 'requests', 'storage'), 'field can not be less than status.capacity'))
  errors.push(...immutable(object.spec?.volumeMode, old.spec?.volumeMode, FieldPath.of('volumeMode')))
  const [wanted, before] = [object.spec?.volumeAttributesClassName, old.spec?.volumeAttributesClassName]
  if (old.status?.currentVolumeAttributesClassName !== undefined && (wanted ?? '') === '' && wanted !== before)
    errors.push(forbidden(SPEC.child('volumeAttributesClassName'), 'may not be taken away once it is applied'))
  return errors
}

const phaseText = ({ metadata, status }: PersistentVolumeClaim): string =>
  metadata?.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating'
const bound = ({ spec }: PersistentVolumeClaim): boolean => (spec?.volumeName ?? '') !== ''

export const persistentVolumeClaimRules: ResourceRules<PersistentVolumeClaim> = {
  returnDeletedObject: true,
  setDefaults: (claim) => {
    claim.spec ??= {}
    claim.status ??= {}
    claim.spec.volumeMode ??= 'Filesystem'
    if ((claim.status.phase ?? '') === '') claim.status.phase = 'Pending'
  },
  prepareForCreate: (object) => settleDataSources(object.spec ?? {}),
  prepareForUpdate: (object, old) => {
    const [spec, before] = [object, old].map((claim) => claim.spec ?? {})
    settleDataSources(spec!, before)
    settleDataSources(before!, before)
  },
  validate: (object) => errorsOf(object),
  validateUpdate: (object, old) => [...errorsOf(object, old), ...changeErrors(object, old)],
  warningsOnCreate: claimWarnings,
  warningsOnUpdate: claimWarnings,
  status: {
    validateUpdate: (object, old) => [...statusMetadataErrors(object, old), ...claimStatusErrors(object.status ?? {})],
  },
  table: tableOf<PersistentVolumeClaim>(
    text('Status', 'Its phase.', phaseText),
    text('Volume', 'The volume that it has.', ({ spec }) => spec?.volumeName ?? ''),
    text('Capacity', 'How much the volume holds.', (claim) =>
      bound(claim) ? (claim.status?.capacity?.['storage'] ?? '0') : '',
    ),
    text('Access Modes', 'How it can be mounted.', (claim) =>
      bound(claim) ? accessModesText(claim.status?.accessModes) : '',
    ),
    text(
      'StorageClass',
      'Its class.',
      ({ metadata, spec }) => metadata?.annotations?.[CLASS_ANNOTATION] ?? spec?.storageClassName ?? '',
    ),
    text('VolumeAttributesClass', 'The class of its attributes.', ({ spec }) =>
      orUnset(spec?.volumeAttributesClassName),
    ),
    age(),
    text('VolumeMode', 'A file system or a block device.', ({ spec }) => orUnset(spec?.volumeMode), { priority: 1 }),
  ),
}

function claimWarnings(object: PersistentVolumeClaim): string[] {
  const path = FieldPath.of('metadata', 'annotations').key(CLASS_ANNOTATION)
  const old = object.metadata?.annotations?.[CLASS_ANNOTATION] !== undefined
  return [
    ...(old ? [`${path}: deprecated since v1.8; use "storageClassName" attribute instead`] : []),
    ...fractionWarnings(object.spec?.resources ?? {}),
  ]
}

const fractionWarnings = (resources: NonNullable<PersistentVolumeClaimSpec['resources']>): string[] =>
  (['requests', 'limits'] as const).flatMap((field) => {
    const amount = resources[field]?.['storage']
    if (quantityOf(amount).milliValue() % 1000n === 0n) return []
    const path = SPEC.child('resources', field).key('storage')
    return [`${path}: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`]
  })
