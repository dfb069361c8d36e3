/** Thread: pool. PersistentVolumeClaims: the wish for storage. Once made it stays, but for the size of a bound one. */
import { FieldPath, forbidden, invalid, notSupported, required } from '../../../api/field-error.js'
import type { LabelSelectorObject } from '../../../api/label-selector-object.js'
import type { KubeObject } from '../../../api/object.js'
import {
  dnsLabel,
  dnsSubdomain,
  type Errors,
  immutable,
  type List,
  optionalBy,
  requiredBy,
  sameValue,
} from '../../../api/validation/checks.js'
import { labelSelectorErrors } from '../../../api/validation/label-selectors.js'
import {
  positiveQuantity,
  quantityOf,
  type ResourceList,
  resourceQuantity,
} from '../../../api/validation/quantities.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, orUnset, tableOf, text } from '../../generic/table-rules.js'
import { accessModesText } from '../access-modes.js'
import { accessModeErrors, VOLUME_MODES } from '../persistentvolumes/volume-spec.js'

interface DataSource {
  /** A pointer that Go prints as null. */
  apiGroup?: string | null
  kind?: string
  name?: string
  namespace?: string
}

interface ClaimSpec {
  accessModes?: List<string>
  selector?: LabelSelectorObject
  resources?: { requests?: ResourceList }
  storageClassName?: string
  volumeMode?: string
  volumeName?: string
  volumeAttributesClassName?: string
  dataSource?: DataSource
  dataSourceRef?: DataSource
}

interface PersistentVolumeClaim extends KubeObject {
  spec?: ClaimSpec
  status?: {
    phase?: string
    accessModes?: List<string>
    capacity?: ResourceList
    currentVolumeAttributesClassName?: string
  }
}

const SPEC = FieldPath.of('spec')
const STORAGE = SPEC.child('resources').key('storage')
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class'

const isPvcOrSnapshot = ({ apiGroup, kind }: DataSource): boolean =>
  (kind === 'PersistentVolumeClaim' && (apiGroup ?? '') === '') ||
  (kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io')

/** dataSource takes claims and snapshots alone; whichever of the two fields is given, the other follows. */
function settleDataSources(object: KubeObject, old?: KubeObject): void {
  const { spec } = object as PersistentVolumeClaim
  if (spec === undefined) return
  const before = (old as PersistentVolumeClaim | undefined)?.spec
  const inUse = Boolean(before?.dataSource ?? before?.dataSourceRef)
  if (!inUse && !spec.dataSourceRef && spec.dataSource && !isPvcOrSnapshot(spec.dataSource)) delete spec.dataSource
  if (spec.dataSource && !spec.dataSourceRef) spec.dataSourceRef = { ...spec.dataSource }
  else if (spec.dataSourceRef && !spec.dataSource && (spec.dataSourceRef.namespace ?? '') === '') {
    const { namespace: _, ...rest } = spec.dataSourceRef
    spec.dataSource = rest
  }
}

function dataSourceErrors(source: DataSource | undefined, path: FieldPath): Errors {
  if (!source) return []
  const { kind = '', name, namespace } = source
  const apiGroup = source.apiGroup ?? ''
  return [
    ...requiredBy(name, path.child('name')),
    ...requiredBy(kind, path.child('kind')),
    ...(apiGroup === '' && kind !== 'PersistentVolumeClaim'
      ? [invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")]
      : []),
    ...optionalBy(apiGroup, path.child('apiGroup'), dnsSubdomain),
    ...optionalBy(namespace, path.child('namespace'), dnsLabel),
  ]
}

/** Both fields must say the same, unless one of them looks into another namespace. */
function sourcePairErrors({ dataSource, dataSourceRef }: ClaimSpec): Errors {
  if (!dataSource || !dataSourceRef) return []
  if ((dataSourceRef.namespace ?? '') !== '') return [invalid(SPEC, 'dataSource', 'not with dataSourceRef.namespace')]
  const same =
    (dataSource.apiGroup ?? null) === (dataSourceRef.apiGroup ?? null) &&
    (dataSource.kind ?? '') === (dataSourceRef.kind ?? '') &&
    (dataSource.name ?? '') === (dataSourceRef.name ?? '')
  return same ? [] : [invalid(SPEC, 'dataSource', 'must match dataSourceRef')]
}

function storageErrors(amount: string | undefined): Errors {
  if (amount === undefined) return [required(STORAGE)]
  const errors = positiveQuantity(amount, STORAGE)
  return errors.length > 0 ? errors : resourceQuantity('storage', amount, STORAGE)
}

function errorsOf(object: KubeObject, anyValues: boolean): Errors {
  const { spec = {} } = object as PersistentVolumeClaim
  return [
    ...((spec.accessModes?.length ?? 0) === 0 ? [required(SPEC.child('accessModes'))] : []),
    ...labelSelectorErrors(spec.selector, SPEC.child('selector'), { anyValues }),
    ...accessModeErrors(spec.accessModes, SPEC.child('accessModes')),
    ...storageErrors(spec.resources?.requests?.['storage']),
    ...optionalBy(spec.storageClassName, SPEC.child('storageClassName'), dnsSubdomain),
    ...(spec.volumeMode === undefined || VOLUME_MODES.includes(spec.volumeMode)
      ? []
      : [notSupported(SPEC.child('volumeMode'), spec.volumeMode, VOLUME_MODES)]),
    ...dataSourceErrors(spec.dataSource, SPEC.child('dataSource')),
    ...dataSourceErrors(spec.dataSourceRef, SPEC.child('dataSourceRef')),
    ...sourcePairErrors(spec),
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

function changeErrors(object: PersistentVolumeClaim, old: PersistentVolumeClaim): Errors {
  const errors: Errors = []
  const annotation = (claim: KubeObject): string => claim.metadata?.annotations?.[CLASS_ANNOTATION] ?? ''
  if (annotation(object) !== annotation(old))
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
  if (
    old.status?.currentVolumeAttributesClassName !== undefined &&
    (object.spec?.volumeAttributesClassName ?? '') === ''
  )
    errors.push(forbidden(SPEC.child('volumeAttributesClassName'), 'may not be taken away once it is applied'))
  return errors
}

const phaseText = ({ metadata, status }: PersistentVolumeClaim): string =>
  metadata?.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating'
const bound = ({ spec }: PersistentVolumeClaim): boolean => (spec?.volumeName ?? '') !== ''

export const persistentVolumeClaimRules: ResourceRules = {
  returnDeletedObject: true,
  indexedFields: [{ name: 'name', paths: [['metadata', 'name']] }],
  setDefaults: (object) => {
    const claim = object as PersistentVolumeClaim
    claim.spec ??= {}
    claim.status ??= {}
    claim.spec.volumeMode ??= 'Filesystem'
    if ((claim.status.phase ?? '') === '') claim.status.phase = 'Pending'
  },
  prepareForCreate: (object) => settleDataSources(object),
  prepareForUpdate: (object, old) => {
    settleDataSources(object, old)
    settleDataSources(old, old)
  },
  validate: (object) => errorsOf(object, false),
  validateUpdate: (object, old) => [
    ...errorsOf(object, labelSelectorErrors((old as PersistentVolumeClaim).spec?.selector, SPEC).length > 0),
    ...changeErrors(object as PersistentVolumeClaim, old as PersistentVolumeClaim),
  ],
  warningsOnCreate: claimWarnings,
  warningsOnUpdate: claimWarnings,
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

function claimWarnings(object: KubeObject): string[] {
  if (object.metadata?.annotations?.[CLASS_ANNOTATION] === undefined) return []
  const path = FieldPath.of('metadata', 'annotations').key(CLASS_ANNOTATION)
  return [`${path}: deprecated since v1.8; use "storageClassName" attribute instead`]
}
