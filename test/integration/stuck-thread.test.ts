import { fileURLToPath } from 'node:url'
import { MessageChannel, type Worker } from 'node:worker_threads'
import { startServer } from 'keelson'
import t from 'tap'
import { Exposition } from '../support/exposition.js'
import { until } from '../support/until.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'

/** Node tells of every thread that the process starts. */
const threads = new Set<Worker>()
process.on('worker', (worker: Worker) => {
  threads.add(worker)
  worker.once('exit', () => threads.delete(worker))
})
const server = await startServer({ flags: { 'insecure-http': true, 'pool-threads': 1, controllers: '-*' } })
let closed = false
t.teardown(() => server.close())

/** A pool thread imports what Piscina's first message names: a module that never ends stops its event loop. */
async function stick(): Promise<void> {
  const metrics = new Exposition(await (await fetch(`${server.url}/metrics`)).text())
  const names = new Set(metrics.samples('keelson_thread_heap_bytes').map(({ labels }) => labels['thread']))
  const worker = [...threads].find(({ threadId }) => names.has(`pool-${threadId}`))!
  const { port2 } = new MessageChannel()
  const filename = fileURLToPath(new URL('../support/endless.js', import.meta.url))
  worker.postMessage({ filename, name: 'default', port: port2, niceIncrement: 0, atomics: 'disabled' }, [port2])
}
async function get(path: string): Promise<number> {
  const { status, body } = await fetch(server.url + path)
  await body?.cancel()
  return status
}
async function create(name: string): Promise<number> {
  const { status, body } = await fetch(`${server.url}${CONFIGMAPS}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } }),
  })
  await body?.cancel()
  return status
}

t.test('the only pool thread is stuck: it is not ready, then writes go on and reads are answered', async (t) => {
  t.equal(await create('before'), 201)
  t.equal(await get('/readyz/pool'), 200)
  await stick()
  await until(async () => (await get('/readyz/pool')) === 500, { what: '/readyz says that nothing can be written' })
  t.equal(await get('/readyz'), 500)
  t.equal(await get('/livez'), 200, 'it is alive: a restart would help nobody')
  t.equal(await get(`${CONFIGMAPS}/before`), 200, 'memory answers')
  const writes = Promise.all(Array.from({ length: 10 }, (_, i) => create(`during-${i}`)))
  const asYaml = fetch(`${server.url}${CONFIGMAPS}/before`, { headers: { accept: 'application/yaml' } })
  t.same(await writes, Array(10).fill(201), 'writes that waited for the thread are done by the next one')
  t.equal((await asYaml).status, 200)
  await until(async () => (await get('/readyz')) === 200, { what: 'the server to be ready' })
  const metrics = new Exposition(await (await fetch(`${server.url}/metrics`)).text())
  t.equal(metrics.value('keelson_pool_threads_replaced_total', { reason: 'stuck' }), 1)
})

t.test('a server with a stuck thread stops, and answers what waits before it does', async (t) => {
  await stick()
  await until(async () => (await get('/readyz/pool')) === 500, { what: 'the check of the pool to fail' })
  const waiting = create('last')
  await until(
    async () => {
      const metrics = new Exposition(await (await fetch(`${server.url}/metrics`)).text())
      return metrics.value('apiserver_current_inflight_requests', { request_kind: 'mutating' }) > 0
    },
    { what: 'the write to be under way' },
  )
  void server.close().then(() => {
    closed = true
  })
  t.equal(await waiting, 201)
  await until(() => closed, { what: 'the pool to be closed', deadlineMs: 30_000 })
})
