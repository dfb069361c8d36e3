import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'
import { WatchClient } from '../support/watch-client.js'

const ALL = '/api/v1/configmaps'
const DEFAULT = '/api/v1/namespaces/default/configmaps'
const FAST = 200
const SLOW = 10
const SMALL_WRITES = 150
/** 30 MB for each of the slow: far more than sockets hold, and 300 MB if somebody kept it for them. */
const LARGE_WRITES = 60
const LARGE_BYTES = 500_000
const MIB = 1024 * 1024

const residentBytes = (server: KeelsonProcess): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))![1]) * 1024

async function write(server: KeelsonProcess, namespace: string, name: string, data: string): Promise<string> {
  const answer = await server.request('POST', `/api/v1/namespaces/${namespace}/configmaps`, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name },
    data: { data },
  })
  if (answer.status !== 201) throw new Error(answer.text)
  return name
}

/** Everything after `revision`, over as many connections as it takes; undefined when it is told 410. */
async function readOn(server: KeelsonProcess, slow: WatchClient, wanted: number): Promise<string[] | undefined> {
  const names: string[] = []
  let client = slow
  let revision = 0
  for (;;) {
    client.resume()
    await until(() => client.closed || names.length + client.eventCount >= wanted, {
      what: 'as many events as are wanted, or the end',
    })
    for (const event of client.events) {
      if (event.type === 'ERROR') return event.code === 410 ? undefined : [...names, `ERROR ${event.code}`]
      names.push(event.name)
      revision = event.revision
    }
    client.close()
    if (names.length >= wanted) return names
    client = new WatchClient(server.url, `${ALL}?watch=true&resourceVersion=${revision}`)
  }
}

t.test('watchers that stop reading cost nobody anything and miss nothing', async (t: Test) => {
  const server = await KeelsonProcess.start()
  t.teardown(() => server.close())
  const { metadata } = (await server.request('GET', ALL)).json as { metadata: { resourceVersion: string } }
  const from = `?watch=true&resourceVersion=${metadata.resourceVersion}`
  const fast = Array.from({ length: FAST }, () => new WatchClient(server.url, `${DEFAULT}${from}`))
  const slow = Array.from({ length: SLOW }, () => new WatchClient(server.url, `${ALL}${from}`))
  t.teardown(() => {
    for (const client of [...fast, ...slow]) client.close()
  })
  await until(() => [...fast, ...slow].every((client) => client.started), { what: 'every watch to start' })
  t.pass('a watch without events has started all the same')
  for (const client of slow) client.pause()

  const large = 'x'.repeat(LARGE_BYTES)
  const before = residentBytes(server)
  let peak = 0
  const all: string[] = []
  const small: string[] = []
  for (let i = 0; i < SMALL_WRITES; i++) {
    small.push(await write(server, 'default', `small-${i}`, String(i)))
    all.push(small.at(-1)!)
    if (i % Math.floor(SMALL_WRITES / LARGE_WRITES) === 0 && i / 2 < LARGE_WRITES)
      all.push(await write(server, 'kube-public', `large-${i}`, large))
    peak = Math.max(peak, residentBytes(server))
  }
  await until(() => fast.every((client) => client.eventCount >= SMALL_WRITES), {
    what: 'the fast clients to see every write',
  })
  for (const [i, client] of fast.entries()) {
    const names = client.events.map((event) => event.name)
    if (names.join() !== small.join()) t.fail(`fast watcher ${i} saw ${names.length} events: ${names.join()}`)
  }
  t.ok(
    fast.every((client) => !client.closed && client.eventCount === SMALL_WRITES),
    'the others saw every event, in order, once',
  )
  const grown = Math.round((peak - before) / MIB)
  t.comment(`resident memory grew by ${grown} MiB`)
  t.ok(grown < 250, `memory stays bounded: ${grown} MiB more`)
  for (const client of slow) {
    const names = await readOn(server, client, all.length)
    if (names === undefined) t.pass('told 410: it lists again')
    else t.same(names, all, 'the slow one goes on where it was, without a gap')
  }
})
