/** Thread: any. Built-in objects encoded by the name that they carry, and the parts that every list has. */
import { BuiltinSchemas } from '../builtin-schema.js'
import { parseGroupVersion } from '../group-version.js'
import type { JsonObject, KubeObject } from '../object.js'
import type { StructSchema } from '../schema.js'
import { encodeMessage } from './encode-message.js'
import { encodeListProtobuf, encodeProtobuf, type TypeMeta } from './envelope.js'
import { ProtobufError } from './protobuf-error.js'

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1'
/** Reads the tables of the packages that are asked for, once a thread. */
const schemas = new BuiltinSchemas()

export const deleteOptionsSchema = (): StructSchema => schemas.definition(`${META}.DeleteOptions`) as StructSchema

/** Custom resources have none. */
export function hasProtobuf(schema: StructSchema): boolean {
  for (const field of schema.fields.values()) if (field.wire !== undefined) return true
  return false
}

/** A Status, PartialObjectMetadata or any other kind of the tables. */
export function encodeBuiltin(object: KubeObject | JsonObject): Buffer {
  const { apiVersion = '', kind = '' } = object as KubeObject
  const groupVersion = parseGroupVersion(apiVersion)
  const schema = groupVersion && schemas.kind(groupVersion.group, groupVersion.version, kind)
  if (schema === undefined) throw new ProtobufError(`${kind} of ${apiVersion} has no form in protobuf`)
  return encodeProtobuf(object, schema)
}

/** A list of objects of one type. */
export function encodeObjectList(
  list: TypeMeta & { readonly metadata: JsonObject },
  items: readonly KubeObject[],
  itemSchema: StructSchema,
): Buffer {
  const encoded = items.map((item) => encodeMessage(item, itemSchema))
  return encodeMessageList(list, encoded)
}

/** The same of items that are encoded already, without envelopes. */
export function encodeMessageList(
  list: TypeMeta & { readonly metadata: JsonObject },
  items: readonly Uint8Array[],
): Buffer {
  return encodeListProtobuf(list, list.metadata, schemas.definition(`${META}.ListMeta`) as StructSchema, items)
}
