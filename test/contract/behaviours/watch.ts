import type { Selector } from '#keelson/api/selector.js'
import { equals, type ListFields, listOptions, makePod, nameOf, type Pod, podKey, versionOf } from '../pod.js'
import { type Subject, summarize, type Watching } from '../subject.js'
import { behaviour } from '../suite.js'

const at = (pod: Pod): string => String(versionOf(pod))

const differs = (name: string, value: string): Selector => ({
  matches: (attributes) => attributes.get(name) !== value,
  empty: () => false,
  requiresExactMatch: () => undefined,
  toString: () => `${name}!=${value}`,
})

async function assign(s: Subject, pod: Pod, nodeName: string): Promise<Pod> {
  return s.storage.guaranteedUpdate(podKey(pod), (current) => ({ object: { ...current, spec: { nodeName } } }))
}

/** A fixed run of changes in two namespaces. */
async function runOfChanges(s: Subject): Promise<void> {
  for (const namespace of ['ns1', 'ns2']) {
    for (const name of ['foo1', 'foo2']) await s.create(makePod(name, namespace))
  }
  await assign(s, makePod('foo1', 'ns1'), 'bar1')
  await assign(s, makePod('foo2', 'ns2'), 'bar1')
  await s.label(makePod('foo1', 'ns1'), { touched: 'yes' })
  await assign(s, makePod('foo1', 'ns1'), 'bar2')
  await s.storage.delete('/pods/ns2/foo2')
}

/** What a watch with this scope sees of them. `last` is a change that it sees for certain, to know that all was said. */
async function scopedWatch(s: Subject, key: string, fields: ListFields, last: () => Promise<Pod>): Promise<string[]> {
  const start = await s.storage.currentResourceVersion()
  const watch = await s.watch(key, { ...fields, resourceVersion: String(start) })
  await runOfChanges(s)
  return eventsBefore(watch, versionOf(await last()))
}

async function eventsBefore(watch: Watching, revision: number): Promise<string[]> {
  const seen: string[] = []
  for (;;) {
    const { type, object, resourceVersion } = await watch.nextObject()
    if (resourceVersion >= revision) return seen
    seen.push(`${type} ${object.metadata?.namespace}/${nameOf(object)}`)
  }
}

export const watch = [
  behaviour('a watch tells creation, change and deletion, in order, with their versions', async (t, s) => {
    const start = await s.storage.currentResourceVersion()
    const watch = await s.watch('/pods/ns', { resourceVersion: String(start) })
    const created = await s.create(makePod('foo', 'ns'))
    const updated = await s.label(created, { a: 'b' })
    const deleted = await s.storage.delete('/pods/ns/foo')
    const events = await watch.take(3)
    t.same(
      events.map(({ type, object, resourceVersion }) => ({ type, object, resourceVersion })),
      [
        { type: 'ADDED', object: created, resourceVersion: versionOf(created) },
        { type: 'MODIFIED', object: updated, resourceVersion: versionOf(updated) },
        { type: 'DELETED', object: deleted, resourceVersion: versionOf(deleted) },
      ],
    )
  }),

  behaviour('a watch is open as soon as the call returns, and waits for nothing to happen', async (t, s) => {
    const watch = await s.watch('/pods/', { resourceVersion: '0' })
    const fromNow = await s.watch('/pods/', { sendInitialEvents: false })
    const created = await s.create(makePod('foo', 'ns'))
    t.same(await watch.summary(1), [`ADDED foo@${at(created)}`])
    t.same(await fromNow.summary(1), [`ADDED foo@${at(created)}`])
  }),

  behaviour('a watch from a version delivers what came after it, and nothing else', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    const updated = await s.label(created, { a: 'b' })
    const second = await s.label(created, { a: 'c' })
    const watch = await s.watch('/pods/ns', { resourceVersion: at(created) })
    t.same(await watch.summary(2), [`MODIFIED foo@${at(updated)}`, `MODIFIED foo@${at(second)}`])
  }),

  behaviour('a watch of one key sees that key only', async (t, s) => {
    const foo = await s.create(makePod('foo', 'ns'))
    const watch = await s.watch('/pods/ns/foo', { recursive: false, resourceVersion: at(foo) })
    await s.create(makePod('foobar', 'ns'))
    await s.storage.create('/pods/ns/foo/below', makePod('below', 'ns'))
    const deleted = await s.storage.delete('/pods/ns/foo')
    t.same(await watch.summary(1), [`DELETED foo@${at(deleted)}`])
  }),

  behaviour('a watch of a namespace does not see another that begins with its name', async (t, s) => {
    const start = await s.storage.currentResourceVersion()
    const watch = await s.watch('/pods/foo', { resourceVersion: String(start) })
    await s.create(makePod('a', 'foobar'))
    await s.create(makePod('b', 'foo'))
    t.match(await watch.summary(1), [/^ADDED b@/])
  }),

  behaviour('a watch sees nothing of other resources', async (t, s) => {
    const start = await s.storage.currentResourceVersion()
    const watch = await s.watch('/pods', { resourceVersion: String(start) })
    await s.writeRaw('/podsecurity/x', 'x')
    await s.increaseRevision()
    await s.create(makePod('b', 'ns'))
    t.match(await watch.summary(1), [/^ADDED b@/])
  }),

  behaviour('a deletion carries the last state with the version of the deletion', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns', { note: 'last words' }))
    const watch = await s.watch('/pods/', { resourceVersion: at(created) })
    const deleted = await s.storage.delete('/pods/ns/foo')
    const event = await watch.nextObject()
    t.equal(event.type, 'DELETED')
    t.equal(event.object.spec?.note, 'last words')
    t.equal(versionOf(event.object), versionOf(deleted))
    t.ok(versionOf(event.object) > versionOf(created))
  }),

  behaviour('an object that comes to match is ADDED, one that ceases to match is DELETED', async (t, s) => {
    const start = await s.storage.currentResourceVersion()
    const watch = await s.watch('/pods/ns', { resourceVersion: String(start), label: equals('app', 'web') })
    const pod = makePod('foo', 'ns')
    await s.create(pod)
    const entered = await s.label(pod, { app: 'web' })
    const changed = await s.label(pod, { app: 'web', more: 'yes' })
    const left = await s.label(pod, { app: 'db' })
    await s.label(pod, { app: 'mail' })
    const back = await s.label(pod, { app: 'web' })
    const deleted = await s.storage.delete('/pods/ns/foo')
    const events = await watch.take(5)
    t.same(events.map(summarize), [
      `ADDED foo@${at(entered)}`,
      `MODIFIED foo@${at(changed)}`,
      `DELETED foo@${at(left)}`,
      `ADDED foo@${at(back)}`,
      `DELETED foo@${at(deleted)}`,
    ])
    t.same(events[2]!.object.metadata?.labels, { app: 'web', more: 'yes' }, 'who leaves is shown as it last matched')
  }),

  behaviour('a deletion of what did not match is not told', async (t, s) => {
    const start = await s.storage.currentResourceVersion()
    const watch = await s.watch('/pods/ns', { resourceVersion: String(start), label: equals('app', 'web') })
    await s.create(makePod('foo', 'ns'))
    await s.storage.delete('/pods/ns/foo')
    await s.create(makePod('bar', 'ns', { labels: { app: 'web' } }))
    t.match(await watch.summary(1), [/^ADDED bar@/])
  }),

  behaviour('a watch of all namespaces sees every change', async (t, s) => {
    const everythingSeen = [
      'ADDED ns1/foo1',
      'ADDED ns1/foo2',
      'ADDED ns2/foo1',
      'ADDED ns2/foo2',
      'MODIFIED ns1/foo1',
      'MODIFIED ns2/foo2',
      'MODIFIED ns1/foo1',
      'MODIFIED ns1/foo1',
      'DELETED ns2/foo2',
    ]
    t.same(await scopedWatch(s, '/pods/', {}, () => s.create(makePod('end', 'ns3'))), everythingSeen)
  }),

  behaviour('a watch of a namespace by its key or by a field selector sees the same', async (t, s) => {
    const expected = ['ADDED ns2/foo1', 'ADDED ns2/foo2', 'MODIFIED ns2/foo2', 'DELETED ns2/foo2']
    const start = await s.storage.currentResourceVersion()
    const end = () => s.create(makePod('end', 'ns2'))
    t.same(await scopedWatch(s, '/pods/ns2', {}, end), expected)
    const bySelector = await s.watch('/pods/', {
      resourceVersion: String(start),
      field: equals('metadata.namespace', 'ns2'),
    })
    t.same(await eventsBefore(bySelector, await s.storage.currentResourceVersion()), expected)
  }),

  behaviour('a watch of a name by field selector sees that name', async (t, s) => {
    t.same(
      await scopedWatch(s, '/pods/ns1', { field: equals('metadata.name', 'foo1') }, () =>
        s.label(makePod('foo1', 'ns1'), { end: 'yes' }),
      ),
      ['ADDED ns1/foo1', 'MODIFIED ns1/foo1', 'MODIFIED ns1/foo1', 'MODIFIED ns1/foo1'],
    )
  }),

  behaviour('a watch by an indexed field sees objects enter and leave', async (t, s) => {
    t.same(
      await scopedWatch(s, '/pods/', { field: equals('spec.nodeName', 'bar1') }, () =>
        s.create(makePod('end', 'ns3', { nodeName: 'bar1' })),
      ),
      ['ADDED ns1/foo1', 'ADDED ns2/foo2', 'MODIFIED ns1/foo1', 'DELETED ns1/foo1', 'DELETED ns2/foo2'],
    )
  }),

  behaviour('a watch by the negation of a field sees the rest', async (t, s) => {
    t.same(
      await scopedWatch(s, '/pods/', { field: differs('spec.nodeName', 'bar1') }, () =>
        s.create(makePod('end', 'ns3')),
      ),
      [
        'ADDED ns1/foo1',
        'ADDED ns1/foo2',
        'ADDED ns2/foo1',
        'ADDED ns2/foo2',
        'DELETED ns1/foo1',
        'DELETED ns2/foo2',
        'ADDED ns1/foo1',
      ],
    )
  }),

  behaviour('a watch of a name in one namespace by indexed field sees both demands', async (t, s) => {
    const end = () => s.create(makePod('end', 'ns1', { nodeName: 'bar2' }))
    t.same(await scopedWatch(s, '/pods/ns1', { field: equals('spec.nodeName', 'bar2') }, end), ['ADDED ns1/foo1'])
  }),

  behaviour(
    'a watch of a cluster-scoped name sees that object',
    async (t, s) => {
      const start = await s.storage.currentResourceVersion()
      const options = { resourceVersion: String(start), field: equals('metadata.name', 'one') }
      const byKey = await s.watch('/pods/one', { resourceVersion: String(start), recursive: false })
      const bySelector = await s.watch('/pods/', options)
      await s.create(makePod('one-more', ''))
      await s.create(makePod('one', ''))
      await s.label(makePod('one', ''), { a: 'b' })
      await s.storage.delete('/pods/one')
      for (const watch of [byKey, bySelector]) {
        t.same(
          (await watch.take(3)).map(({ type, object }) => `${type} ${nameOf(object)}`),
          ['ADDED one', 'MODIFIED one', 'DELETED one'],
        )
      }
    },
    'cluster',
  ),

  behaviour('watches that start at the same version see the same', async (t, s) => {
    const start = await s.storage.currentResourceVersion()
    const watches = await Promise.all(
      Array.from({ length: 5 }, () => s.watch('/pods/', { resourceVersion: String(start) })),
    )
    for (let i = 0; i < 20; i++) await s.create(makePod(`pod-${i}`, 'ns'))
    const late = await s.watch('/pods/', { resourceVersion: String(start) })
    const [first, ...others] = await Promise.all([...watches, late].map((watch) => watch.summary(20)))
    for (const other of others) t.same(other, first)
  }),

  behaviour('no event is lost or repeated while many write', async (t, s) => {
    const start = await s.storage.currentResourceVersion()
    const watch = await s.watch('/pods/', { resourceVersion: String(start) })
    const writer = async (w: number) => {
      const pod = makePod(`pod-${w}`, 'ns')
      await s.create(pod)
      for (let i = 0; i < 10; i++) await s.label(pod, { round: String(i) })
      await s.storage.delete(podKey(pod))
    }
    await Promise.all(Array.from({ length: 8 }, (_, w) => writer(w)))
    const events = await watch.take(8 * 12)
    const versions = events.map((event) => event.resourceVersion)
    t.same(
      versions,
      [...versions].sort((a, b) => a - b),
    )
    t.equal(new Set(versions).size, versions.length)
    for (let w = 0; w < 8; w++) {
      const mine = events.filter((event) => nameOf(event.object) === `pod-${w}`)
      t.same(
        mine.map((event) => event.type),
        ['ADDED', ...Array<string>(10).fill('MODIFIED'), 'DELETED'],
      )
    }
  }),

  behaviour('watchers that never read hold up nobody else', async (t, s) => {
    const start = await s.storage.currentResourceVersion()
    for (let i = 0; i < 50; i++) await s.watch('/pods/', { resourceVersion: String(start) })
    const reading = await s.watch('/pods/', { resourceVersion: String(start) })
    for (let i = 0; i < 150; i++) {
      const created = await s.create(makePod(`pod-${i}`, 'ns'))
      t.equal(summarize(await reading.nextObject()), `ADDED pod-${i}@${at(created)}`)
    }
  }),

  behaviour('a watcher that reads late still gets every event', async (t, s) => {
    const start = await s.storage.currentResourceVersion()
    const watch = await s.watch('/pods/', { resourceVersion: String(start) })
    for (let i = 0; i < 250; i++) await s.create(makePod(`pod-${i}`, 'ns'))
    const names = (await watch.take(250)).map(({ object }) => nameOf(object))
    t.same(
      names,
      Array.from({ length: 250 }, (_, i) => `pod-${i}`),
    )
  }),

  behaviour('events that were queued when a watch is stopped are delivered, then it ends', async (t, s) => {
    const start = await s.storage.currentResourceVersion()
    for (let i = 0; i < 21; i++) await s.create(makePod(`pod-${i}`, 'ns'))
    // How much is queued when it stops is a matter of time, so it is given more until it was enough.
    for (let waitMs = 1; ; waitMs *= 2) {
      const watch = await s.watch('/pods/', { resourceVersion: String(start) })
      t.match(await watch.summary(1), [/^ADDED pod-0@/])
      await new Promise((resolve) => setTimeout(resolve, waitMs))
      watch.stop()
      let delivered = 1
      for (;;) {
        const result = await watch.stream.next()
        if (result.done) break
        if (result.value.type === 'ADDED') t.equal(nameOf(result.value.object), `pod-${delivered++}`)
      }
      t.ok(await watch.ended())
      if (delivered >= 11) break
      if (waitMs > 10_000) return void t.fail(`only ${delivered} were delivered`)
    }
  }),

  behaviour('a stopped watch ends a read that waits', async (t, s) => {
    const watch = await s.watch('/pods/', { resourceVersion: String(await s.storage.currentResourceVersion()) })
    const waiting = watch.ended()
    watch.stop()
    t.equal(await waiting, true)
    watch.stop()
    t.equal(await watch.ended(), true)
  }),

  behaviour('a watch whose request is already cancelled ends without error', async (t, s) => {
    await s.create(makePod('foo', 'ns'))
    for (const fields of [{ resourceVersion: '0' }, { resourceVersion: '1' }, { sendInitialEvents: false }]) {
      const watch = await s.watch('/pods/', { ...fields, signal: AbortSignal.abort() })
      t.equal(await watch.ended(), true)
    }
  }),

  behaviour('a watch ends when its request is cancelled', async (t, s) => {
    const controller = new AbortController()
    const watch = await s.watch('/pods/', { resourceVersion: '0', signal: controller.signal })
    await s.create(makePod('foo', 'ns'))
    t.equal((await watch.nextObject()).type, 'ADDED')
    const waiting = watch.ended()
    controller.abort()
    t.equal(await waiting, true)
  }),

  behaviour('a watch can be read with for await, and leaving the loop ends it', async (t, s) => {
    const stream = await s.storage.watch('/pods/', listOptions({ resourceVersion: '0' }))
    await s.create(makePod('a', 'ns'))
    const b = await s.create(makePod('b', 'ns'))
    const seen: string[] = []
    for await (const event of stream) {
      seen.push(summarize(event))
      if (event.type !== 'ERROR' && event.resourceVersion === versionOf(b)) break
    }
    t.match(seen, [/^ADDED a@/, /^ADDED b@/])
    t.equal((await stream.next()).done, true)
  }),

  behaviour('a watch from a compacted version ends with an error: too old', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    await s.label(created, { a: 'b' })
    await s.compactAll()
    const watch = await s.watch('/pods/ns', { resourceVersion: at(created) })
    const first = await watch.next()
    if (s.cached && first.type !== 'ERROR') {
      // The cacher's ring may reach back further than the store; then the event is the right one.
      t.equal(first.type, 'MODIFIED')
      return
    }
    t.match(first, { type: 'ERROR', error: { code: 'too-old' } })
    t.equal(await watch.ended(), true)
  }),

  behaviour('a watch from the newest version survives a compaction', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    const watch = await s.watch('/pods/ns', { resourceVersion: at(created) })
    await s.label(created, { a: 'b' })
    t.equal((await watch.nextObject()).type, 'MODIFIED')
    await s.compactAll()
    await s.storage.delete('/pods/ns/foo')
    t.equal((await watch.nextObject()).type, 'DELETED')
  }),

  behaviour('a watch with a malformed version is refused', async (t, s) => {
    await t.rejects(s.watch('/pods/', { resourceVersion: 'abc' }), { code: 'invalid-request' })
  }),

  behaviour('closing the storage ends its watches', async (t, s) => {
    const watch = await s.watch('/pods/', { resourceVersion: '0' })
    const waiting = watch.ended()
    await s.storage.close()
    t.equal(await waiting, true)
  }),
]
