import t, { type Test } from 'tap'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

// A request for which nobody waits any longer stops, in the pool and before the storage.

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'
const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

async function start(t: Test, ...flags: string[]): Promise<KeelsonProcess> {
  const server = await KeelsonProcess.start(['--pool-threads=1', ...flags])
  t.teardown(() => server.close())
  return server
}

async function startEtcd(t: Test): Promise<EtcdServer> {
  const etcd = await EtcdServer.start()
  t.teardown(() => etcd.stop())
  return etcd
}

async function metric(server: KeelsonProcess, name: string): Promise<number> {
  const { text } = await server.request('GET', '/metrics')
  const line = text.split('\n').find((one) => one.startsWith(name))
  return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(' ') + 1))
}

const writesBegun = (server: KeelsonProcess) => metric(server, 'keelson_pool_tasks_total{type="write"}')
const writesEnded = (server: KeelsonProcess) => metric(server, 'keelson_pool_task_duration_seconds_count{type="write"}')

t.test('clients that go while etcd hangs leave the pool free for others', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await startEtcd(t)
  const server = await start(t, `--etcd-servers=${etcd.endpoint}`)
  t.equal((await server.request('POST', CONFIGMAPS, configMap('first'))).status, 201)
  const begun = await writesBegun(server)
  const ended = await writesEnded(server)
  etcd.pause()
  t.teardown(() => etcd.resume())
  // More than a thread has under way at once.
  const clients = Array.from({ length: 150 }, (_, i) => {
    const abort = new AbortController()
    const answer = fetch(`${server.url}${CONFIGMAPS}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(configMap(`hung-${i}`)),
      signal: abort.signal,
    })
    return { abort, answer: answer.catch((error: Error) => error.name) }
  })
  await until(async () => (await writesBegun(server)) >= begun + 128, { what: '128 writes to have begun' })
  for (const { abort } of clients) abort.abort()
  t.same([...new Set(await Promise.all(clients.map(({ answer }) => answer)))], ['AbortError'])
  // Made by the pool, without the storage.
  const document = await fetch(`${server.url}/openapi/v3/api/v1`, { signal: AbortSignal.timeout(2_000) })
  t.equal(document.status, 200)
  await until(async () => (await writesEnded(server)) >= ended + 150, { what: '150 writes to have ended' })
})

t.test('a write whose time is up while etcd hangs is 504, in time', { skip: skipWithoutEtcd }, async (t) => {
  const etcd = await startEtcd(t)
  const server = await start(t, `--etcd-servers=${etcd.endpoint}`)
  t.equal((await server.request('POST', CONFIGMAPS, configMap('first'))).status, 201)
  const ended = await writesEnded(server)
  etcd.pause()
  t.teardown(() => etcd.resume())
  const begunMs = performance.now()
  const answer = await server.request('PUT', `${CONFIGMAPS}/first?timeout=1s`, configMap('first'))
  const tookMs = performance.now() - begunMs
  t.equal(answer.status, 504)
  t.match(answer.json, { kind: 'Status', reason: 'Timeout' })
  t.ok(tookMs >= 1000 && tookMs < 3000, `it took ${tookMs} ms`)
  await until(async () => (await writesEnded(server)) > ended, { what: 'a write to have ended' })
  etcd.resume()
  const later = await server.request('PUT', `${CONFIGMAPS}/first`, configMap('first'))
  t.equal(later.status, 200)
})

t.test('a client that goes during a deletion of many leaves the rest where it is', async (t) => {
  const server = await start(t)
  const total = 2000
  for (let i = 0; i < total; i += 100)
    await Promise.all(
      Array.from({ length: 100 }, (_, j) => server.request('POST', CONFIGMAPS, configMap(`m-${i + j}`))),
    )
  const left = async (): Promise<number> =>
    ((await server.request('GET', CONFIGMAPS)).json as { items: unknown[] }).items.length
  const before = await left()
  const ended = await writesEnded(server)
  const abort = new AbortController()
  const gone = fetch(`${server.url}${CONFIGMAPS}`, { method: 'DELETE', signal: abort.signal }).catch(
    (error: Error) => error.name,
  )
  await until(async () => (await left()) < before, { what: 'the first deletions of the collection' })
  abort.abort()
  t.equal(await gone, 'AbortError')
  await until(async () => (await writesEnded(server)) > ended, { what: 'a write to have ended' })
  const after = await left()
  t.ok(after > 0 && after < before, `${after} of ${before} are left`)
})
