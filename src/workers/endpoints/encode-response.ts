/** Thread: pool. Objects, lists and Statuses as the bytes that the client asked for. */
import { formatGroupVersion } from '../../api/group-version.js'
import { encodeText, encodeUntyped } from '../../api/json/encode.js'
import { type AcceptedMediaType, acceptedMediaType, CONTENT_TYPES, type OfferedForms } from '../../api/media-type.js'
import { type Json, type JsonObject, type KubeObject, metadataOf } from '../../api/object.js'
import { encodeBuiltin, encodeObjectList, hasProtobuf } from '../../api/protobuf/builtin.js'
import { encodeProtobuf } from '../../api/protobuf/envelope.js'
import { newBadRequest, newNotAcceptable, type Status } from '../../api/status.js'
import { printYaml } from '../../api/yaml/yaml.js'
import type { EncodedResponse } from '../../protocol/main-pool.js'
import type { ListResult } from '../../storage/contract/interface.js'
import type { Endpoint } from './endpoint.js'
import type { WorkerRequest } from './request.js'
import { hasTable, type IncludeObject, partialObjectMetadata, tableOf } from './table.js'

/** The form that the client takes; throws NotAcceptable when it takes none of ours. */
export function acceptedOf(worker: WorkerRequest): AcceptedMediaType {
  const { endpoint, request } = worker
  const accepted = acceptedMediaType(request.accept, offeredForms(endpoint))
  const pretty = worker.query.get('pretty')
  return pretty === 'true' || pretty === '1' ? { ...accepted, pretty: true } : accepted
}

export const offeredForms = (endpoint: Endpoint): OfferedForms => ({
  protobuf: endpoint.info.definitionHash === undefined ? hasProtobuf(endpoint.schema) : 'metadata',
  table: hasTable(endpoint),
})

export function encodeResponse(worker: WorkerRequest, status: number, object: KubeObject): EncodedResponse {
  const accepted = acceptedOf(worker)
  const { endpoint } = worker
  const shown = endpoint.conversion?.fromMemoryVersion(object) ?? object
  const { transformation } = accepted
  if (transformation === undefined) {
    if (accepted.serialization === 'protobuf')
      return encoded(worker, status, accepted, encodeProtobuf(shown, endpoint.schema))
    const text = accepted.serialization === 'json' ? textOf(worker, object, shown) : undefined
    return response(worker, status, accepted, text, shown)
  }
  const { as, version } = transformation
  if (as === 'PartialObjectMetadataList')
    throw newNotAcceptable('you requested PartialObjectMetadataList, but the requested object is not a list', false)
  const { resourceVersion } = metadataOf(shown)
  const tree =
    as === 'Table'
      ? tableOf(
          [shown],
          { ...(resourceVersion === undefined ? {} : { resourceVersion }) },
          endpoint.rules,
          tableOptions(worker, version),
        )
      : partialObjectMetadata(object, version, endpoint.rules)
  return response(worker, status, accepted, undefined, tree)
}

/** What was written was printed for memory, in the memory version: the answer is that text with its revision. */
function textOf(worker: WorkerRequest, object: KubeObject, shown: KubeObject): string {
  const { schema, memorySchema } = worker.endpoint
  const printed = shown === object && schema === memorySchema ? worker.printed(object) : undefined
  if (printed === undefined) return encodeText(shown, schema)
  return printed.head + (metadataOf(object).resourceVersion ?? '') + printed.tail
}

export function encodeList(worker: WorkerRequest, list: ListResult<KubeObject>): EncodedResponse {
  const accepted = acceptedOf(worker)
  const { endpoint } = worker
  const items =
    endpoint.conversion === undefined
      ? list.items
      : list.items.map((item) => endpoint.conversion!.fromMemoryVersion(item))
  // A list of custom objects says also that it does not go on; as a Table or as metadata it is like any other.
  const isCustomList = endpoint.info.definitionHash !== undefined && accepted.transformation === undefined
  const metadata = {
    resourceVersion: String(list.resourceVersion),
    ...(list.continueToken === '' && !isCustomList ? {} : { continue: list.continueToken }),
    ...(list.remainingItemCount === undefined || list.remainingItemCount === 0
      ? {}
      : { remainingItemCount: list.remainingItemCount }),
  }
  const { transformation } = accepted
  if (transformation !== undefined) {
    const { as, version } = transformation
    if (as === 'PartialObjectMetadata')
      throw newNotAcceptable('you requested PartialObjectMetadata, but the requested object is a list', false)
    const tree: KubeObject =
      as === 'Table'
        ? tableOf(items, metadata, endpoint.rules, tableOptions(worker, version))
        : {
            kind: 'PartialObjectMetadataList',
            apiVersion: `meta.k8s.io/${version}`,
            metadata,
            items: metadataItems(endpoint, list.items, version),
          }
    return response(worker, 200, accepted, undefined, tree)
  }
  const listed = endpoint.info.definitionHash === undefined ? withoutKind : (item: KubeObject) => item
  const head = {
    kind: endpoint.info.listKind ?? `${endpoint.kind.kind}List`,
    apiVersion: formatGroupVersion(endpoint.kind),
    metadata,
  }
  if (accepted.serialization === 'protobuf')
    return encoded(worker, 200, accepted, encodeObjectList(head, items, endpoint.schema))
  if (accepted.serialization === 'json' && !accepted.pretty) {
    const texts = items.map((item) => encodeText(listed(item), endpoint.schema))
    const text = `${encodeUntyped(head as unknown as Json).slice(0, -1)},"items":[${texts.join(',')}]}`
    return response(worker, 200, accepted, text, {})
  }
  return response(worker, 200, accepted, undefined, { ...head, items: items.map(listed) })
}

/** Kubernetes shows a list of metadata that is empty as null. */
const metadataItems = ({ rules }: Endpoint, items: readonly KubeObject[], version: string): KubeObject[] | null =>
  items.length === 0 ? null : items.map((item) => partialObjectMetadata(item, version, rules))

const withoutKind = ({ kind: _kind, apiVersion: _apiVersion, ...rest }: KubeObject): KubeObject => rest

export const isStatus = (result: KubeObject | Status): result is Status =>
  result.kind === 'Status' && result.apiVersion === 'v1'

export function encodeStatus(worker: WorkerRequest, code: number, status: Status): EncodedResponse {
  return response(worker, code, acceptedOf(worker), undefined, status as unknown as KubeObject)
}

/** `text` is the JSON where it exists already; other forms are made of `tree`. */
function response(
  worker: WorkerRequest,
  status: number,
  accepted: AcceptedMediaType,
  text: string | undefined,
  tree: KubeObject,
): EncodedResponse {
  const { serialization, pretty } = accepted
  if (serialization === 'protobuf') return encoded(worker, status, accepted, encodeBuiltin(tree))
  const json = text ?? encodeUntyped(tree as unknown as Json)
  const shown =
    serialization === 'yaml' ? printYaml(tree as unknown as JsonObject) : `${pretty ? prettyPrint(json) : json}\n`
  return encoded(worker, status, accepted, new TextEncoder().encode(shown))
}

const encoded = (
  worker: WorkerRequest,
  status: number,
  { serialization }: AcceptedMediaType,
  body: Uint8Array,
): EncodedResponse => ({
  status,
  contentType: CONTENT_TYPES[serialization],
  warnings: worker.warnings,
  headers: [],
  body,
})

/** Indents JSON without touching its numbers: integers may be larger than JavaScript's. */
function prettyPrint(json: string): string {
  let text = ''
  let depth = 0
  let inString = false
  for (let i = 0; i < json.length; i++) {
    const c = json[i]!
    if (inString) {
      text += c
      if (c === '\\') text += json[++i]!
      else if (c === '"') inString = false
      continue
    }
    if (c === '"') inString = true
    if ((c === '{' || c === '[') && (json[i + 1] === '}' || json[i + 1] === ']')) {
      text += c + json[++i]!
    } else if (c === '{' || c === '[') text += `${c}\n${'  '.repeat(++depth)}`
    else if (c === '}' || c === ']') text += `\n${'  '.repeat(--depth)}${c}`
    else if (c === ',') text += `,\n${'  '.repeat(depth)}`
    else text += c === ':' ? ': ' : c
  }
  return text
}

function tableOptions(
  worker: WorkerRequest,
  version: string,
): { version: string; include: IncludeObject; nowMs: number } {
  const include = worker.query.get('includeObject') ?? ''
  if (!['', 'None', 'Metadata', 'Object'].includes(include))
    throw newBadRequest(`unrecognized includeObject value: ${JSON.stringify(include)}`)
  return { version, include: include === '' ? 'Metadata' : (include as IncludeObject), nowMs: worker.now() }
}
