import t, { type Test } from 'tap'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'
import { WatchClient } from '../support/watch-client.js'

// Watches of what memory does not hold.

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1'
const PROTOBUF = 'application/vnd.kubernetes.protobuf'

async function write(
  server: KeelsonProcess,
  name: string,
  { labels = {}, data = '' }: { readonly labels?: Record<string, string>; readonly data?: string } = {},
): Promise<number> {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data: { data } }
  const created = await server.request('POST', CONFIGMAPS, body)
  const answer = created.status === 409 ? await server.request('PUT', `${CONFIGMAPS}/${name}`, body) : created
  if (answer.status !== 201 && answer.status !== 200) throw new Error(answer.text)
  return Number((answer.json as { metadata: { resourceVersion: string } }).metadata.resourceVersion)
}

/** The bytes of a watch in another form, until there are enough. */
async function watched(
  server: KeelsonProcess,
  accept: string,
  query: string,
  enough: (text: Buffer) => boolean,
): Promise<Buffer> {
  const abort = new AbortController()
  const response = await fetch(`${server.url}${CONFIGMAPS}?watch=1&${query}`, {
    headers: { accept },
    signal: abort.signal,
  })
  t.equal(response.status, 200)
  let text: Buffer = Buffer.alloc(0)
  for await (const chunk of response.body!) {
    text = Buffer.concat([text, chunk as Uint8Array])
    if (enough(text)) break
  }
  abort.abort()
  return text
}

const seen = (client: WatchClient): string[] => client.events.map(({ type, name }) => `${type} ${name}`)

async function behaves(t: Test, server: KeelsonProcess): Promise<void> {
  const open = (query: string): WatchClient => {
    const client = new WatchClient(server.url, `${CONFIGMAPS}?watch=true&${query}`)
    t.teardown(() => client.close())
    return client
  }
  const first = await write(server, 'a', { labels: { app: 'x' } })
  await write(server, 'b')

  const state = open('')
  const chosen = open('labelSelector=app=x')
  const after = open(`resourceVersion=${first}`)
  const named = open(`resourceVersion=${first}&fieldSelector=metadata.name=b`)
  const initial = open(
    'sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion=',
  )
  const clients = [state, chosen, after, named, initial]
  await until(() => clients.every((client) => client.started), { what: 'every watch to start' })
  await write(server, 'c', { labels: { app: 'x' } })
  await write(server, 'a')
  await server.request('DELETE', `${CONFIGMAPS}/b`)
  await write(server, 'end', { labels: { app: 'x' } })
  await until(() => [state, chosen, after, initial].every((client) => seen(client).includes('ADDED end')), {
    what: 'every watch to see the last object',
  })
  await until(() => named.eventCount === 2, { what: 'two events of the named object' })
  t.same(seen(state), ['ADDED a', 'ADDED b', 'ADDED c', 'MODIFIED a', 'DELETED b', 'ADDED end'], 'from nothing')
  t.same(seen(chosen), ['ADDED a', 'ADDED c', 'DELETED a', 'ADDED end'], 'with a selector')
  t.same(seen(after), ['ADDED b', 'ADDED c', 'MODIFIED a', 'DELETED b', 'ADDED end'], 'from a revision')
  t.same(seen(named), ['ADDED b', 'DELETED b'], 'of one name')
  t.same(
    seen(initial)
      .filter((event) => event !== 'BOOKMARK ')
      .join(),
    'ADDED a,ADDED b,ADDED c,MODIFIED a,DELETED b,ADDED end',
  )
  t.equal(seen(initial)[2], 'BOOKMARK ', 'the end of the state is told')

  const table = await watched(server, TABLE, '', (text) => text.includes('"end"') && text.at(-1) === 10)
  const tables = table
    .toString()
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as { object: { kind: string; columnDefinitions: unknown[] | null } })
  t.equal(tables[0]!.object.columnDefinitions?.length, 3, 'columns come with the first row')
  t.ok(tables.slice(1).every(({ object }) => object.kind === 'Table' && object.columnDefinitions === null))
  const protobuf = await watched(server, PROTOBUF, 'resourceVersion=0', (text) => text.includes('end'))
  t.ok(protobuf.includes('k8s\0'), 'in protobuf')

  const short = await fetch(`${server.url}${CONFIGMAPS}?watch=1&timeoutSeconds=1`)
  t.match(await short.text(), /"end"/, 'ends when its time is over')
  const wrong = await server.request('GET', `${CONFIGMAPS}?watch=1&resourceVersion=x`)
  t.equal(wrong.status, 500, 'a revision that is none is told as it is for other watches')
}

async function parks(t: Test, server: KeelsonProcess): Promise<void> {
  const from = await write(server, 'before')
  const target = `${CONFIGMAPS}?watch=true&resourceVersion=${from}`
  const slow = new WatchClient(server.url, target)
  const fast = new WatchClient(server.url, target)
  t.teardown(() => {
    slow.close()
    fast.close()
  })
  await until(() => slow.started && fast.started, { what: 'both watches to start' })
  slow.pause()
  const data = 'x'.repeat(400_000)
  const names: string[] = []
  for (let i = 0; i < 40; i++) {
    names.push(`large-${i}`)
    await write(server, `large-${i}`, { data })
  }
  await until(() => fast.eventCount === names.length, { what: 'the fast watch to see everything' })
  t.pass('who reads is not delayed by who does not')
  slow.resume()
  await until(() => slow.eventCount === names.length || slow.closed, {
    what: 'the slow watch to see everything or to end',
  })
  t.same(
    slow.events.map(({ name }) => name),
    names,
    'and who was slow misses nothing',
  )
}

const started = async (t: Test, flags: readonly string[]): Promise<KeelsonProcess> => {
  const server = await KeelsonProcess.start(flags)
  t.teardown(() => server.close())
  return server
}

t.test('embedded, one resource without a cache', async (t) => {
  const server = await started(t, ['--watch-cache-sizes=configmaps#0'])
  await behaves(t, server)
  await parks(t, server)
})

t.test('embedded, no cache, from a front end in a thread of its own', async (t) => {
  await behaves(t, await started(t, ['--watch-cache=false', '--front-ends=2']))
})

t.test('etcd, no cache', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const server = await started(t, ['--watch-cache=false', `--etcd-servers=${etcd.endpoint}`])
  await behaves(t, server)
  await parks(t, server)
})

t.test('a resource that falls back to its storage while it is watched', async (t) => {
  const server = await started(t, ['--cache-memory-limit=4Mi'])
  const from = await write(server, 'before')
  const names: string[] = []
  let revision = from
  let client = new WatchClient(server.url, `${CONFIGMAPS}?watch=true&resourceVersion=${revision}`)
  t.teardown(() => client.close())
  const written: string[] = []
  let connections = 1
  /** What has come so far; the watch is opened again from there when it has ended. */
  const take = (): void => {
    let ended = client.closed
    for (const event of client.events.slice(taken)) {
      taken++
      if (event.type === 'ERROR') {
        t.equal(event.code, 410)
        ended = true
        continue
      }
      names.push(event.name)
      revision = event.revision
    }
    if (!ended) return
    client.close()
    connections++
    taken = 0
    client = new WatchClient(server.url, `${CONFIGMAPS}?watch=true&resourceVersion=${revision}`)
  }
  let taken = 0
  const data = 'x'.repeat(400_000)
  for (let i = 0; i < 30; i++) {
    written.push(`large-${i}`)
    await write(server, `large-${i}`, { data })
  }
  await until(
    () => {
      take()
      return names.length >= written.length
    },
    { what: 'every write to be seen' },
  )
  t.same(names, written, 'nothing is missing, nothing comes twice')
  t.ok(connections > 1, 'memory was given up')
  const { text } = await server.request('GET', '/metrics')
  t.match(text, /keelson_cache_fallbacks_total\{[^}]*configmaps[^}]*\} [1-9]/)
})
