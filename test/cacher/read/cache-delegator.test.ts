import t, { type Test } from 'tap'
import { CacheDelegator } from '#keelson/cacher/read/cache-delegator.js'
import type { ResourceView } from '#keelson/cacher/read/resource-view.js'
import { StorageError } from '#keelson/storage/contract/errors.js'
import { listOptions, makePod, namesOf, newPod, type Pod, versionOf } from '../../contract/pod.js'
import { openStore } from '../../contract/store-harness.js'
import { FakeClock } from '../../support/fake-clock.js'
import { MemoryArena, MemoryClock } from '../../support/memory-arena.js'
import { MemoryKV } from '../../support/memory-kv.js'
import { draftOf } from '../../support/plain-object.js'
import { until } from '../../support/until.js'

/** A delegator whose memory is written by hand, beside a store. */
function fixture(t: Test) {
  const clock = new FakeClock()
  const kv = new MemoryKV(clock)
  const { store, counting } = openStore(kv, '/registry')
  const revisionClock = new MemoryClock()
  const arena = new MemoryArena(revisionClock)
  const fence = { passes: true, asked: 0 }
  const cache: ResourceView = {
    clock: revisionClock,
    fence: {
      pass: () => {
        fence.asked++
        return fence.passes ? true : Promise.resolve(false)
      },
    },
    arena: () => (arena.ready() ? arena : undefined),
    known: () => (arena.ready() ? arena : undefined),
    fallen: () => false,
  }
  const delegator = new CacheDelegator<Pod>({
    storage: store,
    view: cache,
    decodeBody: (body) => JSON.parse(Buffer.from(body).toString('utf8')) as Pod,
    newObject: newPod,
    pathPrefix: '/registry',
    resourcePrefix: '/pods',
    clock,
    random: () => 0,
  })
  t.teardown(async () => {
    await delegator.close()
    if (arena.pins !== 0) throw new Error(`${arena.pins} snapshots were not released`)
  })
  const remember = (pod: Pod): void => {
    const version = versionOf(pod)
    const key = `/registry/pods/${pod.metadata?.namespace}/${pod.metadata?.name}`
    arena.put(key, draftOf(pod, key), version, version)
    arena.publish(version)
    revisionClock.advance(version)
  }
  const create = async (name: string, labels: Record<string, string> = {}): Promise<Pod> => {
    const pod = await delegator.create(`/pods/ns/${name}`, makePod(name, 'ns', { labels }))
    remember(pod)
    return pod
  }
  revisionClock.advance(1)
  arena.setReady(true)
  return { clock, kv, store, counting, revisionClock, arena, fence, delegator, create, remember }
}

t.test('reads come from memory after the fence, from the store when it does not pass', async (t) => {
  const f = fixture(t)
  const pod = await f.create('a')
  f.counting.reads.gets = 0
  t.same(await f.delegator.get('/pods/ns/a'), pod)
  t.equal(f.counting.reads.gets, 0)
  f.fence.passes = false
  t.same(await f.delegator.get('/pods/ns/a'), pod)
  t.equal(f.counting.reads.gets, 1)
  t.equal(f.fence.asked, 2)
})

t.test('any version at all asks nobody', async (t) => {
  const f = fixture(t)
  await f.create('a')
  const asked = f.fence.asked
  await f.delegator.get('/pods/ns/a', { resourceVersion: '0' })
  const list = await f.delegator.getList('/pods', listOptions({ resourceVersion: '0', limit: 1 }))
  t.equal(list.items.length, 1)
  t.equal(f.fence.asked, asked)
})

t.test('a version that is on its way is waited for, up to three seconds', async (t) => {
  const f = fixture(t)
  const pod = await f.delegator.create('/pods/ns/late', makePod('late', 'ns'))
  const reading = f.delegator.get('/pods/ns/late', { resourceVersion: String(versionOf(pod)) })
  f.remember(pod)
  t.same(await reading, pod)
  const failing = f.delegator.get('/pods/ns/late', { resourceVersion: '1000' })
  const failed = t.rejects(failing, { code: 'too-large', fields: { retryAfterSeconds: 1 } })
  await f.clock.advance(3_000)
  await failed
})

t.test('what has left the window is read from the store, pages and exact versions alike', async (t) => {
  const f = fixture(t)
  const a = await f.create('a')
  await f.create('b')
  const page = await f.delegator.getList('/pods', listOptions({ limit: 1 }))
  t.equal(page.remainingItemCount, 1)
  await f.create('c')
  const continued = listOptions({ limit: 1, continueToken: page.continueToken })
  t.same(namesOf((await f.delegator.getList('/pods', continued)).items), ['ns/b'], 'from memory')
  const lists = f.counting.reads.lists.length
  f.arena.forgetUpTo(f.revisionClock.revision())
  t.same(namesOf((await f.delegator.getList('/pods', continued)).items), ['ns/b'], 'from the store')
  const exact = listOptions({ resourceVersion: String(versionOf(a)), resourceVersionMatch: 'Exact' })
  t.same(namesOf((await f.delegator.getList('/pods', exact)).items), ['ns/a'])
  t.equal(f.counting.reads.lists.length, lists + 2)
})

t.test('a watch from before the window begins in the store and goes on in memory', async (t) => {
  const f = fixture(t)
  const a = await f.create('a')
  await f.create('b')
  f.arena.forgetUpTo(f.revisionClock.revision())
  const watch = await f.delegator.watch('/pods', listOptions({ resourceVersion: String(versionOf(a)) }))
  t.match((await watch.next()).value, { type: 'ADDED', object: { metadata: { name: 'b' } } })
  const c = await f.create('c')
  t.match((await watch.next()).value, { type: 'ADDED', resourceVersion: versionOf(c) })
  // From now on memory alone is looked at: this is not in the store.
  const ghost = makePod('ghost', 'ns')
  ghost.metadata!.resourceVersion = '100'
  f.remember(ghost)
  t.match((await watch.next()).value, { type: 'ADDED', object: { metadata: { name: 'ghost' } } })
  watch.stop()
})

t.test('a watch whose memory is dropped goes on in the store without a gap', async (t) => {
  const f = fixture(t)
  await f.create('a')
  const watch = await f.delegator.watch('/pods', listOptions({ resourceVersion: '0' }))
  t.match((await watch.next()).value, { type: 'ADDED', object: { metadata: { name: 'a' } } })
  const waiting = watch.next()
  f.arena.setReady(false)
  await f.delegator.create('/pods/ns/b', makePod('b', 'ns'))
  f.revisionClock.advance(f.kv.revision)
  t.match((await waiting).value, { type: 'ADDED', object: { metadata: { name: 'b' } } })
  watch.stop()
})

t.test('a watch whose memory is dropped ends when the store is behind what it has told: it went back', async (t) => {
  const f = fixture(t)
  const watch = await f.delegator.watch('/pods', listOptions({ resourceVersion: '1' }))
  const ghost = makePod('ghost', 'ns')
  ghost.metadata!.resourceVersion = '100'
  f.remember(ghost)
  t.match((await watch.next()).value, { type: 'ADDED', object: { metadata: { name: 'ghost' } } })
  const waiting = watch.next()
  f.arena.setReady(false)
  f.revisionClock.advance(101)
  t.match((await waiting).value, { type: 'ERROR', error: { code: 'too-old' } })
  t.match(await watch.next(), { done: true })
})

t.test('a watcher that the ring has passed ends with an error: too old', async (t) => {
  const f = fixture(t)
  const watch = await f.delegator.watch('/pods', listOptions({ resourceVersion: '1' }))
  await f.create('a')
  await f.create('b')
  f.arena.forgetUpTo(f.revisionClock.revision())
  const { value } = await watch.next()
  t.match(value, { type: 'ERROR', error: { code: 'too-old' } })
  t.match(await watch.next(), { done: true })
})

t.test('bookmarks come about every minute and before the deadline, and never go back', async (t) => {
  const f = fixture(t)
  const a = await f.create('a')
  const watch = await f.delegator.watch(
    '/pods',
    listOptions({
      resourceVersion: String(versionOf(a)),
      allowWatchBookmarks: true,
      deadline: f.clock.now() + 100_000,
    }),
  )
  const first = watch.next()
  await f.clock.advance(59_000)
  await f.clock.advance(1_000)
  t.match((await first).value, { type: 'BOOKMARK', resourceVersion: versionOf(a), initialEventsEnd: false })
  const second = watch.next()
  f.revisionClock.advance(50)
  await until(
    async () => {
      await f.clock.advance(500)
      return f.clock.pendingTimers > 0
    },
    { what: 'the timer of the next bookmark' },
  )
  await f.clock.advance(38_000)
  t.match((await second).value, { type: 'BOOKMARK', resourceVersion: 50 })
  watch.stop()
})

t.test('a malformed version is refused before anything is opened', async (t) => {
  const f = fixture(t)
  await t.rejects(f.delegator.watch('/pods', listOptions({ resourceVersion: 'x' })), { code: 'invalid-request' })
  await t.rejects(f.delegator.get('/pods/ns/a', { resourceVersion: 'x' }), { code: 'invalid-request' })
})

t.test('it is ready when memory is, and not while it fills', async (t) => {
  const f = fixture(t)
  f.delegator.readinessCheck()
  f.arena.setReady(false)
  t.throws(() => f.delegator.readinessCheck(), new StorageError('not-ready', 'the watch cache is still filling'))
})

t.test('an update starts from what is in memory, and needs no read when that is current', async (t) => {
  const f = fixture(t)
  await f.create('a')
  f.counting.reads.gets = 0
  const updated = await f.delegator.guaranteedUpdate('/pods/ns/a', (pod) => ({
    object: { ...pod, spec: { note: 'changed' } },
  }))
  t.equal(f.counting.reads.gets, 0)
  t.equal(updated.spec?.note, 'changed')
})
