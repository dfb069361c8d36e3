import t from 'tap'
import { openApiDocument } from '#keelson/workers/endpoints/openapi-document.js'
import { EndpointFixture } from '../../support/endpoint-fixture.js'

const { scheme } = new EndpointFixture()
const document = (path: string, form: 'json' | 'protobuf' = 'json') => openApiDocument({ path, form }, scheme)
const json = async (path: string): Promise<Record<string, unknown>> =>
  JSON.parse(Buffer.from((await document(path)).body).toString()) as Record<string, unknown>
const etag = ({ headers }: { readonly headers: readonly string[] }) => headers[headers.indexOf('ETag') + 1]

t.test('the index leads to a document for each group and version', async (t) => {
  t.equal((await document('/openapi/v3')).contentType, 'text/plain; charset=utf-8')
  const paths = (await json('/openapi/v3'))['paths'] as Record<string, { serverRelativeURL: string }>
  t.match(paths['api/v1']?.serverRelativeURL, /^\/openapi\/v3\/api\/v1\?hash=/)
  t.match(await json('/openapi/v3/api/v1'), { openapi: /^3\./ })
  t.match(await json('/openapi/v3/apis/apps/v1'), { openapi: /^3\./ })
})

t.test('version 2 is there in two forms', async (t) => {
  t.match(await json('/openapi/v2'), { swagger: '2.0' })
  const protobuf = await document('/openapi/v2', 'protobuf')
  t.match(protobuf.contentType, /protobuf/)
  t.ok(protobuf.body.length > 1000)
  t.not(etag(protobuf), etag(await document('/openapi/v2')))
})

t.test('equal documents have equal tags', async (t) => {
  t.match(etag(await document('/openapi/v3/api/v1')), /^"[0-9A-F]{128}"$/)
  t.equal(etag(await document('/openapi/v3/api/v1')), etag(await document('/openapi/v3/api/v1')))
  t.not(etag(await document('/openapi/v3/api/v1')), etag(await document('/openapi/v3/apis/apps/v1')))
})

t.test('there is no document of what is not served', async (t) => {
  for (const path of ['/openapi/v3/api/v2', '/openapi/v3/apis/nope/v1', '/openapi/v3/apis/apps', '/openapi/v3/x'])
    t.equal((await document(path)).status, 404, path)
})
