import { type Test, test } from 'tap'
import { EtcdKV, type EtcdKVOptions } from '#keelson/storage/etcd/etcd-kv.js'
import { EtcdServer, skipWithoutEtcd } from '../../support/etcd-server.js'
import { freePort } from '../../support/free-port.js'
import { until } from '../../support/until.js'
import { TcpGate } from './tcp-gate.js'

const bytes = (text: string): Uint8Array => Buffer.from(text)

/** Two ways to one etcd, each of which can be shut: two members of a cluster, as far as a client can tell. */
async function twoEndpoints(t: Test, options: Partial<EtcdKVOptions> = {}) {
  const server = await EtcdServer.start()
  t.teardown(() => server.stop())
  const first = await TcpGate.start(server.port)
  t.teardown(() => first.stop())
  const second = await TcpGate.start(server.port)
  t.teardown(() => second.stop())
  const kv = new EtcdKV({
    endpoints: [first.endpoint, second.endpoint],
    backoffBaseMs: 5,
    backoffCapMs: 20,
    ...options,
  })
  t.teardown(() => kv.close())
  return { server, first, second, kv }
}

test('calls go to the next endpoint when one is down, and back when it returns', {
  skip: skipWithoutEtcd,
}, async (t) => {
  const { first, second, kv } = await twoEndpoints(t)
  await kv.get('/a')
  first.shut()
  t.match(await kv.get('/a'), { kv: undefined }, 'a read that was under way is asked again')
  t.match(await kv.optimisticPut('/a', bytes('1'), 0), { succeeded: true })
  t.match((await kv.get('/a')).kv, { version: 1 })
  t.ok(second.accepted > 0)
  second.shut()
  await first.open()
  t.match((await kv.get('/a')).kv, { version: 1 }, 'waits for one that answers')
  await second.open()
  first.shut()
  await until(async () => (await kv.get('/a')).kv?.version === 1, { what: 'the first write to be read' })
})

test('a dead endpoint at the start does not matter', { skip: skipWithoutEtcd }, async (t) => {
  const server = await EtcdServer.start()
  t.teardown(() => server.stop())
  const kv = new EtcdKV({ endpoints: [`http://127.0.0.1:${await freePort()}`, server.endpoint] })
  t.teardown(() => kv.close())
  t.match(await kv.optimisticPut('/a', bytes('1'), 0), { succeeded: true })
  const watch = kv.watch({ key: '/a', prefix: false, startRevision: 1 })
  t.match(await watch.next(), { events: [{ kv: { key: '/a' } }] })
})

test('a read goes on at another endpoint when the first is silent', { skip: skipWithoutEtcd }, async (t) => {
  for (const options of [{ keepaliveIntervalMs: 200, keepaliveTimeoutMs: 200 }, { timeoutMs: 10_000 }]) {
    const { first, kv } = await twoEndpoints(t, options)
    await kv.get('/a')
    first.freeze()
    t.match(await kv.get('/a'), { kv: undefined }, `by ${Object.keys(options)[0]}`)
  }
})

test('a watch moves to another endpoint when its connection falls silent', { skip: skipWithoutEtcd }, async (t) => {
  // etcd itself wants five seconds between pings: the one frozen here is never asked again.
  const { first, second, kv } = await twoEndpoints(t, { keepaliveIntervalMs: 500, keepaliveTimeoutMs: 500 })
  const watch = kv.watch({ key: '/w/', prefix: true, startRevision: 0 })
  await watch.established
  first.freeze()
  const direct = new EtcdKV({ endpoints: [second.endpoint] })
  t.teardown(() => direct.close())
  const { revision } = await direct.optimisticPut('/w/a', bytes('1'), 0)
  t.match(await watch.next(), { revision, events: [{ kv: { key: '/w/a' } }] })
})

test('a stopped etcd is a deadline, not a hang', { skip: skipWithoutEtcd }, async (t) => {
  const server = await EtcdServer.start()
  t.teardown(() => server.stop())
  const kv = new EtcdKV({ endpoints: [server.endpoint] })
  t.teardown(() => kv.close())
  await kv.get('/a')
  server.pause()
  await t.rejects(kv.get('/a', { timeoutMs: 100 }), { code: 'unreachable' })
  await t.rejects(kv.optimisticPut('/a', bytes('1'), 0, { timeoutMs: 100 }), { code: 'unreachable' })
  const abort = new AbortController()
  const read = kv.get('/a', { signal: abort.signal })
  abort.abort()
  await t.rejects(read, { code: 'unreachable', message: /gave up/ })
  server.resume()
  t.match(await kv.get('/a', { timeoutMs: 60_000 }), { revision: Number })
})

test('a connection to a process that accepts but never speaks is given up', { skip: skipWithoutEtcd }, async (t) => {
  const server = await EtcdServer.start()
  t.teardown(() => server.stop())
  const frozen = await TcpGate.start(server.port)
  t.teardown(() => frozen.stop())
  frozen.freeze()
  const kv = new EtcdKV({ endpoints: [frozen.endpoint, server.endpoint], connectTimeoutMs: 100 })
  t.teardown(() => kv.close())
  t.match(await kv.get('/a'), { kv: undefined })
  const alone = new EtcdKV({ endpoints: [frozen.endpoint], connectTimeoutMs: 50, timeoutMs: 300 })
  t.teardown(() => alone.close())
  await t.rejects(alone.optimisticPut('/a', bytes('1'), 0), { code: 'unreachable', message: /no answer in 50 ms/ })
})

test('a write whose connection breaks is reported, and sent once only', { skip: skipWithoutEtcd }, async (t) => {
  const { server, first, kv } = await twoEndpoints(t)
  await kv.get('/a')
  const direct = new EtcdKV({ endpoints: [server.endpoint] })
  t.teardown(() => direct.close())
  let unknown = 0
  let failedComparisons = 0
  for (let i = 0; i < 40; i++) {
    const write = kv.optimisticPut(`/once/${i}`, bytes('1'), 0)
    setImmediate(() => first.cut())
    try {
      if (!(await write).succeeded) failedComparisons++
    } catch (error) {
      t.match(error, { code: 'unreachable' })
      unknown++
    }
  }
  t.equal(failedComparisons, 0, 'a second try would have found what the first one wrote')
  t.comment(`${unknown} of 40 writes had an unknown outcome`)
  const written = await direct.list('/once/')
  t.ok(written.count >= 40 - unknown, 'what was acknowledged is there')
  t.ok(written.kvs.every(({ version }) => version === 1))
})

test('the space alarm of etcd is no-space, and reads go on', { skip: skipWithoutEtcd }, async (t) => {
  const server = await EtcdServer.start({ args: ['--quota-backend-bytes', '2000000'] })
  t.teardown(() => server.stop())
  const kv = new EtcdKV({ endpoints: [server.endpoint] })
  t.teardown(() => kv.close())
  const fill = async (): Promise<void> => {
    for (let i = 0; i < 100; i++) await kv.optimisticPut(`/fill/${i}`, new Uint8Array(500_000), 0)
  }
  await t.rejects(fill(), { code: 'no-space' })
  t.ok((await kv.list('/fill/')).count > 0)
})
