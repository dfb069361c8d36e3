/** Thread: pool. OpenAPI documents: made for each request, because nobody keeps asking for them. */
import { createHash } from 'node:crypto'
import { openApiV2Document } from '../api/openapi-v2.js'
import { openApiV3Document, openApiV3Index } from '../api/openapi-v3.js'
import { newGenericServerResponse } from '../api/status.js'
import type { EncodedResponse } from '../protocol/main-pool.js'
import type { Scheme } from './scheme.js'

const INDEX = '/openapi/v3'

export function openApiDocument(path: string, schemas: Scheme): EncodedResponse {
  const { catalogue } = schemas
  // Kubernetes names the index's type so, although it is JSON.
  if (path === INDEX) return encoded(openApiV3Index(catalogue), 'text/plain; charset=utf-8')
  if (path === '/openapi/v2') return encoded(openApiV2Document(catalogue, schemas), 'application/json')
  const [root, first = '', second = ''] = path.slice(INDEX.length + 1).split('/')
  const document =
    root === 'api'
      ? openApiV3Document(catalogue, schemas, '', first)
      : openApiV3Document(catalogue, schemas, first, second)
  if (document === undefined) {
    const { status } = newGenericServerResponse(404)
    return {
      status: 404,
      contentType: 'application/json',
      warnings: [],
      headers: [],
      body: Buffer.from(JSON.stringify(status)),
    }
  }
  return encoded(document, 'application/json')
}

function encoded(document: object, contentType: string): EncodedResponse {
  const body = Buffer.from(JSON.stringify(document))
  const etag = `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`
  return { status: 200, contentType, warnings: [], headers: ['ETag', etag, 'Vary', 'Accept'], body }
}
