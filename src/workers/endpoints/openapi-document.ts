/** Thread: pool. OpenAPI documents, made when they are asked for; whoever asks keeps them (main/paths/kept-swagger.ts). */

import { createHash } from 'node:crypto'
import { goJson } from '../../api/managed-fields/go-json.js'
import { isJsonObject, type Json, type JsonObject } from '../../api/object.js'
import { openApiV2Document } from '../../api/openapi/openapi-v2.js'
import { mergedSwagger, type SwaggerDocument, SwaggerError } from '../../api/openapi/openapi-v2-merge.js'
import { encodeOpenApiV2, OPENAPI_V2_PROTOBUF } from '../../api/openapi/openapi-v2-protobuf.js'
import { openApiV3Document, openApiV3Index } from '../../api/openapi/openapi-v3.js'
import { newGenericServerResponse } from '../../api/status.js'
import type { DocumentRequest, DocumentResponse, EncodedResponse, SwaggerSource } from '../../protocol/main-pool.js'
import type { Scheme } from '../scheme/scheme.js'

const INDEX = '/openapi/v3'

/** Lets other requests of the thread go on between the parts of a long document. */
const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Only version 2 exists as protobuf. */
export async function openApiDocument(
  { path, form, others = [] }: DocumentRequest,
  schemas: Scheme,
): Promise<DocumentResponse> {
  const { catalogue } = schemas
  // Kubernetes gives the index this type, although it is JSON.
  if (path === INDEX) return encoded(openApiV3Index(catalogue), 'text/plain; charset=utf-8')
  if (path === '/openapi/v2') {
    const index = etagOf(Buffer.from(wholeNumbers(openApiV3Index(catalogue))))
    const own = await openApiV2Document(catalogue, schemas, pause)
    const whole = withOthers(own, others, (document) => printedV2(document, form))
    return { ...whole, index }
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

const printedV2 = (document: object, form: 'json' | 'protobuf'): EncodedResponse =>
  form === 'json' ? encoded(document, 'application/json') : encodedBody(encodeOpenApiV2(document), OPENAPI_V2_PROTOBUF)

/** Documents of other servers that cannot be used are left out, each for itself. */
function withOthers(
  own: SwaggerDocument,
  others: readonly SwaggerSource[],
  print: (document: object) => EncodedResponse,
): EncodedResponse {
  let merged = own
  for (const { prefixes, body } of others) {
    try {
      const document: unknown = JSON.parse(Buffer.from(body).toString())
      if (isJsonObject(document as Json)) merged = mergedSwagger(merged, { prefixes, document: document as JsonObject })
    } catch (error) {
      if (!(error instanceof SyntaxError) && !(error instanceof SwaggerError)) throw error
    }
  }
  if (merged === own) return print(own)
  try {
    return print(merged)
  } catch (error) {
    // What another server says may be no schema at all, which the form has no place for.
    if (error instanceof TypeError || error instanceof RangeError) return print(own)
    throw error
  }
}

const encoded = (document: object, contentType: string): EncodedResponse =>
  encodedBody(Buffer.from(wholeNumbers(document)), contentType)

function encodedBody(body: Buffer, contentType: string): EncodedResponse {
  return { status: 200, contentType, warnings: [], headers: ['ETag', etagOf(body), 'Vary', 'Accept'], body }
}

const etagOf = (body: Uint8Array): string => `"${createHash('sha512').update(body).digest('hex').toUpperCase()}"`

/** Defaults and enums of schemas may be integers beyond 2^53, which JSON.stringify refuses. */
function wholeNumbers(document: object): string {
  try {
    return JSON.stringify(document)
  } catch (error) {
    if (error instanceof TypeError) return goJson(document as Json)
    throw error
  }
}
