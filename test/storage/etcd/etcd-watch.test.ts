import { Etcd3 } from 'etcd3'
import { type Test, test } from 'tap'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { EtcdServer, skipWithoutEtcd } from '../../support/etcd-server.js'
import { until } from '../../support/until.js'
import { FakeEtcd } from './fake-etcd.js'
import { TcpGate } from './tcp-gate.js'

async function withFake(t: Test, version: string) {
  const fake = await FakeEtcd.start(version)
  t.teardown(() => fake.stop())
  const kv = new EtcdKV({ endpoints: [fake.endpoint], backoffBaseMs: 1, backoffCapMs: 5 })
  t.teardown(() => kv.close())
  return { fake, kv }
}

test('a watch that the server cancels, or whose stream ends, goes on after the last event', async (t) => {
  const { fake, kv } = await withFake(t, '3.5.9')
  const watch = kv.watch({ key: '/a/', prefix: true, startRevision: 10 })
  await until(() => fake.starts.length === 1, { what: 'start 1 of the watch' })
  fake.send({ revision: 50, created: true })
  fake.send({ revision: 50, events: [['/a/x', 12]] })
  t.match(await watch.next(), { revision: 12 })
  fake.send({ revision: 50, canceled: true, cancelReason: 'etcdserver: no leader' })
  await until(() => fake.starts.length === 2, { what: 'start 2 of the watch' })
  fake.send({ revision: 50, created: true })
  fake.send({ revision: 50, events: [['/a/x', 20]], fragment: true })
  fake.streams.at(-1)!.end()
  await until(() => fake.starts.length === 3, { what: 'start 3 of the watch' })
  fake.send({ revision: 50, created: true })
  fake.send({
    revision: 50,
    events: [
      ['/a/x', 20],
      ['/a/y', 20],
    ],
  })
  const batch = await watch.next()
  t.strictSame(
    batch?.events.map(({ kv: { key, modRevision } }) => [key, modRevision]),
    [
      ['/a/x', 20],
      ['/a/y', 20],
    ],
    'the half of a revision that had come is not delivered twice',
  )
  t.strictSame(fake.starts, [9, 12, 12], 'each asks for one revision more than it needs')
})

for (const [what, change] of [
  ['answers at an older revision', { revision: 11 }],
  ['has another history at the revision of the last event', { keyRevision: () => 7 }],
] as const)
  test(`a watch that is resumed on a store that ${what} ends: it was restored from a backup`, async (t) => {
    const { fake, kv } = await withFake(t, '3.5.9')
    const watch = kv.watch({ key: '/a/', prefix: true, startRevision: 10 })
    await until(() => fake.starts.length === 1, { what: 'start 1 of the watch' })
    fake.send({ revision: 50, created: true })
    fake.send({ revision: 50, events: [['/a/x', 12]] })
    t.match(await watch.next(), { revision: 12 })
    Object.assign(fake, change)
    fake.streams.at(-1)!.end()
    await until(() => fake.starts.length === 2, { what: 'start 2 of the watch' })
    fake.send({ revision: 50, created: true })
    await t.rejects(watch.next(), { code: 'too-old', message: /the store went back/ })
  })

test('a refusal ends the watch', async (t) => {
  const { fake, kv } = await withFake(t, '3.5.9')
  const watch = kv.watch({ key: '/a/', prefix: true, startRevision: 10 })
  await until(() => fake.starts.length === 1, { what: 'start 1 of the watch' })
  fake.send({ revision: 50, watchId: -1, created: true, canceled: true, cancelReason: 'etcdserver: permission denied' })
  await t.rejects(watch.established, { message: /permission denied/ })
  await t.rejects(watch.next(), { message: /permission denied/ })
  t.equal(await watch.next(), undefined)
})

test('what came before a compaction is delivered before its error', async (t) => {
  const { fake, kv } = await withFake(t, '3.5.9')
  const watch = kv.watch({ key: '/a/', prefix: true, startRevision: 10 })
  await until(() => fake.starts.length === 1, { what: 'start 1 of the watch' })
  fake.send({ revision: 50, created: true })
  fake.send({ revision: 50, events: [['/a/x', 12]] })
  fake.send({ revision: 50, canceled: true, compactRevision: 40 })
  await until(() => kv.compactedRevision() === 40, { what: 'the compacted revision to be known' })
  t.match(await watch.next(), { revision: 12 })
  await t.rejects(watch.next(), { code: 'too-old', fields: { compactRevision: 40, resourceVersion: 13 } })
  t.equal(await watch.next(), undefined)
})

test('a trusted server is asked for progress, and a watch goes on after it', async (t) => {
  const { fake, kv } = await withFake(t, '3.5.9')
  const watch = kv.watch({ key: '/a/', prefix: true, startRevision: 10 })
  await until(() => fake.starts.length === 1, { what: 'start 1 of the watch' })
  fake.send({ revision: 9, created: true })
  await watch.established
  t.equal(await kv.progressTrusted(), true)
  await kv.requestProgress()
  await until(() => fake.progressRequests === 1, { what: 'a request for progress' })
  fake.send({ revision: 8, watchId: -1 })
  fake.send({ revision: 77, watchId: -1 })
  t.match(await watch.next(), { events: [], revision: 77 })
  fake.streams.at(-1)!.end()
  await until(() => fake.starts.length === 2, { what: 'start 2 of the watch' })
  t.equal(fake.starts[1], 77)
})

test('a server that reports progress too early is not asked; its own reports are for who wants them', async (t) => {
  const { fake, kv } = await withFake(t, '3.4.23')
  const plain = kv.watch({ key: '/a/', prefix: true, startRevision: 10 })
  await until(() => fake.starts.length === 1, { what: 'start 1 of the watch' })
  fake.send({ revision: 9, created: true })
  await plain.established
  t.equal(await kv.progressTrusted(), false)
  await kv.requestProgress()
  fake.send({ revision: 60 })
  fake.send({ revision: 61, events: [['/a/x', 61]] })
  t.match(await plain.next(), { revision: 61, events: [{}] }, 'no report for who did not want one')
  plain.close()

  const reporting = kv.watch({ key: '/a/', prefix: true, startRevision: 10, progressNotify: true })
  await until(() => fake.starts.length === 2, { what: 'start 2 of the watch' })
  fake.send({ revision: 9, created: true })
  fake.send({ revision: 60 })
  t.match(await reporting.next(), { revision: 60, events: [] })
  t.equal(fake.progressRequests, 0)
})

test('a watch from a deletion that is compacted is refused, not begun with a gap', {
  skip: skipWithoutEtcd,
}, async (t) => {
  const server = await EtcdServer.start()
  t.teardown(() => server.stop())
  const kv = new EtcdKV({ endpoints: [server.endpoint] })
  t.teardown(() => kv.close())
  const put = await kv.optimisticPut('/a', Buffer.from('1'), 0)
  const deletion = await kv.optimisticDelete('/a', put.revision)
  const next = await kv.optimisticPut('/a', Buffer.from('2'), 0)
  await kv.compact(deletion.revision)
  const overtaken = kv.watch({ key: '/a', prefix: false, startRevision: deletion.revision })
  await t.rejects(overtaken.next(), { code: 'too-old', fields: { compactRevision: deletion.revision } })
  const following = kv.watch({ key: '/a', prefix: false, startRevision: deletion.revision + 1 })
  t.match(await following.next(), { revision: next.revision, events: [{ type: 'put' }] })
})

test('one revision that does not fit into a reply comes in one batch', { skip: skipWithoutEtcd }, async (t) => {
  const server = await EtcdServer.start()
  t.teardown(() => server.stop())
  const etcd3 = new Etcd3({ hosts: server.endpoint })
  t.teardown(() => etcd3.close())
  const kv = new EtcdKV({ endpoints: [server.endpoint] })
  t.teardown(() => kv.close())
  const start = (await kv.currentRevision()) + 1
  const keys = ['/f/1', '/f/2', '/f/3', '/f/4', '/f/5']
  for (const letter of ['a', 'b', 'c']) {
    const ops = keys.map((key) => etcd3.put(key).value(Buffer.alloc(250_000, letter)))
    await etcd3
      .if('never', 'Version', '==', 0)
      .then(...ops)
      .commit()
  }
  const watch = kv.watch({ key: '/f/', prefix: true, startRevision: start })
  const revisions: number[] = []
  while (revisions.length < 15) revisions.push(...(await watch.next())!.events.map(({ kv }) => kv.modRevision))
  t.strictSame(
    revisions,
    [0, 1, 2].flatMap((i) => keys.map(() => start + i)),
  )
  // Pulled batch by batch, no revision may be in two of them.
  const again = kv.watch({ key: '/f/', prefix: true, startRevision: start })
  let last = 0
  while (last < start + 2) {
    const batch = (await again.next())!
    t.ok(batch.events[0]!.kv.modRevision > last)
    last = batch.revision
  }
})

test('a consumer that does not pull holds back the server, and nobody else', { skip: skipWithoutEtcd }, async (t) => {
  const server = await EtcdServer.start()
  t.teardown(() => server.stop())
  const gate = await TcpGate.start(server.port)
  t.teardown(() => gate.stop())
  const direct = new EtcdKV({ endpoints: [server.endpoint] })
  t.teardown(() => direct.close())
  const kv = new EtcdKV({ endpoints: [gate.endpoint], watchBufferBytes: 100_000 })
  t.teardown(() => kv.close())
  const watch = kv.watch({ key: '/b/', prefix: true, startRevision: 0 })
  await watch.established
  const value = Buffer.alloc(100_000, 'v')
  for (let i = 0; i < 150; i++) await direct.optimisticPut(`/b/${i}`, value, 0)
  t.match((await kv.get('/b/149')).kv, { key: '/b/149' }, 'other calls on the same connection are answered')
  t.ok(gate.bytesToClient < 4_000_000, `of 15 MB ${gate.bytesToClient} bytes were sent`)
  let seen = 0
  while (seen < 150) {
    for (const event of (await watch.next())!.events) t.equal(event.kv.key, `/b/${seen++}`)
  }
  t.ok(gate.bytesToClient > 15_000_000)
})
