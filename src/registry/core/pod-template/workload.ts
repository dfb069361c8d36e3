/** Thread: pool. What controllers that make pods from a template have in common: counts, warnings, columns. */
import { FieldPath, invalid } from '../../../api/field-error.js'
import type { LabelSelectorObject } from '../../../api/label-selector-object.js'
import { type KubeObject, metadataOf } from '../../../api/object.js'
import { type Errors, nonnegative } from '../../../api/validation/checks.js'
import { isDns1123Label } from '../../../api/validation/names.js'
import { validateObjectMetaUpdate } from '../../../api/validation/object-meta.js'
import { type CellRule, commas, text } from '../../generic/table-rules.js'
import type { PodTemplateSpec } from './pod-spec.js'
import { podWarnings } from './warnings.js'

export interface WorkloadSpec {
  replicas?: number
  minReadySeconds?: number
  revisionHistoryLimit?: number
  selector?: LabelSelectorObject
  template?: PodTemplateSpec
}

export type Counts = Record<string, number | undefined>

const STATUS = FieldPath.of('status')

/** Counts of a status: none below zero, and `atMost` pairs in order of size. */
export function statusCountErrors(
  status: Counts | undefined,
  fields: readonly string[],
  atMost: readonly (readonly [string, string])[] = [],
): Errors {
  const count = (field: string): number => status?.[field] ?? 0
  return [
    ...fields.flatMap((field) => nonnegative(count(field), STATUS.child(field))),
    ...atMost
      .filter(([field, limit]) => count(field) > count(limit))
      .map(([field, limit]) => invalid(STATUS.child(field), count(field), `cannot be greater than status.${limit}`)),
  ]
}

/** Names of revisions are made unique by a count of collisions, which only grows. */
export function collisionCountErrors(status: Counts | undefined, old: Counts | undefined): Errors {
  const [now, before] = [status?.['collisionCount'], old?.['collisionCount']]
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

/** An update that leaves the desired state alone is not warned of again. */
export const isNewGeneration = (object: KubeObject, old: KubeObject): boolean =>
  object.metadata?.generation !== old.metadata?.generation

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
