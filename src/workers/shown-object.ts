/** Thread: pool. One object, in the hub version, as the bytes of the form that a client asked for. */
import { encodeText, encodeUntyped } from '../api/json/encode.js'
import type { AcceptedMediaType } from '../api/media-type.js'
import { type Json, type KubeObject, metadataOf } from '../api/object.js'
import { encodeBuiltin } from '../api/protobuf/builtin.js'
import { encodeProtobuf } from '../api/protobuf/envelope.js'
import type { Endpoint } from './endpoint.js'
import { type IncludeObject, partialObjectMetadata, tableOf } from './table.js'

export interface ShownForm {
  readonly accepted: AcceptedMediaType
  /** What rows of a Table carry: None, Metadata, Object, or '' for the usual. */
  readonly include: string
  /** Whether a Table shows its columns. */
  readonly columns: boolean
  readonly nowMs: number
}

export function shownObject(endpoint: Endpoint, object: KubeObject, form: ShownForm): Uint8Array {
  const { serialization, transformation } = form.accepted
  const isProtobuf = serialization === 'protobuf'
  const shown = endpoint.conversion?.fromHub(object) ?? object
  if (transformation === undefined)
    return isProtobuf ? encodeProtobuf(shown, endpoint.schema) : Buffer.from(encodeText(shown, endpoint.schema))
  const { resourceVersion } = metadataOf(shown)
  const tree =
    transformation.as === 'Table'
      ? tableOf([shown], { resourceVersion }, endpoint.rules, {
          version: transformation.version,
          include: form.include === '' ? 'Metadata' : (form.include as IncludeObject),
          nowMs: form.nowMs,
          columns: form.columns,
        })
      : partialObjectMetadata(object, transformation.version, endpoint.rules)
  return isProtobuf ? encodeBuiltin(tree) : Buffer.from(encodeUntyped(tree as unknown as Json))
}
