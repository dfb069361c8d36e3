/** Thread: pool. Namespaces: the label with their name, the finalizer that empties them, a phase. */

import { type FieldError, FieldPath, invalid } from '../../../api/field-error.js'
import type { Namespace } from '../../../api/generated/kinds/core.v1.js'
import { metadataOf } from '../../../api/object.js'
import { dnsLabelName, isQualifiedName } from '../../../api/validation/names.js'
import type { ResourceRules } from '../../generic/resource-rules.js'
import { AGE_COLUMN, ageOf, NAME_COLUMN } from '../../generic/table-columns.js'

const NAME_LABEL = 'kubernetes.io/metadata.name'
export const KUBERNETES_FINALIZER = 'kubernetes'

function labelWithName(object: Namespace): void {
  const metadata = metadataOf(object)
  if ((metadata.name ?? '') === '') return
  metadata.labels ??= {}
  metadata.labels[NAME_LABEL] = metadata.name!
}

function finalizerErrors(name: string, path: FieldPath): FieldError[] {
  return [
    ...isQualifiedName(name).map((reason) => invalid(path, name, reason)),
    ...(name.includes('/') || name === KUBERNETES_FINALIZER
      ? []
      : [invalid(path, name, 'name is neither a standard finalizer name nor is it fully qualified')]),
  ]
}

const FINALIZERS = FieldPath.of('spec', 'finalizers')
const finalizersOf = (object: Namespace): readonly string[] => object.spec?.finalizers ?? []

/** A new namespace is told about the list, who changes the list about its places. */
const validate = (object: Namespace): FieldError[] =>
  finalizersOf(object).flatMap((name) => finalizerErrors(name, FINALIZERS))

const validateFinalize = (object: Namespace): FieldError[] =>
  finalizersOf(object).flatMap((name, i) => finalizerErrors(name, FINALIZERS.index(i)))

/** Active until it is deleted, terminating from then on. */
function phaseErrors(object: Namespace): FieldError[] {
  const phase = object.status?.phase ?? ''
  const at = FieldPath.of('status', 'Phase')
  if (metadataOf(object).deletionTimestamp === undefined)
    return phase === 'Active' ? [] : [invalid(at, phase, "may only be 'Active' if `deletionTimestamp` is empty")]
  return phase === 'Terminating'
    ? []
    : [invalid(at, phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")]
}

export const namespaceRules: ResourceRules<Namespace> = {
  returnDeletedObject: true,
  nameRule: dnsLabelName,
  setDefaults: (object) => {
    if ((object.metadata?.generateName ?? '') === '') labelWithName(object)
  },
  prepareForCreate: (namespace) => {
    namespace.status = { phase: 'Active' }
    namespace.spec ??= {}
    const finalizers = namespace.spec.finalizers ?? []
    if (!finalizers.includes(KUBERNETES_FINALIZER)) namespace.spec.finalizers = [...finalizers, KUBERNETES_FINALIZER]
  },
  prepareForUpdate: (object, old) => {
    const { spec } = old
    if (spec === undefined) delete object['spec']
    else object['spec'] = structuredClone(spec)
  },
  status: { validateUpdate: phaseErrors },
  subresources: { finalize: { writes: 'spec', validateUpdate: validateFinalize } },
  shouldDeleteDuringUpdate: (next) => (next.spec?.finalizers ?? []).length === 0,
  canonicalize: labelWithName,
  validate,
  validateUpdate: (object) => validate(object),
  table: {
    columns: [NAME_COLUMN, { name: 'Status', type: 'string', description: 'Active, or Terminating.' }, AGE_COLUMN],
    cells: (object, nowMs) => [object.metadata?.name ?? '', object.status?.phase ?? '', ageOf(object, nowMs)],
  },
}
