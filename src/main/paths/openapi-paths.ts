/** Thread: main, or a front end's own. OpenAPI, made by the pool: version 2 as JSON or protobuf, version 3 as JSON. */
import { firstOffered } from '../../api/media-type.js'
import { OPENAPI_V2_PROTOBUF, OPENAPI_V2_PROTOBUF_OLD } from '../../api/openapi/openapi-v2-protobuf.js'
import { newNotAcceptable } from '../../api/status.js'
import { lookupTable } from '../../lib/lookup-table.js'
import type { EncodedResponse, SwaggerSource } from '../../protocol/main-pool.js'
import type { RemoteDocument } from '../aggregation/remote-documents.js'
import type { Exchange } from '../http/exchange.js'
import { respondEncoded } from '../http/respond-encoded.js'
import { writeStatus } from '../http/write-status.js'
import type { PoolRunner } from '../threads/pool.js'
import { KeptSwagger } from './kept-swagger.js'
import type { NonResourcePaths } from './non-resource-paths.js'

const V2 = '/openapi/v2'
const V3 = '/openapi/v3'
const V2_FORMS: Readonly<Record<string, 'json' | 'protobuf'>> = lookupTable<'json' | 'protobuf'>({
  '*/*': 'json',
  'application/*': 'json',
  'application/json': 'json',
  [OPENAPI_V2_PROTOBUF]: 'protobuf',
  [OPENAPI_V2_PROTOBUF_OLD]: 'protobuf',
})

/** The documents of extension API servers. */
export interface RemoteOpenApi {
  openapiPaths(): [string, string][]
  openapi(groupVersion: string, query: string): Promise<RemoteDocument> | undefined
  swagger(): Promise<SwaggerSource[]>
}

export function installOpenApi(paths: NonResourcePaths, pool: PoolRunner, remotes: RemoteOpenApi): void {
  const document = async (exchange: Exchange, path: string, form: 'json' | 'protobuf'): Promise<void> =>
    await respondEncoded(exchange, await pool.run('document', { path, form }))
  const swagger = new KeptSwagger(pool, () => remotes.swagger())
  paths.exact(V2, async (exchange) => {
    const form = firstOffered(exchange.head.accept, V2_FORMS)
    if (form === undefined)
      writeStatus(exchange, newNotAcceptable(`only ${Object.keys(V2_FORMS).slice(2).join(', ')} are there`).status)
    else await respondUnlessKnown(exchange, await swagger.document(form))
  })
  paths.exact(V3, async (exchange) => {
    const others = remotes.openapiPaths()
    if (others.length === 0) {
      await document(exchange, V3, 'json')
      return
    }
    const own = await pool.run('document', { path: V3, form: 'json' })
    exchange.respond({ status: 200, contentType: 'application/json' }, mergedIndex(own.body, others))
  })
  paths.below(`${V3}/`, async (exchange, query, rest) => {
    const asked = remotes.openapi(rest, query.toString())
    if (asked !== undefined) {
      const { status, contentType, etag, body } = await asked.catch(unavailable)
      exchange.respond({ status, contentType, headers: etag === '' ? [] : ['ETag', etag] }, body)
      return
    }
    const found = await pool.run('document', { path: `${V3}/${rest}`, form: 'json' })
    // The 404 of an unknown group has no body, as in Kubernetes.
    if (found.status === 404) exchange.respond({ status: 404, contentType: '' }, '')
    else await respondEncoded(exchange, found)
  })
}

/** Clients keep this document for long, and ask by its ETag whether it is the same. */
async function respondUnlessKnown(exchange: Exchange, document: EncodedResponse): Promise<void> {
  const etag = document.headers[document.headers.indexOf('ETag') + 1]
  if (etag !== undefined && exchange.head.ifNoneMatch === etag)
    exchange.respond({ status: 304, contentType: document.contentType, headers: ['ETag', etag] }, '')
  else await respondEncoded(exchange, document)
}

/** The index with the documents of other servers in it, whose hashes are their own. */
function mergedIndex(own: Uint8Array, others: readonly [string, string][]): string {
  const index = JSON.parse(Buffer.from(own).toString()) as { paths: Record<string, { serverRelativeURL: string }> }
  const all = new Map(Object.entries(index.paths))
  for (const [groupVersion, serverRelativeURL] of others) all.set(groupVersion, { serverRelativeURL })
  return JSON.stringify({ ...index, paths: Object.fromEntries([...all].sort(([a], [b]) => (a < b ? -1 : 1))) })
}

const unavailable = (error: unknown): RemoteDocument => ({
  status: 503,
  contentType: 'text/plain; charset=utf-8',
  etag: '',
  body: Buffer.from(`error trying to reach service: ${error instanceof Error ? error.message : String(error)}\n`),
})
