/** Thread: pool. The JSON of a record in shared memory as an object. */
import { decodeJson } from '../../api/json/decode.js'
import { parseJson } from '../../api/json/parse.js'
import type { KubeObject } from '../../api/object.js'
import type { StructSchema } from '../../api/schema.js'

/** `schema` is undefined for custom objects, which are trees as they were stored. */
export const decodeMemory = (body: Uint8Array, schema: StructSchema | undefined): KubeObject =>
  schema === undefined ? (parseJson(body).value as KubeObject) : decodeJson(body, schema).object
