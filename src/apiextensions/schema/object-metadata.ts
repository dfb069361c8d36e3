/** Thread: any. Metadata of a custom object, or of an object within it: the one part that has a type of Kubernetes' own. */
import { type Decoded, decodeTree, type JsonPath } from '../../api/json/decode.js'
import { DecodeError } from '../../api/json/decode-error.js'
import { setMember } from '../../api/json/reader.js'
import { isJsonObject, type Json, type JsonObject } from '../../api/object.js'
import type { SchemaSource, StructSchema } from '../../api/schema.js'

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'

export function objectMetaType(builtin: SchemaSource): StructSchema {
  const meta = builtin.definition(OBJECT_META)
  if (meta?.kind !== 'struct') throw new Error(`the generated tables lack ${OBJECT_META}`)
  return meta
}

export interface CoercedMetadata {
  readonly metadata: JsonObject
  readonly strictErrors: readonly string[]
  /** Whether the metadata prints otherwise than before. */
  readonly changed: boolean
}

/** Metadata as its type prints it; the tree is used up. Throws DecodeError when it does not fit. */
export function coerceMetadata(value: Json, type: StructSchema, at: JsonPath): CoercedMetadata {
  const { object, strictErrors, changed } = decodeTree(value, type, undefined, at)
  return { metadata: object as JsonObject, strictErrors, changed }
}

/** The same of what is stored: a field that does not fit is dropped. Undefined when there is no object. */
export function salvageMetadata(value: Json, type: StructSchema, at: JsonPath): CoercedMetadata | undefined {
  if (value !== null && !isJsonObject(value)) return undefined
  const given = value ?? {}
  try {
    const hasTime = given['creationTimestamp'] !== undefined
    const coerced = coerceMetadata(given, type, at)
    // The type prints a time that is not there as null; in what is stored it stays absent.
    if (!hasTime) delete coerced.metadata['creationTimestamp']
    return coerced
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    return fittingFields(given, type, at)
  }
}

/** Each field by itself. What was decoded before one did not fit is decoded again, which changes nothing more. */
function fittingFields(value: JsonObject, type: StructSchema, at: JsonPath): CoercedMetadata {
  const metadata: JsonObject = {}
  const strictErrors: string[] = []
  for (const key of Object.keys(value)) {
    const decoded = decodedField(key, value[key] ?? null, type, at)
    if (decoded === undefined) continue
    strictErrors.push(...decoded.strictErrors)
    const field = (decoded.object as JsonObject)[key]
    if (field !== undefined) setMember(metadata, key, field)
  }
  return { metadata, strictErrors, changed: true }
}

function decodedField(key: string, value: Json, type: StructSchema, at: JsonPath): Decoded | undefined {
  const alone: JsonObject = {}
  setMember(alone, key, value)
  try {
    return decodeTree(alone, type, undefined, at)
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}
