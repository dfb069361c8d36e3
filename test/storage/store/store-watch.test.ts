import t from 'tap'
import type { WatchStream } from '#keelson/storage/contract/interface.js'
import { equals, type ListFields, listOptions, makePod, nameOf, type Pod } from '../../contract/pod.js'
import { KEY, openPods } from './pod-store.js'

t.test('a watch whose stream fails ends with that error, and closes the stream', async (t) => {
  const { kv, store } = openPods()
  const watch = await store.watch('/pods/', listOptions({ resourceVersion: '1' }))
  kv.failNext({ call: 'watch', when: 'after' })
  await store.create(KEY, makePod('foo', 'ns'))
  const first = await watch.next()
  t.match(first, { done: false, value: { type: 'ERROR', error: { code: 'unreachable' } } })
  t.equal((await watch.next()).done, true)
  t.equal(kv.watchesOpen, 0)
})

t.test('a watch whose initial list fails ends with that error', async (t) => {
  const { kv, store } = openPods()
  kv.failNext({ call: 'list', when: 'before' })
  const watch = await store.watch('/pods/', listOptions({ resourceVersion: '0' }))
  t.match(await watch.next(), { value: { type: 'ERROR', error: { code: 'unreachable' } } })
  t.equal((await watch.next()).done, true)
})

t.test(
  'a watcher that does not read is not read ahead for without limit, and stopping it frees its stream',
  async (t) => {
    const { kv, store, transformer } = openPods()
    let decoded = 0
    const watch = await store.watch('/pods/', listOptions({ resourceVersion: '1' }))
    for (let i = 0; i < 500; i++) await store.create(`/pods/ns/${i}`, makePod(String(i), 'ns'))
    transformer.onRead = () => decoded++
    for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve))
    t.ok(decoded <= 102, `${decoded} were read ahead`)
    t.equal(kv.watchesOpen, 1)
    watch.stop()
    t.equal(kv.watchesOpen, 0)
    let delivered = 0
    while (!(await watch.next()).done) delivered++
    t.ok(delivered >= 100 && delivered <= 102)
  },
)

async function events(watch: WatchStream<Pod>, count: number): Promise<string[]> {
  const seen: string[] = []
  while (seen.length < count) {
    const { value } = await watch.next()
    if (value === undefined) break
    seen.push(
      value.type === 'BOOKMARK' || value.type === 'ERROR' ? value.type : `${value.type} ${nameOf(value.object)}`,
    )
  }
  return seen
}

t.test('which events come first depends on what was asked for', async (t) => {
  const { store } = openPods()
  const a = await store.create('/pods/ns/a', makePod('a', 'ns'))
  await store.create('/pods/ns/b', makePod('b', 'ns'))
  const first = async (fields: ListFields, count: number) => {
    const watch = await store.watch('/pods/', listOptions(fields))
    const seen = await events(watch, count)
    watch.stop()
    return seen
  }
  t.same(await first({ resourceVersion: '0' }, 2), ['ADDED a', 'ADDED b'])
  t.same(await first({ resourceVersion: a.metadata!.resourceVersion! }, 1), ['ADDED b'])
  const initial = { sendInitialEvents: true, allowWatchBookmarks: true }
  t.same(await first(initial, 3), ['ADDED a', 'ADDED b', 'BOOKMARK'])
  t.same(await first({ ...initial, resourceVersion: '1000' }, 2), ['ERROR'], 'what is ahead of the store')
  const now = await store.watch('/pods/', listOptions({ sendInitialEvents: false }))
  await store.create('/pods/ns/c', makePod('c', 'ns'))
  t.same(await events(now, 1), ['ADDED c'])
  now.stop()
})

t.test('what comes into a selection is added, what leaves it deleted', async (t) => {
  const { store } = openPods()
  const label = equals('color', 'red')
  const watch = await store.watch('/pods/', listOptions({ resourceVersion: '1', label }))
  const paint = (color: string) =>
    store.guaranteedUpdate('/pods/ns/a', (pod) => ({
      object: { ...pod, metadata: { ...pod.metadata, labels: { color } } },
    }))
  await store.create('/pods/ns/a', makePod('a', 'ns', { labels: { color: 'blue' } }))
  await paint('red')
  await paint('blue')
  await store.delete('/pods/ns/a')
  await store.create('/pods/ns/z', makePod('z', 'ns', { labels: { color: 'red' } }))
  t.same(await events(watch, 3), ['ADDED a', 'DELETED a', 'ADDED z'])
  watch.stop()
})

t.test('a deletion shows the last state with the revision of the deletion', async (t) => {
  const { memory, store } = openPods()
  await store.create('/pods/ns/a', makePod('a', 'ns', { note: 'last' }))
  const watch = await store.watch('/pods/', listOptions({ resourceVersion: String(await memory.currentRevision()) }))
  await store.delete('/pods/ns/a')
  const { value } = await watch.next()
  const revision = await memory.currentRevision()
  t.match(value, {
    type: 'DELETED',
    resourceVersion: revision,
    object: { spec: { note: 'last' }, metadata: { resourceVersion: String(revision) } },
  })
  watch.stop()
})

t.test('a watch of one object sees no other', async (t) => {
  const { store } = openPods()
  const watch = await store.watch('/pods/ns/a', listOptions({ resourceVersion: '1', recursive: false }))
  await store.create('/pods/ns/ab', makePod('ab', 'ns'))
  await store.create('/pods/ns/a', makePod('a', 'ns'))
  t.same(await events(watch, 1), ['ADDED a'])
  watch.stop()
})

t.test('an event that cannot be read ends the watch', async (t) => {
  const { memory, kv, store } = openPods()
  const watch = await store.watch('/pods/', listOptions({ resourceVersion: '1' }))
  await memory.optimisticPut('/registry/pods/ns/a', Buffer.from('broken'), 0)
  t.match(await watch.next(), { value: { type: 'ERROR', error: { code: 'corrupt-object' } } })
  t.equal((await watch.next()).done, true)
  t.equal(kv.watchesOpen, 0)
})

t.test('a signal ends a watch; one that has gone off opens none', async (t) => {
  const { kv, store } = openPods()
  const controller = new AbortController()
  const watch = await store.watch('/pods/', listOptions({ resourceVersion: '1', signal: controller.signal }))
  const next = watch.next()
  controller.abort()
  t.equal((await next).done, true)
  t.equal(kv.watchesOpen, 0)
  kv.calls.length = 0
  const late = await store.watch('/pods/', listOptions({ resourceVersion: '1', signal: controller.signal }))
  t.equal((await late.next()).done, true)
  t.same(kv.calls, [])
})
