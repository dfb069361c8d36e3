/** Thread: pool. StorageClasses: how volumes are made. Only expansion, topologies and mount options change later. */

import { isDeepStrictEqual } from 'node:util'
import { duplicate, FieldPath, notSupported, required } from '../../../api/field-error.js'
import type { TopologySelectorTerm } from '../../../api/generated/kinds/core.v1.js'
import type { StorageClass } from '../../../api/generated/kinds/storage.v1.js'
import { type Errors, each, immutable, type List, oneOf, qualifiedName } from '../../../api/validation/checks.js'
import { nodeLabelWarnings } from '../../core/node-labels.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { age, orUnset, tableOf, text } from '../../generic/table-rules.js'
import { parametersErrors, provisionerErrors } from '../parameters.js'

const TOPOLOGIES = FieldPath.of('allowedTopologies')
const FIXED = ['parameters', 'provisioner', 'reclaimPolicy', 'volumeBindingMode'] as const
const BINDING_MODES = ['Immediate', 'WaitForFirstConsumer']

function termErrors({ matchLabelExpressions }: TopologySelectorTerm, path: FieldPath): Errors {
  const keys = new Set<string>()
  return each(matchLabelExpressions, path.child('matchLabelExpressions'), ({ key = '', values }, at) => {
    const errors = qualifiedName(key, at.child('key'))
    if (keys.has(key)) errors.push(duplicate(at.child('key'), key))
    keys.add(key)
    if ((values?.length ?? 0) === 0) errors.push(required(at.child('values')))
    const seen = new Set<string>()
    return [
      ...errors,
      ...each(values, at.child('values'), (value, where) => {
        if (seen.has(value)) return [duplicate(where, value)]
        seen.add(value)
        return []
      }),
    ]
  })
}

/** Key to values, whatever their order: two terms that say the same are one too many. */
const meaning = ({ matchLabelExpressions }: TopologySelectorTerm): Map<string, Set<string>> =>
  new Map((matchLabelExpressions ?? []).map(({ key = '', values }) => [key, new Set(values ?? [])]))

function topologyErrors(terms: List<TopologySelectorTerm>): Errors {
  // Kubernetes compares each term with as many empty ones as there are terms too: a term that says nothing is a double.
  const known = Array.from({ length: terms?.length ?? 0 }, () => new Map<string, Set<string>>())
  return each(terms, TOPOLOGIES, (term, at) => {
    const own = meaning(term)
    const doubles = known.filter((other) => isDeepStrictEqual(other, own))
    known.push(own)
    return [...termErrors(term, at), ...doubles.map(() => duplicate(at.child('matchLabelExpressions'), ''))]
  })
}

function validate(storage: StorageClass): Errors {
  const mode = storage.volumeBindingMode
  return [
    ...provisionerErrors(storage.provisioner, FieldPath.of('provisioner')),
    ...parametersErrors(storage.parameters, FieldPath.of('parameters'), true),
    ...oneOf(storage.reclaimPolicy, ['Delete', 'Retain'], FieldPath.of('reclaimPolicy'), 'allowed'),
    ...(mode === undefined ? [required(FieldPath.of('volumeBindingMode'))] : []),
    ...(mode === undefined || BINDING_MODES.includes(mode)
      ? []
      : [notSupported(FieldPath.of('volumeBindingMode'), mode, BINDING_MODES)]),
    ...topologyErrors(storage.allowedTopologies),
  ]
}

const warnings = (object: StorageClass): string[] =>
  (object.allowedTopologies ?? []).flatMap(({ matchLabelExpressions }, i) =>
    (matchLabelExpressions ?? []).flatMap(({ key = '' }, j) =>
      nodeLabelWarnings(key, TOPOLOGIES.index(i).child('matchLabelExpressions').index(j).child('key')),
    ),
  )

const DEFAULT_ANNOTATIONS = [
  'storageclass.kubernetes.io/is-default-class',
  'storageclass.beta.kubernetes.io/is-default-class',
]

const TABLE = tableOf<StorageClass>(
  text('Provisioner', 'What makes the volumes.', ({ provisioner }) => provisioner ?? ''),
  text('ReclaimPolicy', 'What becomes of a released volume.', ({ reclaimPolicy }) => reclaimPolicy ?? 'Delete'),
  text('VolumeBindingMode', 'When volumes are made and bound.', (object) => orUnset(object.volumeBindingMode)),
  text(
    'AllowVolumeExpansion',
    'Whether volumes may grow.',
    ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
  ),
  age(),
)

export const storageClassRules: ResourceRules<StorageClass> = {
  returnDeletedObject: true,
  setDefaults: (storage) => {
    storage.reclaimPolicy ??= 'Delete'
    storage.volumeBindingMode ??= 'Immediate'
  },
  validate,
  validateUpdate: (object, old) => [
    ...validate(object),
    ...FIXED.flatMap((field) => immutable(object[field], old[field], FieldPath.of(field))),
  ],
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  table: {
    columns: TABLE.columns,
    cells: (object, nowMs) => {
      const [name, ...rest] = TABLE.cells(object, nowMs)
      const isDefault = DEFAULT_ANNOTATIONS.some((annotation) => object.metadata?.annotations?.[annotation] === 'true')
      return [isDefault ? `${name} (default)` : name!, ...rest]
    },
  },
}
