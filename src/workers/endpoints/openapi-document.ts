/** Thread: pool. OpenAPI documents: made for each request, because nobody keeps asking for them. */
import { createHash } from 'node:crypto'
import { openApiV2Document } from '../../api/openapi/openapi-v2.js'
import { encodeOpenApiV2, OPENAPI_V2_PROTOBUF } from '../../api/openapi/openapi-v2-protobuf.js'
import { openApiV3Document, openApiV3Index } from '../../api/openapi/openapi-v3.js'
import { newGenericServerResponse } from '../../api/status.js'
import type { EncodedResponse, PoolTasks } from '../../protocol/main-pool.js'
import type { Scheme } from '../scheme/scheme.js'

const INDEX = '/openapi/v3'

/** Only version 2 is there as protobuf. */
export function openApiDocument(
  { path, form }: Parameters<PoolTasks['document']>[0],
  schemas: Scheme,
): EncodedResponse {
  const { catalogue } = schemas
  // Kubernetes names the index's type so, although it is JSON.
  if (path === INDEX) return encoded(openApiV3Index(catalogue), 'text/plain; charset=utf-8')
  if (path === '/openapi/v2') {
    const document = openApiV2Document(catalogue, schemas)
    return form === 'json'
      ? encoded(document, 'application/json')
      : encodedBody(encodeOpenApiV2(document), OPENAPI_V2_PROTOBUF)
  }
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

const encoded = (document: object, contentType: string): EncodedResponse =>
  encodedBody(Buffer.from(JSON.stringify(document)), contentType)

function encodedBody(body: Buffer, contentType: string): EncodedResponse {
  const etag = `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`
  return { status: 200, contentType, warnings: [], headers: ['ETag', etag, 'Vary', 'Accept'], body }
}
