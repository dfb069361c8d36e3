/** Thread: pool. The options of a CONNECT as an object of their kind: what admission is shown of a request that is passed on. */
import { formatGroupVersion, type GroupVersionKind } from '../../api/group-version.js'
import { parseBoolean } from '../../api/list-options.js'
import type { Json, JsonObject, KubeObject } from '../../api/object.js'
import type { StructSchema, TypeSchema } from '../../api/schema.js'

/** `rest` is the path behind a proxy subresource, which its options carry; undefined for other subresources. */
export function connectOptions(
  kind: GroupVersionKind,
  schema: StructSchema | undefined,
  query: URLSearchParams,
  rest: string | undefined,
): KubeObject {
  const object: JsonObject = { kind: kind.kind, apiVersion: formatGroupVersion(kind) }
  for (const key of new Set(query.keys())) {
    const field = schema?.fields.get(key)
    if (field === undefined) continue
    object[key] = optionOf(field.type, query.getAll(key))
  }
  if (rest !== undefined && rest !== '' && schema?.fields.has('path') === true) object['path'] = rest
  return object as KubeObject
}

function optionOf(type: TypeSchema, given: readonly string[]): Json {
  if (type.kind === 'list') return given.map((text) => scalarOf(type.items, text))
  return scalarOf(type, given[0] ?? '')
}

function scalarOf(type: TypeSchema, text: string): Json {
  if (type.kind === 'boolean') return parseBoolean(text)
  if (type.kind !== 'int32' && type.kind !== 'int64') return text
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : 0
}
