/** Thread: main, or a front end's own. OpenAPI, made by the pool: version 2 as JSON or protobuf, version 3 as JSON. */
import { firstOffered } from '../../api/media-type.js'
import { OPENAPI_V2_PROTOBUF, OPENAPI_V2_PROTOBUF_OLD } from '../../api/openapi/openapi-v2-protobuf.js'
import { newNotAcceptable } from '../../api/status.js'
import { lookupTable } from '../../lib/lookup-table.js'
import type { Exchange } from '../http/exchange.js'
import { respondEncoded } from '../http/respond-encoded.js'
import { writeStatus } from '../http/write-status.js'
import type { PoolRunner } from '../threads/pool.js'
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

export function installOpenApi(paths: NonResourcePaths, pool: PoolRunner): void {
  const document = async (exchange: Exchange, path: string, form: 'json' | 'protobuf'): Promise<void> =>
    await respondEncoded(exchange, await pool.run('document', { path, form }))
  paths.exact(V2, async (exchange) => {
    const form = firstOffered(exchange.head.accept, V2_FORMS)
    if (form === undefined)
      writeStatus(exchange, newNotAcceptable(`only ${Object.keys(V2_FORMS).slice(2).join(', ')} are there`).status)
    else await document(exchange, V2, form)
  })
  paths.exact(V3, (exchange) => document(exchange, V3, 'json'))
  paths.below(`${V3}/`, async (exchange, _query, rest) => {
    const found = await pool.run('document', { path: `${V3}/${rest}`, form: 'json' })
    // A group that is not there is not worth a word.
    if (found.status === 404) exchange.respond({ status: 404, contentType: '' }, '')
    else await respondEncoded(exchange, found)
  })
}
