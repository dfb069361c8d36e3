/** Thread: pool. What a claim is filled with: two fields that say the same, of which the older one takes less. */

import { type FieldPath, invalid } from '../../../api/field-error.js'
import type { TypedObjectReference } from '../../../api/generated/kinds/core.v1.js'
import { dnsLabel, dnsSubdomain, type Errors, optionalBy, requiredBy } from '../../../api/validation/checks.js'

export interface DataSources {
  dataSource?: TypedObjectReference
  dataSourceRef?: TypedObjectReference
}

const isPvcOrSnapshot = ({ apiGroup, kind }: TypedObjectReference): boolean =>
  (kind === 'PersistentVolumeClaim' && (apiGroup ?? '') === '') ||
  (kind === 'VolumeSnapshot' && apiGroup === 'snapshot.storage.k8s.io')

/** dataSource takes claims and snapshots alone; whichever of the two fields is given, the other follows. */
export function settleDataSources(spec: DataSources, before?: DataSources): void {
  const inUse = Boolean(before?.dataSource ?? before?.dataSourceRef)
  // Sources in other namespaces are behind a gate that is off.
  if (!before?.dataSourceRef && (spec.dataSourceRef?.namespace ?? '') !== '') delete spec.dataSourceRef
  if (!inUse && !spec.dataSourceRef && spec.dataSource && !isPvcOrSnapshot(spec.dataSource)) delete spec.dataSource
  if (spec.dataSource && !spec.dataSourceRef) spec.dataSourceRef = { ...spec.dataSource }
  else if (spec.dataSourceRef && !spec.dataSource && (spec.dataSourceRef.namespace ?? '') === '') {
    const { namespace: _, ...rest } = spec.dataSourceRef
    spec.dataSource = rest
  }
}

/** Groups were not always checked: a claim that has one keeps whatever it is. */
export function dataSourcesErrors(spec: DataSources, before: DataSources | undefined, path: FieldPath): Errors {
  const anyGroup = [before?.dataSource, before?.dataSourceRef].some((source) => typeof source?.apiGroup === 'string')
  return [
    ...sourceErrors(spec.dataSource, anyGroup, path.child('dataSource')),
    ...sourceErrors(spec.dataSourceRef, anyGroup, path.child('dataSourceRef')),
    ...pairErrors(spec, path),
  ]
}

function sourceErrors(source: TypedObjectReference | undefined, anyGroup: boolean, path: FieldPath): Errors {
  if (!source) return []
  const { kind = '', name, namespace } = source
  const apiGroup = source.apiGroup ?? ''
  return [
    ...requiredBy(name, path.child('name')),
    ...requiredBy(kind, path.child('kind')),
    ...(apiGroup === '' && kind !== 'PersistentVolumeClaim'
      ? [invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup")]
      : []),
    ...(anyGroup ? [] : optionalBy(apiGroup, path.child('apiGroup'), dnsSubdomain)),
    ...optionalBy(namespace, path.child('namespace'), dnsLabel),
  ]
}

/** Both fields must say the same, unless one of them looks into another namespace. */
function pairErrors({ dataSource, dataSourceRef }: DataSources, path: FieldPath): Errors {
  if (!dataSource || !dataSourceRef) return []
  if ((dataSourceRef.namespace ?? '') !== '') return [invalid(path, 'dataSource', 'not with dataSourceRef.namespace')]
  const same =
    (dataSource.apiGroup ?? null) === (dataSourceRef.apiGroup ?? null) &&
    (dataSource.kind ?? '') === (dataSourceRef.kind ?? '') &&
    (dataSource.name ?? '') === (dataSourceRef.name ?? '')
  return same ? [] : [invalid(path, 'dataSource', 'must match dataSourceRef')]
}
