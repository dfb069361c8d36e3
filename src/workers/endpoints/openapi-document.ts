/** Thread: pool. OpenAPI documents: made for each request, because nobody keeps asking for them. */

import { createHash } from 'node:crypto'
import { goJson } from '../../api/managed-fields/go-json.js'
import type { Json } from '../../api/object.js'
import { openApiV2Document } from '../../api/openapi/openapi-v2.js'
import { encodeOpenApiV2, OPENAPI_V2_PROTOBUF } from '../../api/openapi/openapi-v2-protobuf.js'
import { openApiV3Document, openApiV3Index } from '../../api/openapi/openapi-v3.js'
import { newGenericServerResponse } from '../../api/status.js'
import type { EncodedResponse, PoolTasks } from '../../protocol/main-pool.js'
import type { Scheme } from '../scheme/scheme.js'

const INDEX = '/openapi/v3'

/** Lets other requests of the thread go on between the parts of a long document. */
const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Only version 2 exists as protobuf. */
export async function openApiDocument(
  { path, form }: Parameters<PoolTasks['document']>[0],
  schemas: Scheme,
): Promise<EncodedResponse> {
  const { catalogue } = schemas
  // Kubernetes gives the index this type, although it is JSON.
  if (path === INDEX) return encoded(openApiV3Index(catalogue), 'text/plain; charset=utf-8')
  if (path === '/openapi/v2') {
    const document = await openApiV2Document(catalogue, schemas, pause)
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
  encodedBody(Buffer.from(wholeNumbers(document)), contentType)

function encodedBody(body: Buffer, contentType: string): EncodedResponse {
  const etag = `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`
  return { status: 200, contentType, warnings: [], headers: ['ETag', etag, 'Vary', 'Accept'], body }
}

/** Defaults and enums of schemas may be integers beyond 2^53, which JSON.stringify refuses. */
function wholeNumbers(document: object): string {
  try {
    return JSON.stringify(document)
  } catch (error) {
    if (error instanceof TypeError) return goJson(document as Json)
    throw error
  }
}
