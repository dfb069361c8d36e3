/** Thread: pool. Objects as they are stored, in JSON: the text that kube-apiserver stores with --storage-media-type JSON. */
import { decodeJson } from '../api/json/decode.js'
import { encodeJson } from '../api/json/encode.js'
import type { KubeObject } from '../api/object.js'
import type { StructSchema } from '../api/schema.js'
import type { Codec } from '../storage/interface.js'

export const jsonCodec = (schema: StructSchema): Codec<KubeObject> => ({
  encode: (object) => encodeJson(object, schema, { newline: true }),
  decode: (bytes) => decodeJson(bytes, schema).object,
})
