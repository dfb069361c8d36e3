import { spawnSync } from 'node:child_process'
import t, { type Test } from 'tap'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'
import { WatchClient } from '../support/watch-client.js'

interface Answer {
  kind: string
  metadata: { resourceVersion: string; name?: string; continue?: string; labels?: Record<string, string> }
  items: { kind?: string; metadata: { name: string } }[]
  data?: Record<string, string>
  reason?: string
}

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
})

async function lifeOfAConfigMap(t: Test, server: KeelsonProcess): Promise<void> {
  const created = await server.request('POST', CONFIGMAPS, configMap('a', { k: '1' }))
  t.equal(created.status, 201)
  const read = await server.request('GET', `${CONFIGMAPS}/a`)
  t.same(read.json, created.json, 'a read after the write gives what was written')
  const again = await server.request('POST', CONFIGMAPS, configMap('a'))
  t.equal((again.json as Answer).reason, 'AlreadyExists')
  const patched = await server.request(
    'PATCH',
    `${CONFIGMAPS}/a`,
    { data: { k: '2' } },
    { 'content-type': 'application/merge-patch+json' },
  )
  t.equal((patched.json as Answer).data?.['k'], '2')
  const list = (await server.request('GET', CONFIGMAPS)).json as Answer
  t.equal(list.kind, 'ConfigMapList')
  t.same(
    list.items.map((item) => [item.kind, item.metadata.name]),
    [[undefined, 'a']],
    'items carry no kind of their own',
  )
  const table = await server.request('GET', CONFIGMAPS, undefined, {
    accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
  })
  t.equal((table.json as Answer).kind, 'Table')
  const deleted = await server.request('DELETE', `${CONFIGMAPS}/a`)
  t.equal((deleted.json as Answer).kind, 'Status')
  t.equal((await server.request('GET', `${CONFIGMAPS}/a`)).status, 404)
}

async function pagesAndWatch(t: Test, server: KeelsonProcess): Promise<void> {
  const start = ((await server.request('GET', CONFIGMAPS)).json as Answer).metadata.resourceVersion
  for (let i = 0; i < 5; i++) await server.request('POST', CONFIGMAPS, configMap(`p${i}`))
  const first = (await server.request('GET', `${CONFIGMAPS}?limit=2`)).json as Answer
  await server.request('POST', CONFIGMAPS, configMap('p00'))
  const names = first.items.map((item) => item.metadata.name)
  let token = first.metadata.continue
  while (token !== undefined) {
    const page = (await server.request('GET', `${CONFIGMAPS}?limit=2&continue=${token}`)).json as Answer
    names.push(...page.items.map((item) => item.metadata.name))
    token = page.metadata.continue
  }
  t.same(names, ['p0', 'p1', 'p2', 'p3', 'p4'], 'pages show one state, whatever is written meanwhile')
  const told = ['ADDED p0', 'ADDED p1', 'ADDED p2', 'ADDED p3', 'ADDED p4', 'ADDED p00']
  const watcher = new WatchClient(server.url, `${CONFIGMAPS}?watch=true&resourceVersion=${start}`)
  await until(() => watcher.eventCount >= told.length, { what: 'the watcher to see all that was written' })
  t.same(
    watcher.events.map(({ type, name }) => `${type} ${name}`),
    told,
  )
  watcher.close()
}

t.test('on the embedded engine', async (t) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  await t.test('an object lives its life', (t) => lifeOfAConfigMap(t, server))
  await t.test('pages are consistent and a watch tells everything since', (t) => pagesAndWatch(t, server))
  await t.test('a large list is compressed for clients that ask for it, and is the same list', async (t) => {
    const value = 'x'.repeat(50_000)
    for (let i = 0; i < 4; i++) await server.request('POST', CONFIGMAPS, configMap(`large${i}`, { value }))
    // At one revision: the server itself writes leases meanwhile, and a list says at which revision it was.
    const { metadata } = (await server.request('GET', `${CONFIGMAPS}?limit=1`)).json as Answer
    const exact = `${CONFIGMAPS}?resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`
    const plain = await server.request('GET', exact, undefined, { 'accept-encoding': 'identity' })
    const compressed = await server.request('GET', exact, undefined, { 'accept-encoding': 'gzip' })
    t.equal(plain.headers.get('content-encoding'), null)
    t.equal(compressed.headers.get('content-encoding'), 'gzip')
    t.equal(compressed.text, plain.text)
  })
  await t.test('what was acknowledged is there after a kill', async (t) => {
    await server.request('POST', CONFIGMAPS, configMap('kept', { k: 'v' }))
    await server.stop('SIGKILL')
    const next = await KeelsonProcess.start([], server.dataDir)
    t.teardown(() => next.close())
    t.equal(((await next.request('GET', `${CONFIGMAPS}/kept`)).json as Answer).data?.['k'], 'v')
    t.equal(await next.stop('SIGTERM'), 0, 'and it ends in order when it is told to')
  })
})

t.test('on etcd', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const server = await KeelsonProcess.start([`--etcd-servers=${etcd.endpoint}`])
  t.teardown(() => server.close())
  await t.test('an object lives its life', (t) => lifeOfAConfigMap(t, server))
  await t.test('pages are consistent and a watch tells everything since', (t) => pagesAndWatch(t, server))
  await t.test('a second server on the same etcd sees every write at once', async (t) => {
    const peer = await KeelsonProcess.start([`--etcd-servers=${etcd.endpoint}`])
    t.teardown(() => peer.close())
    for (let i = 0; i < 20; i++) {
      await server.request('POST', CONFIGMAPS, configMap(`peer${i}`))
      t.equal((await peer.request('GET', `${CONFIGMAPS}/peer${i}`)).status, 200)
    }
  })
})

t.test('every wrong flag is reported at once, with the nearest name', async (t) => {
  const done = spawnSync(
    process.execPath,
    ['bundle/main/index.js', '--dta-dir=x', '--secure-port=abc', '--storage-backend=etcd2'],
    { encoding: 'utf8' },
  )
  t.equal(done.status, 1)
  t.match(done.stderr, 'did you mean --data-dir?')
  t.match(done.stderr, '--secure-port: "abc" is not a whole number')
  t.match(done.stderr, 'etcd2')
})

t.test('a second process on the same folder is told so', async (t) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  await t.rejects(KeelsonProcess.start([], server.dataDir), /in use|locked|another process|already/i)
})
