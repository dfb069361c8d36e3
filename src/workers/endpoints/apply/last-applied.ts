/** Thread: any. kubectl's client-side apply kept its configuration in an annotation; its server-side apply takes over from there. */

import { difference, type FieldSet, union } from '../../../api/managed-fields/field-set.js'
import { goJson } from '../../../api/managed-fields/go-json.js'
import type { Json, JsonObject } from '../../../api/object.js'
import type { StructSchema } from '../../../api/schema.js'
import { isObject, shallowCopy } from '../patch/json-tree.js'
import { compare } from './compare.js'
import { fieldsOf } from './object-fields.js'
import { TypedError } from './typed-error.js'
import { validateApplied } from './validate-applied.js'

export const LAST_APPLIED_ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration'

/** The one manager for which the annotation counts. */
export const KUBECTL = 'kubectl'

const MAX_ANNOTATION_BYTES = 256 * 1024

export function lastAppliedOf(object: JsonObject): string | undefined {
  const annotations = isObject(object['metadata']) ? object['metadata']['annotations'] : undefined
  const text = isObject(annotations) ? annotations[LAST_APPLIED_ANNOTATION] : undefined
  return typeof text === 'string' && text !== '' ? text : undefined
}

/** The fields that client-side apply set and that are still as it set them: no conflict for kubectl. */
export function fieldsLastApplied(schema: StructSchema, live: JsonObject, apiVersion: string): FieldSet | undefined {
  const text = lastAppliedOf(live)
  if (text === undefined) return undefined
  try {
    const config = JSON.parse(text) as Json
    if (!isObject(config) || config['apiVersion'] !== apiVersion) return undefined
    validateApplied(schema, config)
    const { added, modified, removed } = compare(schema, config, live)
    return difference(fieldsOf(schema, config), union(union(modified, added), removed))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypedError) return undefined
    throw error
  }
}

/** The object with the annotation brought up to what was applied, or without it when it would be too large. */
export function withLastApplied(object: JsonObject, applied: JsonObject): JsonObject {
  const metadata = object['metadata'] as JsonObject
  const annotations = shallowCopy(metadata['annotations'] as JsonObject)
  annotations[LAST_APPLIED_ANNOTATION] = `${goJson(withoutAnnotation(applied))}\n`
  if (annotationBytes(annotations) > MAX_ANNOTATION_BYTES) delete annotations[LAST_APPLIED_ANNOTATION]
  return { ...object, metadata: { ...metadata, annotations } }
}

function withoutAnnotation(applied: JsonObject): JsonObject {
  const metadata = applied['metadata']
  if (!isObject(metadata) || !isObject(metadata['annotations'])) return applied
  const annotations = shallowCopy(metadata['annotations'])
  delete annotations[LAST_APPLIED_ANNOTATION]
  return { ...applied, metadata: { ...metadata, annotations } }
}

function annotationBytes(annotations: JsonObject): number {
  let bytes = 0
  for (const [name, value] of Object.entries(annotations))
    bytes += Buffer.byteLength(name) + Buffer.byteLength(String(value))
  return bytes
}
