import t from 'tap'
import type { KubeObject } from '#keelson/api/object.js'
import { Cancellation } from '#keelson/lib/cancellation.js'
import { read } from '#keelson/workers/endpoints/read.js'
import { answered, EndpointFixture, refusal, type SentRequest } from '../../support/endpoint-fixture.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const get = (fixture: EndpointFixture, url: string, sent: SentRequest = {}) => read(fixture.worker('GET', url, sent))
const names = (list: KubeObject) => (list['items'] as KubeObject[]).map(({ metadata }) => metadata?.name)

async function withThree(): Promise<EndpointFixture> {
  const fixture = new EndpointFixture()
  for (const name of ['a', 'b', 'c'])
    await fixture.create(CONFIGMAPS, { metadata: { name, labels: { odd: String(name !== 'b') } } })
  return fixture
}

t.test('an object is read from its storage', async (t) => {
  const fixture = await withThree()
  const { status, object } = answered(await get(fixture, `${CONFIGMAPS}/a`))
  t.equal(status, 200)
  t.same(object, await fixture.stored(`${CONFIGMAPS}/a`))
  t.match(await refusal(get(fixture, `${CONFIGMAPS}/x`)), { code: 404 })
})

t.test('a version that is not there yet is a timeout; what is none is a bad request', async (t) => {
  const fixture = await withThree()
  t.match(await refusal(get(fixture, `${CONFIGMAPS}/a?resourceVersion=1000`)), { code: 504 })
  t.match(await refusal(get(fixture, `${CONFIGMAPS}/a?resourceVersion=x`)), { code: 400 })
})

t.test('lists are selected and paged', async (t) => {
  const fixture = await withThree()
  t.same(names(answered(await get(fixture, CONFIGMAPS)).object), ['a', 'b', 'c'])
  t.same(names(answered(await get(fixture, `${CONFIGMAPS}?labelSelector=odd%3Dtrue`)).object), ['a', 'c'])
  t.same(names(answered(await get(fixture, `${CONFIGMAPS}?fieldSelector=metadata.name%3Db`)).object), ['b'])
  const first = answered(await get(fixture, `${CONFIGMAPS}?limit=2`)).object
  t.same(names(first), ['a', 'b'])
  t.match(first.metadata, { remainingItemCount: 1 })
  const token = encodeURIComponent(String((first.metadata as { continue?: string }).continue))
  t.same(names(answered(await get(fixture, `${CONFIGMAPS}?limit=2&continue=${token}`)).object), ['c'])
})

t.test('a selector that cannot be read, or names no field, is a bad request', async (t) => {
  const fixture = await withThree()
  for (const query of ['labelSelector=a%3D%3D%3Db', 'fieldSelector=data.k%3Dv', 'continue=nonsense'])
    t.match(await refusal(get(fixture, `${CONFIGMAPS}?${query}`)), { code: 400 }, query)
})

t.test('what cannot be shown is not read', async (t) => {
  const fixture = await withThree()
  fixture.kv.calls.length = 0
  t.match(await refusal(get(fixture, CONFIGMAPS, { accept: 'text/html' })), { code: 406 })
  t.same(fixture.kv.calls, [])
})

t.test('a handler reads in place of the store', async (t) => {
  const fixture = new EndpointFixture()
  const scale = '/api/v1/namespaces/default/replicationcontrollers/r/scale'
  const spec = {
    replicas: 2,
    selector: { a: 'b' },
    template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  }
  await fixture.create('/api/v1/namespaces/default/replicationcontrollers', { metadata: { name: 'r' }, spec })
  t.match(answered(await get(fixture, scale)).object, {
    kind: 'Scale',
    spec: { replicas: 2 },
    status: { selector: 'a=b' },
  })
})

t.test('the storage is told when nobody waits any longer', async (t) => {
  const fixture = await withThree()
  const signal = new Cancellation()
  let seen: unknown
  const { memory } = fixture
  const plain = memory.get.bind(memory)
  t.intercept(memory, 'get', {
    value: (key: string, options?: { signal?: unknown }) => {
      seen = options?.signal
      return plain(key)
    },
  })
  await get(fixture, `${CONFIGMAPS}/a`, { signal })
  t.equal(seen, signal)
})
