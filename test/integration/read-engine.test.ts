import t, { type Test } from 'tap'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'
import { WatchClient } from '../support/watch-client.js'
import { WithholdingProxy } from '../support/withholding-proxy.js'

// What a read means is the same whatever form it is asked for in, and whichever cluster holds it.

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const SECRETS = '/api/v1/namespaces/default/secrets'
const YAML = { accept: 'application/yaml' }
const DEADLINE_MS = 20_000

interface Metadata {
  readonly name: string
  readonly resourceVersion: string
  readonly continue?: string
}
interface Listed {
  readonly metadata: Metadata
  readonly items: readonly { readonly metadata: Metadata }[]
}

async function open(t: Test, flags: readonly string[] = []): Promise<KeelsonProcess> {
  const server = await KeelsonProcess.start(flags)
  t.teardown(() => server.close())
  return server
}

async function openEtcd(t: Test): Promise<EtcdServer> {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  return etcd
}

function watching(t: Test, server: KeelsonProcess, target: string): WatchClient {
  const client = new WatchClient(server.url, target)
  t.teardown(() => client.close())
  return client
}

const soon = (what: string, condition: () => boolean | Promise<boolean>): Promise<void> =>
  until(condition, { what, deadlineMs: DEADLINE_MS })

async function put(server: KeelsonProcess, name: string, at = CONFIGMAPS, labels = {}, data = ''): Promise<number> {
  const kind = at === SECRETS ? 'Secret' : 'ConfigMap'
  const body = { apiVersion: 'v1', kind, metadata: { name, labels }, ...(at === SECRETS ? {} : { data: { data } }) }
  const created = await server.request('POST', at, body)
  const annotated = { ...body, metadata: { name, labels, annotations: { at: String(Math.random()) } } }
  const answer = created.status === 409 ? await server.request('PUT', `${at}/${name}`, annotated) : created
  if (answer.status > 201) throw new Error(answer.text)
  return Number((answer.json as { metadata: Metadata }).metadata.resourceVersion)
}

async function kvPut(etcd: EtcdServer, key: string, value: string, lease?: string): Promise<number> {
  const b64 = (text: string): string => Buffer.from(text).toString('base64')
  const answer = await post(etcd, 'kv/put', {
    key: b64(key),
    value: b64(value),
    ...(lease === undefined ? {} : { lease }),
  })
  return Number((answer['header'] as { revision: string }).revision)
}

async function post(etcd: EtcdServer, call: string, body: object): Promise<Record<string, unknown>> {
  const answer = await fetch(`${etcd.endpoint}/v3/${call}`, { method: 'POST', body: JSON.stringify(body) })
  return (await answer.json()) as Record<string, unknown>
}

t.test('one server in memory', async (t) => {
  const server = await open(t, ['--data-dir=memory'])
  for (const name of ['a', 'b', 'c']) await put(server, name, CONFIGMAPS, name === 'a' ? { app: 'x' } : {})

  await t.test('JSON and YAML give the same token, while any key follows', async (t) => {
    const query = `${CONFIGMAPS}?limit=1&labelSelector=app%3Dx`
    const json = (await server.request('GET', query)).json as Listed
    const yaml = await server.request('GET', query, undefined, YAML)
    t.ok(json.metadata.continue, 'no other object matches, but keys follow')
    t.match(yaml.text, `continue: ${json.metadata.continue}`)
  })

  await t.test('resourceVersion=0 gives everything, whatever the limit, in JSON and in YAML', async (t) => {
    const query = `${CONFIGMAPS}?limit=1&resourceVersion=0`
    const json = (await server.request('GET', query)).json as Listed
    t.equal(json.items.length, 3)
    t.equal(json.metadata.continue, undefined)
    const yaml = await server.request('GET', query, undefined, YAML)
    t.equal(yaml.text.match(/^ {4}name: /gm)?.length, 3)
  })

  await t.test('a token, or an exact list, one revision ahead of the clock waits for it', async (t) => {
    const list = (await server.request('GET', `${CONFIGMAPS}?limit=1`)).json as Listed
    const token = JSON.parse(Buffer.from(list.metadata.continue!, 'base64url').toString()) as { rv: number }
    const ahead = Buffer.from(JSON.stringify({ ...token, rv: token.rv + 1 })).toString('base64url')
    const queries = [`continue=${ahead}`, `resourceVersion=${token.rv + 1}`]
    const answers = Promise.all(
      queries.flatMap((query) => [
        server.request('GET', `${CONFIGMAPS}?limit=1&${query}`),
        server.request('GET', `${CONFIGMAPS}?limit=1&${query}`, undefined, YAML),
      ]),
    )
    await put(server, 'd')
    for (const { status } of await answers) t.equal(status, 200)
  })

  await t.test('a watch from a revision that is not there yet stops nobody and says nothing', async (t) => {
    const revision = await put(server, 'e')
    const future = watching(t, server, `${CONFIGMAPS}?watch=1&resourceVersion=${revision + 2}&allowWatchBookmarks=true`)
    const far = watching(t, server, `${CONFIGMAPS}?watch=1&resourceVersion=999999`)
    await soon('the first watches', () => future.started && far.started)
    const now = watching(t, server, `${CONFIGMAPS}?watch=1&resourceVersion=${revision}`)
    await soon('the third watch', () => now.started)
    t.equal((await server.request('GET', '/api/v1/namespaces/default')).status, 200)
    for (const name of ['f', 'g', 'h']) await put(server, name)
    await soon('three events', () => now.eventCount === 3)
    // The server writes for itself too, so that nobody knows which of the three come after that revision.
    const later = now.events.filter((event) => event.revision > revision + 2)
    await soon('what came after the revision it asked for', () => future.eventCount >= later.length)
    t.same(future.events, later)
    t.equal(far.eventCount, 0)
  })

  await t.test('timeoutSeconds=0 is as good as not given; a month is no moment', async (t) => {
    const watches = [0, 3_000_000, 9_223_372_036].map((seconds) =>
      watching(t, server, `${CONFIGMAPS}?watch=1&resourceVersion=0&timeoutSeconds=${seconds}`),
    )
    await soon('the watches', () => watches.every(({ eventCount }) => eventCount >= 8))
    await put(server, 'last')
    await soon('an event on each', () => watches.every(({ events }) => events.at(-1)?.name === 'last'))
    t.notOk(watches.some(({ closed }) => closed))
  })
})

t.test('resources of another cluster have its clock and its fence', { skip: skipWithoutEtcd }, async (t) => {
  const [first, second] = [await openEtcd(t), await openEtcd(t)]
  const flags = [`--etcd-servers=${first.endpoint}`, `--etcd-servers-overrides=/configmaps#${second.endpoint}`]
  const server = await open(t, flags)
  const behaves = async (t: Test): Promise<void> => {
    const created = await put(server, 'x')
    const watch = watching(t, server, `${CONFIGMAPS}?watch=1&resourceVersion=${created}`)
    const state = watching(t, server, `${CONFIGMAPS}?watch=1`)
    await soon('the watches', () => watch.started && state.eventCount > 0)
    for (let i = 0; i < 20; i++) {
      const written = await put(server, 'x')
      const read = (await server.request('GET', `${CONFIGMAPS}/x`)).json as { metadata: Metadata }
      t.equal(Number(read.metadata.resourceVersion), written, 'a consistent read has what was acknowledged')
    }
    const last = await put(server, 'y')
    await soon('the events', () => watch.events.at(-1)?.revision === last && state.events.at(-1)?.revision === last)
    t.equal(watch.eventCount, 21)
    const get = (query: string) => server.request('GET', `${CONFIGMAPS}?${query}`)
    t.equal((await get(`resourceVersion=${last}`)).status, 200, 'not older than its own revision')
    const exact = (await get(`resourceVersion=${created}&resourceVersionMatch=Exact`)).json as Listed
    t.equal(exact.items.find(({ metadata }) => metadata.name === 'x')?.metadata.resourceVersion, String(created))
    const page = (await get('limit=1')).json as Listed
    await put(server, 'x')
    const rest = (await get(`limit=5&continue=${page.metadata.continue}`)).json as Listed
    t.equal(rest.metadata.resourceVersion, page.metadata.resourceVersion, 'a token goes on at its own revision')
    watch.close()
    state.close()
  }
  await t.test('while the first cluster is ahead', behaves)
  await t.test('while the second cluster is ahead', async (t) => {
    for (let i = 0; i < 400; i++) await kvPut(second, '/elsewhere', String(i))
    await behaves(t)
    t.equal((await server.request('GET', '/api/v1/namespaces')).status, 200)
  })
})

t.test('a revision of a key that nobody here watches is reached', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await openEtcd(t)
  const server = await open(t, [`--etcd-servers=${etcd.endpoint}`])
  for (const query of ['', '&resourceVersionMatch=NotOlderThan']) {
    const revision = await kvPut(etcd, '/elsewhere', 'x')
    const { status } = await server.request('GET', `/api/v1/namespaces?resourceVersion=${revision}${query}`)
    t.equal(status, 200)
    const one = await kvPut(etcd, '/elsewhere', 'y')
    t.equal((await server.request('GET', `/api/v1/namespaces/default?resourceVersion=${one}`)).status, 200)
  }
})

t.test('with etcd cut off nothing is called consistent', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await openEtcd(t)
  const proxy = await WithholdingProxy.start(etcd.port)
  t.teardown(() => proxy.close())
  const server = await open(t, [`--etcd-servers=http://127.0.0.1:${proxy.port}`])
  await put(server, 'old')
  const atHand = () => server.request('GET', `${CONFIGMAPS}/old?resourceVersion=0`)
  await soon('memory to have it', async () => (await atHand()).status === 200)
  proxy.withhold()
  const options = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
  const watch = watching(t, server, `${CONFIGMAPS}?watch=1&${options}`)
  t.equal((await server.request('GET', `${CONFIGMAPS}/old`)).status, 504)
  t.same(
    watch.events.filter(({ type }) => type !== 'ERROR'),
    [],
    'no state, and no bookmark that says that it is whole',
  )
  t.equal((await atHand()).status, 200, 'what is at hand is given to who asks for no more')
})

t.test('a watcher that parks within a revision misses nothing of it', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await openEtcd(t)
  const server = await open(t, [`--etcd-servers=${etcd.endpoint}`])
  const count = 400
  const watch = watching(t, server, '/api/v1/namespaces/default/events?watch=1')
  await soon('the watch', () => watch.started)
  const { ID: lease } = (await post(etcd, 'lease/grant', { TTL: '600' })) as { ID: string }
  for (let i = 0; i < count; i++) {
    const metadata = { name: `e${i}`, namespace: 'default', uid: `u${i}`, creationTimestamp: '2024-01-01T00:00:00Z' }
    const object = { kind: 'Event', apiVersion: 'v1', metadata, involvedObject: {}, message: 'm'.repeat(30_000) }
    await kvPut(etcd, `/registry/events/default/e${i}`, JSON.stringify(object), lease)
  }
  await soon('all of them', () => watch.eventCount === count)
  watch.pause()
  await post(etcd, 'kv/lease/revoke', { ID: lease })
  await soon('the deletions', async () => {
    const list = (await server.request('GET', '/api/v1/namespaces/default/events')).json as Listed
    return list.items.length === 0
  })
  watch.resume()
  await soon('every deletion', () => watch.eventCount === 2 * count)
  t.equal(new Set(watch.events.filter(({ type }) => type === 'DELETED').map(({ name }) => name)).size, count)
})
