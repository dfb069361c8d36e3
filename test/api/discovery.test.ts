import t from 'tap'
import { Catalogue } from '#keelson/api/catalogue.js'
import { type DiscoveryDocument, DiscoveryDocuments } from '#keelson/api/discovery.js'
import { recordedSuite } from '../support/recordings/recording.js'

const documents = new DiscoveryDocuments(Catalogue.builtin().servedByDefault())
const read = (document: DiscoveryDocument | undefined): unknown =>
  document === undefined ? undefined : JSON.parse(document.body.toString())

t.test('documents name what is served', (t) => {
  t.match(read(documents.apiVersions('10.0.0.1:6443')), {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '10.0.0.1:6443' }],
  })
  t.match(read(documents.apiGroup('autoscaling')), { preferredVersion: { version: 'v2' } })
  t.equal(documents.apiGroup('example.com'), undefined)
  t.equal(documents.apiResourceList('apps', 'v1beta1'), undefined)
  t.equal(documents.apiGroup('internal.apiserver.k8s.io'), undefined, 'alpha is not served by default')
  t.end()
})

t.test('the ETag changes when what is served changes', (t) => {
  const all = new DiscoveryDocuments(Catalogue.builtin())
  t.match(documents.aggregated('apis').etag, /^"[0-9A-F]{128}"$/)
  t.equal(documents.aggregated('apis').etag, documents.aggregated('apis').etag)
  t.not(documents.aggregated('apis').etag, all.aggregated('apis').etag)
  t.end()
})

t.test("kube-apiserver's documents", (t) => {
  /** Hashes are masked in the recording. */
  const masked = (value: unknown): unknown =>
    JSON.parse(JSON.stringify(value), (key, v: unknown) => (key === 'storageVersionHash' ? '<hash>' : v))
  let compared = 0
  for (const { id = '', want } of recordedSuite('discovery').steps) {
    const match = /^GET \/apis?(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(id)
    let mine: unknown
    if (id === 'agg-api') mine = read(documents.aggregated('api'))
    else if (id === 'agg-apis') mine = read(documents.aggregated('apis'))
    else if (id === 'GET /api') mine = read(documents.apiVersions('127.0.0.1:7443'))
    else if (id === 'GET /apis') mine = read(documents.apiGroupList())
    else if (id === 'GET /api/v1') mine = read(documents.apiResourceList('', 'v1'))
    else if (match?.[2] !== undefined) mine = read(documents.apiResourceList(match[1]!, match[2]))
    else if (match?.[1] !== undefined) mine = read(documents.apiGroup(match[1]))
    else continue
    compared++
    t.strictSame(masked(mine), want?.body, id)
  }
  t.ok(compared > 25)
  t.end()
})
