/**
 * Thread: pool. What a conversion webhook may do to an object: anything below its root, but of the metadata labels and annotations
 * alone. Kind, name, namespace and uid must come back as they were; all else of the metadata is put back.
 */
import type { FieldError } from '../../api/field-error.js'
import { FieldPath } from '../../api/field-error.js'
import { deepCopy, isJsonObject, type Json, type JsonObject, type KubeObject } from '../../api/object.js'
import { validateAnnotations, validateLabels } from '../../api/validation/object-meta.js'

/** What is wrong with a converted object. */
export class ConvertedObjectError extends Error {
  override readonly name = 'ConvertedObjectError'
  readonly code = 'converted-object'
  /** Whether its metadata cannot be taken, or the object is another one altogether. */
  readonly about: 'type' | 'identity' | 'metadata'

  constructor(about: ConvertedObjectError['about'], message: string) {
    super(message)
    this.about = about
  }
}

/** The object that came back, with the metadata that it may have. Throws ConvertedObjectError. */
export function acceptedObject(original: KubeObject, converted: Json, apiVersion: string): KubeObject {
  if (!isJsonObject(converted)) throw new ConvertedObjectError('type', 'it is no object')
  checkType(original, converted, apiVersion)
  checkIdentity(original, converted)
  return { ...converted, metadata: restoredMetadata(original, converted) } as KubeObject
}

function checkType({ kind: expected = '' }: KubeObject, converted: JsonObject, apiVersion: string): void {
  const { apiVersion: version, kind } = converted
  if (version !== apiVersion)
    throw new ConvertedObjectError('type', `invalid groupVersion (expected ${apiVersion}, received ${shown(version)})`)
  if (kind !== expected)
    throw new ConvertedObjectError('type', `invalid kind (expected ${expected}, received ${shown(kind)})`)
}

const IDENTITY = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['uid', 'UID'],
] as const

function checkIdentity({ metadata: before }: KubeObject, converted: JsonObject): void {
  const metadata = converted['metadata'] ?? null
  const after = isJsonObject(metadata) ? metadata : {}
  for (const [field, called] of IDENTITY) {
    const [expected, actual] = [before?.[field] ?? '', shown(after[field])]
    if (expected !== actual)
      throw new ConvertedObjectError('identity', `must have the same ${called}: ${expected} != ${actual}`)
  }
}

function restoredMetadata({ metadata: before = {} }: KubeObject, converted: JsonObject): JsonObject {
  const given = converted['metadata']
  if (given === undefined) throw new ConvertedObjectError('metadata', 'missing metadata in converted object')
  if (!isJsonObject(given)) throw new ConvertedObjectError('metadata', 'metadata of the converted object is no object')
  const restored = deepCopy(before) as JsonObject
  for (const field of ['labels', 'annotations'] as const) {
    const values = given[field] ?? null
    if (values === null) delete restored[field]
    else restored[field] = checkedTexts(field, values, before[field] ?? {})
  }
  return restored
}

/** What has not been changed was checked when it was written, perhaps by other rules. */
function checkedTexts(
  field: 'labels' | 'annotations',
  values: Json,
  before: Readonly<Record<string, string>>,
): JsonObject {
  if (!isJsonObject(values)) throw new ConvertedObjectError('metadata', `metadata.${field} is no object`)
  let changed = Object.keys(values).length !== Object.keys(before).length
  for (const [key, value] of Object.entries(values)) {
    if (typeof value !== 'string')
      throw new ConvertedObjectError('metadata', `metadata.${field}[${key}] must be a string`)
    changed ||= !Object.hasOwn(before, key) || before[key] !== value
  }
  if (!changed) return values
  const texts = values as Record<string, string>
  const errors =
    field === 'labels'
      ? validateLabels(texts, FieldPath.of('metadata', 'labels'))
      : validateAnnotations(texts, FieldPath.of('metadata', 'annotation'))
  if (errors.length > 0) throw new ConvertedObjectError('metadata', errors.map(described).join(', '))
  return values
}

const described = ({ field, badValue, detail }: FieldError): string =>
  `${field}: ${JSON.stringify(badValue)}: ${detail}`

const shown = (value: Json | undefined): string => (typeof value === 'string' ? value : '')
