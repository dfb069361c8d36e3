import t, { type Test } from 'tap'
import { CacheClient } from '#keelson/cacher/read/cache-client.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { OwnerClient } from '#keelson/workers/owner/owner-client.js'
import { listOptions, makePod, namesOf, versionOf } from '../contract/pod.js'
import { EtcdServer, skipWithoutEtcd } from '../support/etcd-server.js'
import { until } from '../support/until.js'
import { OwnerFixture, type OwnerFixtureOptions, ownerConfig, temporaryFolder } from './owner-fixture.js'
import { openReader } from './owner-reader.js'

interface Engine {
  readonly name: string
  readonly skip: string | false
  options(t: Test): Promise<OwnerFixtureOptions>
}

const engines: readonly Engine[] = [
  { name: 'embedded', skip: false, options: async () => ({}) },
  {
    name: 'etcd',
    skip: skipWithoutEtcd,
    options: async (t) => {
      const server = await EtcdServer.start()
      t.teardown(() => server.stop())
      return { etcdServers: [server.endpoint] }
    },
  },
]

for (const { name, skip, options } of engines) {
  t.test(`${name}: what was acknowledged is in every thread's next consistent read`, { skip }, async (t) => {
    const f = await OwnerFixture.open(t, await options(t))
    const pods = f.reader.delegator('pods')
    const threads = [await f.thread(), await f.thread()]
    for (let i = 0; i < 100; i++) {
      const pod = await pods.create(`/pods/ns/p${i}`, makePod(`p${i}`, 'ns'))
      const key = `/pods/ns/p${i}`
      const answers = await Promise.all([
        ...threads.map((thread) => thread.call({ op: 'get', key, resourceVersion: '' })),
        pods.get(key).then((got) => ({ version: versionOf(got), names: namesOf([got]) })),
      ])
      for (const answer of answers) t.same(answer, { version: versionOf(pod), names: [`ns/p${i}`] })
    }
    for (const thread of threads) {
      const answer = await thread.call({ op: 'list', key: '/pods', resourceVersion: '' })
      t.match(answer, { names: { length: 100 } })
    }
    t.ok(f.reader.client.resource('pods').arena(), 'and it came from memory')
  })

  t.test(`${name}: a write outside the prefix does not hold up reads`, { skip }, async (t) => {
    const f = await OwnerFixture.open(t, await options(t))
    const pods = f.reader.delegator('pods')
    await pods.create('/pods/ns/a', makePod('a', 'ns'))
    const outside = await f.reader.kv.optimisticPut('/elsewhere', Buffer.from('x'), 0)
    const list = await pods.getList('/pods', listOptions())
    t.ok(list.resourceVersion >= outside.revision)
    t.same(namesOf(list.items), ['ns/a'])
    t.ok(f.reader.client.resource('pods').clock.revision() >= outside.revision, 'memory is there too')
  })

  t.test(`${name}: a watch in another thread's memory sees each write once`, { skip }, async (t) => {
    const f = await OwnerFixture.open(t, await options(t))
    const pods = f.reader.delegator('pods')
    const watch = await pods.watch('/pods', listOptions({ resourceVersion: '0' }))
    const written: number[] = []
    for (let i = 0; i < 50; i++) written.push(versionOf(await pods.create(`/pods/ns/p${i}`, makePod(`p${i}`, 'ns'))))
    const seen: number[] = []
    while (seen.length < written.length) {
      const { value } = await watch.next()
      if (value?.type === 'ADDED') seen.push(value.resourceVersion)
    }
    watch.stop()
    t.same(seen, written)
  })

  t.test(`${name}: resources come and go while it runs`, { skip }, async (t) => {
    const f = await OwnerFixture.open(t, await options(t))
    const crontabs = f.reader.delegator('crontabs')
    await crontabs.create('/crontabs/ns/before', makePod('before', 'ns'))
    t.equal(f.reader.client.resource('crontabs').arena(), undefined)
    await f.owner.addResource({ resource: 'crontabs', resourcePrefix: '/crontabs', cluster: 0 })
    await until(() => f.reader.client.resource('crontabs').arena() !== undefined, {
      what: 'the arena of the new resource',
    })
    await crontabs.create('/crontabs/ns/after', makePod('after', 'ns'))
    t.same(namesOf((await crontabs.getList('/crontabs', listOptions())).items), ['ns/after', 'ns/before'])
    t.match((await f.owner.memory())['crontabs'], { objects: 2 })
    await f.owner.removeResource('crontabs')
    await until(() => f.reader.client.resource('crontabs').arena() === undefined, {
      what: 'the arena of the removed resource to go',
    })
    t.same(namesOf((await crontabs.getList('/crontabs', listOptions())).items), ['ns/after', 'ns/before'])
    t.notOk('crontabs' in (await f.owner.memory()))
  })

  t.test(`${name}: a resource at its memory limit is read from its storage; the others go on`, { skip }, async (t) => {
    const f = await OwnerFixture.open(t, { ...(await options(t)), cacheMemoryLimitBytes: 256 * 1024 })
    const pods = f.reader.delegator('pods')
    const nodes = f.reader.delegator('nodes')
    const note = 'x'.repeat(16 * 1024)
    const count = 32
    for (let i = 0; i < count; i++) await pods.create(`/pods/ns/p${i}`, makePod(`p${i}`, 'ns', { note }))
    await until(() => f.events.some((e) => e.type === 'resource-state' && e.health.reason === 'memory-limit'), {
      what: 'the owner to report the memory limit',
    })
    t.equal(f.reader.client.resource('pods').arena(), undefined)
    t.equal((await pods.getList('/pods', listOptions())).items.length, count)
    await until(() => f.reader.client.resource('pods').fallen(), {
      what: 'the reader to see that pods have fallen back',
    })
    pods.readinessCheck()
    await nodes.create('/nodes/n', makePod('n', ''))
    t.equal((await nodes.get('/nodes/n')).metadata?.name, 'n')
    t.ok(f.reader.client.resource('nodes').arena())
    const health = await f.owner.health()
    t.match(health.resources, { pods: { state: 'fallen', reason: 'memory-limit' }, nodes: { state: 'ready' } })
  })

  t.test(`${name}: threads attach and end as often as they like`, { skip }, async (t) => {
    const f = await OwnerFixture.open(t, await options(t))
    await f.reader.delegator('pods').create('/pods/ns/a', makePod('a', 'ns'))
    for (let i = 0; i < 34; i++) {
      const client = await CacheClient.attach(await f.owner.attach())
      // Memory follows etcd; without asking it may not be there yet.
      await client.resource('pods').fence.pass()
      const snapshot = client.resource('pods').arena()!.snapshot()
      t.equal(snapshot.size, 1)
      // Its pin goes with it.
      client.detach()
    }
    const thread = await f.thread()
    await thread.end()
    t.match(await (await f.thread()).call({ op: 'list', key: '/pods', resourceVersion: '0' }), { names: ['ns/a'] })
  })
}

t.test('a thread that is killed lets go of what it read', async (t) => {
  const f = await OwnerFixture.open(t)
  const pods = f.reader.delegator('pods')
  const note = 'x'.repeat(256 * 1024)
  await pods.create('/pods/ns/p', makePod('p', 'ns', { note }))
  const thread = await f.thread()
  await thread.call({ op: 'pin' })
  // More than the window may hold back by itself.
  for (let i = 0; i < 250; i++)
    await pods.guaranteedUpdate('/pods/ns/p', () => ({ object: makePod('p', 'ns', { note: `${i}${note}` }) }))
  const pinned = async (): Promise<number> => (await f.owner.memory())['pods']!.pinnedBytes
  t.ok((await pinned()) > 0, 'the pin is seen')
  await thread.end()
  await until(async () => (await pinned()) === 0, { what: 'the pin of the killed thread to go' })
})

t.test('an owner that cannot open its storage says why', async (t) => {
  const dataDir = temporaryFolder(t)
  await OwnerFixture.open(t, { dataDir })
  const second = OwnerClient.start({
    config: ownerConfig(t, { dataDir }),
    logger: nullLogger,
    onEvent: () => undefined,
    onExit: () => undefined,
  })
  await t.rejects(second, { message: /already open/ })
})

t.test('watches of the embedded engine go on across a restart, from its own log', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await OwnerClient.start({
    config: ownerConfig(t, { dataDir }),
    logger: nullLogger,
    onEvent: () => undefined,
    onExit: (error) => t.fail(error.message),
  })
  const reader = await openReader(await first.attach(), [])
  const created = await reader.delegator('pods').create('/pods/ns/a', makePod('a', 'ns'))
  await reader.delegator('pods').create('/pods/ns/b', makePod('b', 'ns'))
  await reader.close()
  await first.stop()
  const f = await OwnerFixture.open(t, { dataDir })
  const pods = f.reader.delegator('pods')
  const watch = await pods.watch('/pods', listOptions({ resourceVersion: String(versionOf(created)) }))
  t.match((await watch.next()).value, { type: 'ADDED', object: { metadata: { name: 'b' } } })
  await pods.create('/pods/ns/c', makePod('c', 'ns'))
  await pods.create('/pods/ns/d', makePod('d', 'ns'))
  t.match((await watch.next()).value, { type: 'ADDED', object: { metadata: { name: 'c' } } })
  t.match((await watch.next()).value, { type: 'ADDED', object: { metadata: { name: 'd' } } })
  watch.stop()
})
