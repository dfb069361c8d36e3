/** Thread: pool. What controllers that make pods from a template have in common: counts, warnings, columns. */

import { FieldPath, invalid } from '../../../api/field-error.js'
import type { PodTemplateSpec } from '../../../api/generated/kinds/core.v1.js'
import { type KubeObject, metadataOf } from '../../../api/object.js'
import type { Int64 } from '../../../api/scalar-types.js'
import { type Errors, nonnegative } from '../../../api/validation/checks.js'
import { isDns1123Label } from '../../../api/validation/names.js'
import { validateObjectMetaUpdate } from '../../../api/validation/object-meta.js'
import { type CellRule, commas, text } from '../../generic/table-rules.js'
import { podWarnings } from './warnings.js'

/** Fields that hold a number. */
type CountField<Status> = {
  [Field in keyof Status]-?: Int64 extends Required<Status>[Field]
    ? Field
    : number extends Status[Field]
      ? Field
      : never
}[keyof Status] &
  string

const STATUS = FieldPath.of('status')

/** Counts of a status: none below zero, and `atMost` pairs in order of size. */
export function statusCountErrors<Status extends object>(
  status: Status | undefined,
  fields: readonly CountField<Status>[],
  atMost: readonly (readonly [CountField<Status>, CountField<Status>])[] = [],
): Errors {
  const counts: { readonly [Field in CountField<Status>]?: Int64 | undefined } = status ?? {}
  const count = (field: CountField<Status>): Int64 => counts[field] ?? 0
  return [
    ...fields.flatMap((field) => nonnegative(count(field), STATUS.child(field))),
    ...atMost
      .filter(([field, limit]) => count(field) > count(limit))
      .map(([field, limit]) => invalid(STATUS.child(field), count(field), `cannot be greater than status.${limit}`)),
  ]
}

interface Collisions {
  collisionCount?: number
}

/** Names of revisions are made unique by a count of collisions, which only grows. */
export function collisionCountErrors(status: Collisions | undefined, old: Collisions | undefined): Errors {
  const [now, before] = [status?.collisionCount, old?.collisionCount]
  const smaller = before !== undefined && (now === undefined || now < before)
  return smaller ? [invalid(STATUS.child('collisionCount'), now ?? 0, 'cannot be decremented')] : []
}

/** What the validation of a status says of the metadata once more, as Kubernetes does. */
export const statusMetadataErrors = (object: KubeObject, old: KubeObject): Errors =>
  validateObjectMetaUpdate(metadataOf(object), metadataOf(old))

export const nameWarnings = (object: KubeObject): string[] =>
  isDns1123Label(object.metadata?.name ?? '').length === 0
    ? []
    : ['metadata.name: this becomes part of the names of pods, for which a DNS label is recommended']

const TEMPLATE = FieldPath.of('spec', 'template')

export const templateWarnings = (template: PodTemplateSpec | undefined, path: FieldPath = TEMPLATE): string[] =>
  template === undefined || template === null ? [] : podWarnings(template.spec ?? {}, template.metadata, path)

/** A kind whose objects make pods from the template of their spec. */
interface Templated extends KubeObject {
  spec?: { replicas?: number; template?: PodTemplateSpec }
}

export const createdWorkloadWarnings = (object: Templated): string[] => [
  ...nameWarnings(object),
  ...templateWarnings(object.spec?.template),
]

/** An update that leaves the desired state alone is not warned of again. */
export const isNewGeneration = (object: KubeObject, old: KubeObject): boolean =>
  object.metadata?.generation !== old.metadata?.generation

export const changedTemplateWarnings = (object: Templated, old: Templated): string[] =>
  isNewGeneration(object, old) ? templateWarnings(object.spec?.template) : []

interface ReplicaCounts {
  replicas?: number
  fullyLabeledReplicas?: number
  readyReplicas?: number
  availableReplicas?: number
  observedGeneration?: Int64
  terminatingReplicas?: number
}

/** Of ReplicaSets and of replication controllers, which do not count the pods that end. */
export const replicaStatusErrors = (status: ReplicaCounts | undefined): Errors =>
  statusCountErrors(
    status,
    [
      'replicas',
      'fullyLabeledReplicas',
      'readyReplicas',
      'availableReplicas',
      'observedGeneration',
      'terminatingReplicas',
    ],
    [
      ['fullyLabeledReplicas', 'replicas'],
      ['readyReplicas', 'replicas'],
      ['availableReplicas', 'replicas'],
      ['availableReplicas', 'readyReplicas'],
    ],
  )

interface Replicated extends Templated {
  status?: ReplicaCounts
}

const INTEGER = { type: 'integer' } as const

export const replicaColumns = <T extends Replicated>(): CellRule<T>[] => [
  text('Desired', 'How many pods it wants.', ({ spec }) => spec?.replicas ?? 0, INTEGER),
  text('Current', 'How many it has.', ({ status }) => status?.replicas ?? 0, INTEGER),
  text('Ready', 'How many of them are ready.', ({ status }) => status?.readyReplicas ?? 0, INTEGER),
]

export function containerColumns<T extends KubeObject>(
  templateOf: (object: T) => PodTemplateSpec | undefined,
): [CellRule<T>, CellRule<T>] {
  const each = (object: T, field: 'name' | 'image'): string =>
    commas((templateOf(object)?.spec?.containers ?? []).map((container) => container[field] ?? ''))
  return [
    text('Containers', 'The containers of the template.', (object) => each(object, 'name'), { priority: 1 }),
    text('Images', 'The images that they run.', (object) => each(object, 'image'), { priority: 1 }),
  ]
}
