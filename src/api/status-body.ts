/** Thread: any. A Status as the bytes that the client can read. */
import { CONTENT_TYPES, negotiateStatus, type Serialization } from './media-type.js'
import type { JsonObject } from './object.js'
import { encodeBuiltin } from './protobuf/builtin.js'
import type { Status } from './status.js'
import { printYaml } from './yaml/yaml.js'

export function statusBody(status: Status, accept: string): { readonly contentType: string; readonly body: Buffer } {
  const serialization = negotiateStatus(accept)
  return { contentType: CONTENT_TYPES[serialization], body: printed(status as unknown as JsonObject, serialization) }
}

function printed(status: JsonObject, serialization: Serialization): Buffer {
  if (serialization === 'protobuf') return encodeBuiltin(status)
  return Buffer.from(serialization === 'yaml' ? printYaml(status) : `${JSON.stringify(status)}\n`)
}
