import type { Worker } from 'node:worker_threads'
import { startServer } from 'keelson'
import t from 'tap'
import { Exposition, seriesKey } from '../support/exposition.js'
import { until } from '../support/until.js'

const CONFIGMAPS = '/api/v1/namespaces/default/configmaps'

/** Node tells of every thread that the process starts. */
const threads: Worker[] = []
const onWorker = (worker: Worker): void => void threads.push(worker)
process.on('worker', onWorker)
const server = await startServer({ flags: { 'insecure-http': true, 'pool-threads': 1, controllers: '-*' } })
process.off('worker', onWorker)
t.teardown(() => server.close())

async function scrape(): Promise<Exposition> {
  return new Exposition(await (await fetch(`${server.url}/metrics`)).text())
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
const poolThreads = (exposition: Exposition): string[] => [
  ...new Set(
    exposition
      .samples('keelson_thread_heap_bytes')
      .map(({ labels }) => labels['thread']!)
      .filter((thread) => thread.startsWith('pool-')),
  ),
]

t.test('a pool thread that dies takes no count with it, and another one takes its place', async (t) => {
  for (let i = 0; i < 5; i++) t.equal(await create(`before-${i}`), 201)
  const before = await scrape()
  const created = { operation: 'create', group: '', resource: 'configmaps' }
  const count = before.value('etcd_requests_total', created)
  t.ok(count >= 5)
  const [name] = poolThreads(before)
  const worker = threads.find(({ threadId }) => `pool-${threadId}` === name)
  t.ok(worker, 'the thread that counted it')
  await worker?.terminate()
  await until(
    async () => {
      const names = poolThreads(await scrape())
      return names.length === 1 && names[0] !== name
    },
    { what: 'another pool thread in the place of the dead one' },
  )
  const dead = await scrape()
  t.equal(dead.value('etcd_requests_total', created), count, 'what the dead one had counted is still there')
  for (let i = 0; i < 3; i++) t.equal(await create(`after-${i}`), 201)
  const after = await scrape()
  t.equal(after.value('etcd_requests_total', created), count + 3)
  for (const { type, name: family, samples } of before.families.values()) {
    if (type === 'gauge') continue
    const now = new Map(after.families.get(family)?.samples.map((one) => [seriesKey(one.name, one.labels), one.value]))
    const back = samples.filter(({ name: own, labels, value }) => !((now.get(seriesKey(own, labels)) ?? -1) >= value))
    t.same(back, [], `${family} never goes back`)
  }
})
