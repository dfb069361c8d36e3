import t, { type Test } from 'tap'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'
import { WatchClient } from '../support/watch-client.js'

// What a client remembers of before a restart: a revision, a continue token.

const MAPS = '/api/v1/namespaces/default/configmaps'

interface List {
  readonly metadata: { readonly continue?: string; readonly resourceVersion: string }
  readonly items: readonly { readonly metadata: { readonly name: string } }[]
}

async function write(server: KeelsonProcess, name: string): Promise<number> {
  const answer = await server.request('POST', MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
  if (answer.status !== 201) throw new Error(answer.text)
  return Number((answer.json as { metadata: { resourceVersion: string } }).metadata.resourceVersion)
}

const namesOf = (list: unknown): string[] => (list as List).items.map(({ metadata }) => metadata.name)

/** Gives the server that runs after the restart, and the revision of the first object. */
async function resumes(t: Test, first: KeelsonProcess, flags: readonly string[]): Promise<[KeelsonProcess, number]> {
  const a = await write(first, 'a')
  const b = await write(first, 'b')
  const page = (await first.request('GET', `${MAPS}?limit=1`)).json as List
  await first.request('DELETE', `${MAPS}/a`)
  await first.stop()
  const server = await KeelsonProcess.start(flags, first.dataDir)
  t.teardown(() => server.close())
  await write(server, 'c')
  for (const [from, expected] of [
    [a, ['ADDED b', 'DELETED a', 'ADDED c', 'ADDED d']],
    [b, ['DELETED a', 'ADDED c', 'ADDED d']],
  ] as const) {
    const client = new WatchClient(server.url, `${MAPS}?watch=1&resourceVersion=${from}`)
    t.teardown(() => client.close())
    await until(() => client.started, { what: 'the watch to start' })
    if (from === a) await write(server, 'd')
    await until(() => client.eventCount >= expected.length, { what: 'every expected event' })
    t.same(
      client.events.map(({ type, name }) => `${type} ${name}`),
      expected,
      `from ${from}`,
    )
  }
  const exact = `resourceVersion=${b}&resourceVersionMatch=Exact`
  t.same(namesOf((await server.request('GET', `${MAPS}?${exact}`)).json).slice(0, 2), ['a', 'b'])
  const rest = await server.request('GET', `${MAPS}?continue=${page.metadata.continue}`)
  t.equal(rest.status, 200)
  t.ok(namesOf(rest.json).includes('b'))
  t.notOk(namesOf(rest.json).includes('c'), 'it is the list that was begun')
  return [server, a]
}

t.test('watches, exact lists and continue tokens go on over a restart on the embedded engine', async (t) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  await resumes(t, server, [])
})

t.test('on etcd too, while it has the history; what is compacted is 410', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  const flags = [`--etcd-servers=${etcd.endpoint}`]
  const first = await KeelsonProcess.start(flags)
  t.teardown(() => first.close())
  const [server, a] = await resumes(t, first, flags)
  const revision = await write(server, 'e')
  const body = JSON.stringify({ revision: String(revision) })
  t.ok((await fetch(`${etcd.endpoint}/v3/kv/compaction`, { method: 'POST', body })).ok)
  await server.stop()
  const last = await KeelsonProcess.start(flags, server.dataDir)
  t.teardown(() => last.close())
  const client = new WatchClient(last.url, `${MAPS}?watch=1&resourceVersion=${a}`)
  t.teardown(() => client.close())
  await until(() => client.eventCount > 0, { what: 'the first event' })
  t.match(client.events[0], { type: 'ERROR', code: 410 })
  t.equal((await last.request('GET', `${MAPS}?resourceVersion=${a}&resourceVersionMatch=Exact`)).status, 410)
})
