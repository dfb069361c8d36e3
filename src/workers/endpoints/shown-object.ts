/** Thread: pool. One object, in the memory version, as the bytes of the form that a client asked for. */
import { encodeText, encodeUntyped } from '../../api/json/encode.js'
import type { AcceptedMediaType } from '../../api/media-type.js'
import { type Json, type JsonObject, type KubeObject, metadataOf } from '../../api/object.js'
import { encodeBuiltin } from '../../api/protobuf/builtin.js'
import { encodeProtobuf } from '../../api/protobuf/envelope.js'
import { printYaml } from '../../api/yaml/yaml.js'
import type { ConversionShape } from '../../protocol/main-pool.js'
import type { Endpoint } from './endpoint.js'
import { type IncludeObject, partialObjectMetadata, rowOf, tableOf } from './table.js'

export interface ShownForm {
  readonly accepted: AcceptedMediaType
  /** What the rows of a Table carry: None, Metadata, Object, or '' for the default. */
  readonly include: string
  readonly shape: ConversionShape
  readonly nowMs: number
}

export function shownObject(endpoint: Endpoint, object: KubeObject, form: ShownForm): Uint8Array {
  const { serialization, transformation } = form.accepted
  const isProtobuf = serialization === 'protobuf'
  const shown = endpoint.conversion?.fromMemoryVersion(object) ?? object
  if (form.shape === 'yaml') return Buffer.from(printYaml(shown as JsonObject))
  if (transformation === undefined)
    return isProtobuf ? encodeProtobuf(shown, endpoint.schema) : Buffer.from(encodeText(shown, endpoint.schema))
  const tree =
    transformation.as === 'Table'
      ? shownTable(endpoint, shown, transformation.version, form)
      : partialObjectMetadata(object, transformation.version, endpoint.rules)
  return isProtobuf ? encodeBuiltin(tree as KubeObject) : Buffer.from(encodeUntyped(tree as unknown as Json))
}

function shownTable({ rules }: Endpoint, object: KubeObject, version: string, form: ShownForm): object {
  const options = {
    version,
    include: form.include === '' ? 'Metadata' : (form.include as IncludeObject),
    nowMs: form.nowMs,
    columns: form.shape !== 'bare',
  }
  if (form.shape === 'row') return rowOf(object, rules, options)
  return tableOf([object], { resourceVersion: metadataOf(object).resourceVersion }, rules, options)
}
