/** Thread: any. A Status as the bytes that the client can read. */
import { CONTENT_TYPES, negotiateStatus } from './media-type.js'
import type { JsonObject } from './object.js'
import { encodeBuiltin } from './protobuf/builtin.js'
import type { Status } from './status.js'

export function statusBody(status: Status, accept: string): { readonly contentType: string; readonly body: Buffer } {
  return negotiateStatus(accept) === 'protobuf'
    ? { contentType: CONTENT_TYPES.protobuf, body: encodeBuiltin(status as unknown as JsonObject) }
    : { contentType: CONTENT_TYPES.json, body: Buffer.from(`${JSON.stringify(status)}\n`) }
}
