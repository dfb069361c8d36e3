import t from 'tap'
import type { DraftMakers } from '#keelson/cacher/feed/resource-registration.js'
import { Deferred } from '#keelson/lib/deferred.js'
import { StorageError } from '#keelson/storage/contract/errors.js'
import type { Transformer } from '#keelson/storage/contract/transformer.js'
import { jsonDraft } from '../../support/plain-object.js'
import { until } from '../../support/until.js'
import { bytes, ReflectorFixture as Fixture, object } from './reflector-fixture.js'

t.test('lists everything at one revision in pages, then opens one watch from the next', async (t) => {
  const f = new Fixture(t)
  for (const name of ['a', 'b', 'c']) await f.put(`/registry/pods/${name}`, object(name))
  await f.put('/registry/services/specs/s', object('s'))
  await f.put('/registry/unknown/u', bytes('not ours'))
  await f.put('/other/x', bytes('not ours'))
  void f.reflector.addResource(f.registration('pods'))
  void f.reflector.addResource(f.registration('services/specs'))
  f.kv.beforeList = async () => {
    // Every page sees a store that has moved on.
    await f.put('/registry/pods/late', object('late', String(f.kv.lists.length)))
  }
  f.reflector.start()
  await f.reflector.synced
  const first = f.kv.lists[0]!.revision
  t.ok(first > 0)
  t.same(f.kv.lists.map(({ prefix, revision }) => [prefix, revision]).sort(), [
    ['/registry/pods/', first],
    ['/registry/pods/', first],
    ['/registry/services/specs/', first],
  ])
  t.same(
    f.kv.watches.map(({ key, prefix, startRevision }) => ({ key, prefix, startRevision })),
    [{ key: '/registry/', prefix: true, startRevision: first + 1 }],
  )
  await f.applied(f.memoryKv.revision)
  t.same(
    f.keys('pods'),
    ['a', 'b', 'c', 'late'].map((n) => `/registry/pods/${n}`),
  )
  t.same(f.keys('services/specs'), ['/registry/services/specs/s'])
  t.equal(f.state('pods'), 'ready')
  t.ok(f.arenas.get('pods')!.ready())
})

t.test('a batch is published in every resource before the clock moves', async (t) => {
  const f = new Fixture(t)
  void f.reflector.addResource(f.registration('pods'))
  void f.reflector.addResource(f.registration('nodes'))
  f.reflector.start()
  await f.reflector.synced
  const seen: number[] = []
  f.revisionClock.onAdvance((revision) => {
    seen.push(revision)
    t.equal(f.keys('pods').length + f.keys('nodes').length, revision - 1)
  })
  await f.put('/registry/pods/a', object('a'))
  await f.put('/registry/nodes/n', object('n'))
  await f.put('/registry/pods/b', object('b'))
  await f.applied(4)
  t.same(seen, [2, 3, 4])
})

t.test('a progress report moves the clock past writes outside the prefix', async (t) => {
  const f = new Fixture(t)
  f.reflector.start()
  await f.reflector.synced
  const revision = await f.put('/elsewhere', bytes('x'))
  await f.kv.requestProgress()
  await f.applied(revision)
  t.equal(f.revisionClock.revision(), revision)
})

t.test('a broken stream is opened again after the last revision applied, without a list', async (t) => {
  const f = new Fixture(t)
  void f.reflector.addResource(f.registration('pods'))
  f.reflector.start()
  await f.reflector.synced
  await f.applied(await f.put('/registry/pods/a', object('a')))
  const lists = f.kv.lists.length
  f.kv.breakWatches(new StorageError('unreachable', 'cut'))
  await until(() => !f.reflector.following, { what: 'the reflector to stop following' })
  const revision = await f.put('/registry/pods/b', object('b'))
  await f.eventually(() => f.revisionClock.revision() >= revision, 'the clock to reach the revision')
  t.equal(f.kv.lists.length, lists)
  t.equal(f.kv.watches.at(-1)!.startRevision, revision)
  t.same(f.keys('pods'), ['/registry/pods/a', '/registry/pods/b'])
})

t.test('compaction during an outage leads to a new list: old cursors expire, nothing old passes for new', async (t) => {
  const f = new Fixture(t)
  void f.reflector.addResource(f.registration('pods'))
  f.reflector.start()
  await f.reflector.synced
  await f.applied(await f.put('/registry/pods/a', object('a')))
  const cursor = f.arenas.get('pods')!.cursor(f.revisionClock.revision())
  f.kv.breakWatches(new StorageError('unreachable', 'cut'))
  await until(() => !f.reflector.following, { what: 'the reflector to stop following' })
  await f.put('/registry/pods/b', object('b'))
  await f.delete('/registry/pods/a')
  const revision = await f.put('/registry/pods/c', object('c'))
  await f.memoryKv.compact(revision)
  const listing = new Deferred<void>()
  f.kv.beforeList = () => listing.promise
  const lists = f.kv.lists.length
  await f.eventually(() => f.kv.lists.length > lists, 'another list')
  t.notOk(f.reflector.following, 'who needs the newest is sent to the storage')
  t.same(f.keys('pods'), ['/registry/pods/a'], 'the old state is still there as what it is')
  t.ok(f.revisionClock.revision() < revision)
  listing.resolve()
  await f.eventually(() => f.reflector.following, 'the reflector to follow again')
  t.equal(f.revisionClock.revision(), revision)
  t.same(f.keys('pods'), ['/registry/pods/b', '/registry/pods/c'])
  t.equal(
    cursor.advance(() => true),
    'expired',
  )
})

t.test(
  'a list that fails in the middle is repeated; what it had replaced is closed to readers meanwhile',
  async (t) => {
    const f = new Fixture(t)
    for (const name of ['a', 'b', 'c']) await f.put(`/registry/aa/${name}`, object(name))
    for (const name of ['x', 'y']) await f.put(`/registry/zz/${name}`, object(name))
    void f.reflector.addResource(f.registration('aa'))
    void f.reflector.addResource(f.registration('zz'))
    f.reflector.start()
    await f.reflector.synced
    f.kv.breakWatches(new StorageError('unreachable', 'cut'))
    await until(() => !f.reflector.following, { what: 'the reflector to stop following' })
    await f.put('/registry/zz/z', object('z'))
    await f.memoryKv.compact(await f.put('/registry/aa/d', object('d')))
    const failure = new Deferred<void>()
    let calls = 0
    f.kv.beforeList = () => (++calls === 4 ? failure.promise : undefined)
    await f.eventually(() => calls === 4, 'the fourth call')
    t.notOk(f.arenas.get('aa')!.ready(), 'replaced, and ahead of the clock')
    t.ok(f.arenas.get('zz')!.ready(), 'still the old state')
    failure.reject(new StorageError('unreachable', 'gone in the middle'))
    await f.eventually(() => f.reflector.following, 'the reflector to follow again')
    t.same(f.keys('zz').length, 3)
    t.same(f.keys('aa').length, 4)
    t.ok(f.arenas.get('aa')!.ready())
  },
)

t.test('a slow transformer delays what follows it and does not change the order', async (t) => {
  const f = new Fixture(t)
  const slow = new Deferred<void>()
  const transformer: Transformer = {
    transformToStorage: (data) => data,
    transformFromStorage: (data) => slow.promise.then(() => ({ data, stale: false })),
  }
  void f.reflector.addResource(f.registration('secrets', { transformer }))
  void f.reflector.addResource(f.registration('pods'))
  f.reflector.start()
  await f.reflector.synced
  const start = f.revisionClock.revision()
  await f.put('/registry/secrets/s', object('s'))
  const revision = await f.put('/registry/pods/p', object('p'))
  await new Promise((resolve) => setImmediate(resolve))
  t.equal(f.revisionClock.revision(), start, 'the pod waits for the secret before it')
  slow.resolve()
  await f.applied(revision)
  t.same(f.keys('secrets'), ['/registry/secrets/s'])
  t.same(f.keys('pods'), ['/registry/pods/p'])
})

t.test('an object that cannot be read sends its resource to the storage; repaired, it comes back', async (t) => {
  const f = new Fixture(t)
  void f.reflector.addResource(f.registration('pods'))
  void f.reflector.addResource(f.registration('nodes'))
  f.reflector.start()
  await f.reflector.synced
  await f.applied(await f.put('/registry/pods/good', object('good')))
  await f.applied(await f.put('/registry/pods/bad', bytes('{')))
  t.match(f.reflector.status('pods'), { state: 'fallen', reason: 'corrupt-object' })
  t.notOk(f.arenas.get('pods')!.ready())
  await f.applied(await f.put('/registry/nodes/n', object('n')))
  t.same(f.keys('nodes'), ['/registry/nodes/n'], 'the others go on')
  await f.applied(await f.put('/registry/pods/bad', object('bad')))
  await f.eventually(() => f.state('pods') === 'ready', 'pods to be ready')
  t.same(f.keys('pods'), ['/registry/pods/bad', '/registry/pods/good'])
})

t.test('an unreadable object is tried again after a while: a key service may be back', async (t) => {
  const f = new Fixture(t)
  let down = true
  const transformer: Transformer = {
    transformToStorage: (data) => data,
    transformFromStorage: (data) => (down ? Promise.reject(new Error('no key')) : { data, stale: false }),
  }
  await f.put('/registry/secrets/s', object('s'))
  void f.reflector.addResource(f.registration('secrets', { transformer }))
  f.reflector.start()
  await f.reflector.synced
  t.equal(f.state('secrets'), 'fallen')
  down = false
  await f.clock.advance(30_000)
  await f.eventually(() => f.state('secrets') === 'ready', 'secrets to be ready')
  t.same(f.keys('secrets'), ['/registry/secrets/s'])
})

t.test('a resource added while running takes in what the stream brings during its list', async (t) => {
  const f = new Fixture(t)
  for (const name of ['a', 'b', 'c']) await f.put(`/registry/crontabs/${name}`, object(name))
  void f.reflector.addResource(f.registration('pods'))
  f.reflector.start()
  await f.reflector.synced
  const listing = new Deferred<void>()
  let pages = 0
  f.kv.beforeList = () => (++pages === 2 ? listing.promise : undefined)
  const added = f.reflector.addResource(f.registration('crontabs'))
  await until(() => pages === 2, { what: 'the second page to be asked for' })
  await f.put('/registry/crontabs/d', object('d'))
  await f.put('/registry/crontabs/a', object('a', 'changed'))
  await f.applied(await f.delete('/registry/crontabs/c'))
  t.notOk(f.arenas.get('crontabs')!.ready())
  listing.resolve()
  await added
  t.equal(f.state('crontabs'), 'ready')
  t.same(
    f.keys('crontabs'),
    ['a', 'b', 'd'].map((n) => `/registry/crontabs/${n}`),
  )
  t.equal(f.kv.watches.length, 1, 'no stream of its own')
  await f.applied(await f.put('/registry/crontabs/e', object('e')))
  t.equal(f.keys('crontabs').length, 4)
})

t.test('a resource removed while running, or while it fills, is closed and no longer written', async (t) => {
  const f = new Fixture(t)
  await f.put('/registry/crontabs/a', object('a'))
  void f.reflector.addResource(f.registration('pods'))
  f.reflector.start()
  await f.reflector.synced
  f.reflector.removeResource('pods')
  t.ok(f.arenas.get('pods')!.closed)
  const listing = new Deferred<void>()
  f.kv.beforeList = () => listing.promise
  const added = f.reflector.addResource(f.registration('crontabs'))
  f.reflector.removeResource('crontabs')
  listing.resolve()
  await added
  t.ok(f.arenas.get('crontabs')!.closed)
  t.notOk(f.arenas.get('crontabs')!.ready())
  await f.put('/registry/crontabs/b', object('b'))
  await f.applied(f.memoryKv.revision)
  t.equal(f.reflector.status('crontabs'), undefined)
})

t.test('a resource that outgrows its memory falls back to its storage and frees what it had', async (t) => {
  const f = new Fixture(t)
  void f.reflector.addResource(f.registration('pods', {}, 2))
  void f.reflector.addResource(f.registration('nodes'))
  f.reflector.start()
  await f.reflector.synced
  for (const name of ['a', 'b', 'c']) await f.applied(await f.put(`/registry/pods/${name}`, object(name)))
  t.match(f.reflector.status('pods'), { state: 'fallen', reason: 'memory-limit' })
  t.ok(f.arenas.get('pods')!.closed)
  await f.applied(await f.put('/registry/nodes/n', object('n')))
  t.same(f.keys('nodes'), ['/registry/nodes/n'])
  t.same(f.statuses, [
    ['pods', 'ready'],
    ['nodes', 'ready'],
    ['pods', 'fallen'],
  ])
})

t.test(
  'a store that went back is listed anew in new memory: cursors of before expire, the clock goes back with it',
  async (t) => {
    const f = new Fixture(t)
    await f.put('/registry/pods/a', object('a'))
    void f.reflector.addResource(f.registration('pods'))
    f.reflector.start()
    await f.reflector.synced
    const before = f.arenas.get('pods')!
    const revision = await f.put('/registry/pods/b', object('b'))
    await f.applied(revision)
    const cursor = before.cursor(revision)
    f.revisionClock.advance(1000)
    f.kv.breakWatches(new StorageError('unreachable', 'the connection broke'))
    await f.eventually(() => !f.reflector.following, 'the reflector to stop following')
    await f.eventually(() => f.reflector.following, 'the reflector to follow again')
    t.equal(f.revisionClock.revision(), revision)
    t.not(f.arenas.get('pods'), before, 'nobody finds the old state in the memory of the new one')
    t.equal(
      cursor.advance(() => undefined),
      'expired',
    )
    t.same(f.keys('pods'), ['/registry/pods/a', '/registry/pods/b'])
    await f.applied(await f.put('/registry/pods/c', object('c')))
    t.same(f.keys('pods').length, 3, 'and it follows from there')
  },
)

/** Makers in this thread, which have room for some pages only. */
function makersOf(room: number): DraftMakers & { made: number } {
  const makers = {
    made: 0,
    hasRoom: () => makers.made < room,
    drafts: async (values: readonly Uint8Array[]) => {
      makers.made++
      await new Promise(setImmediate)
      return values.map((value) => {
        try {
          return jsonDraft(value, '')
        } catch {
          return undefined
        }
      })
    },
  }
  return makers
}

t.test('the pages of a large resource are decoded by others as far as they have room, and stay in order', async (t) => {
  const f = new Fixture(t)
  const names = Array.from({ length: 31 }, (_, i) => String(i).padStart(2, '0'))
  for (const name of names) await f.put(`/registry/pods/${name}`, object(name))
  await f.put('/registry/nodes/n', object('n'))
  const [forPods, forNodes] = [makersOf(7), makersOf(7)]
  void f.reflector.addResource(f.registration('pods', { draftMakers: forPods }))
  void f.reflector.addResource(f.registration('nodes', { draftMakers: forNodes }))
  f.reflector.start()
  await f.reflector.synced
  t.equal(f.state('pods'), 'ready')
  t.same(
    f.keys('pods'),
    names.map((name) => `/registry/pods/${name}`),
  )
  t.equal(forPods.made, 7)
  t.equal(forNodes.made, 0, 'a small resource is not worth it')
})

t.test('an object of a large resource that others cannot read is told as if it had been read here', async (t) => {
  const f = new Fixture(t)
  for (let i = 10; i < 41; i++) await f.put(`/registry/pods/${i}`, i === 25 ? bytes('no object') : object(String(i)))
  void f.reflector.addResource(f.registration('pods', { draftMakers: makersOf(100) }))
  f.reflector.start()
  await f.reflector.synced
  t.match(f.reflector.status('pods'), { state: 'fallen', reason: 'corrupt-object' })
  t.equal(f.arenas.get('pods')!.partial, true)
  t.equal(f.keys('pods').length, 30, 'the others are there for followers')
})
