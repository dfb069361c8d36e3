import { equals, type ListFields, makePod, nameOf, versionOf } from '../pod.js'
import { summarize } from '../subject.js'
import { type Behaviour, behaviour } from '../suite.js'

const VERSIONS = { unset: '', zero: '0', first: 'first', current: 'current' } as const

/** Which events come first, for every way to ask: the table of Kubernetes' watch semantics. */
function semantics(
  version: keyof typeof VERSIONS,
  sendInitialEvents: boolean | undefined,
  allowWatchBookmarks: boolean,
): Behaviour {
  const asked = sendInitialEvents === undefined ? 'unset' : String(sendInitialEvents)
  const title = `watch with version ${version}, initial events ${asked}, bookmarks ${allowWatchBookmarks ? 'wanted' : 'not wanted'}`
  // From the first version the creations are history that is replayed as such; then they are delivered either way.
  const replays =
    sendInitialEvents === true || version === 'first' || (sendInitialEvents === undefined && version !== 'current')
  const tells = replays ? 'tells what exists first' : 'tells only what is new'
  const marks = sendInitialEvents === true && allowWatchBookmarks
  return behaviour(`${title}: ${tells}${marks ? ' and marks the end of it' : ''}`, async (t, s) => {
    const start = await s.increaseRevision()
    const created = await s.createAll([makePod('1', 'ns'), makePod('2', 'ns'), makePod('3', 'ns')])
    await s.seen(versionOf(created[2]!))
    const current = await s.storage.currentResourceVersion()
    const resourceVersion =
      version === 'first' ? String(start) : version === 'current' ? String(current) : VERSIONS[version]
    const fields: ListFields = sendInitialEvents === undefined ? {} : { sendInitialEvents }
    const watch = await s.watch('/pods/ns', { ...fields, resourceVersion, allowWatchBookmarks })
    if (replays)
      t.same(
        await watch.summary(3),
        created.map((pod) => `ADDED ${nameOf(pod)}@${versionOf(pod)}`),
      )
    if (marks) {
      const bookmark = await watch.next()
      t.match(bookmark, { type: 'BOOKMARK', initialEventsEnd: true })
      if (bookmark.type === 'BOOKMARK') t.ok(bookmark.resourceVersion >= versionOf(created[2]!))
    }
    const after = await s.createAll([makePod('4', 'ns'), makePod('5', 'ns')])
    const rest = []
    while (rest.length < 2) {
      const event = await watch.next()
      if (event.type !== 'BOOKMARK') rest.push(event)
      else t.equal(event.initialEventsEnd, false)
    }
    t.same(
      rest.map(summarize),
      after.map((pod) => `ADDED ${nameOf(pod)}@${versionOf(pod)}`),
    )
  })
}

const everySemantics = (['unset', 'zero', 'first', 'current'] as const).flatMap((version) =>
  [true, false].flatMap((initial) => [true, false].map((bookmarks) => semantics(version, initial, bookmarks))),
)

export const watchInitial = [
  ...everySemantics,
  semantics('unset', undefined, false),
  semantics('zero', undefined, false),
  semantics('zero', undefined, true),
  semantics('first', undefined, false),
  semantics('current', undefined, false),

  behaviour('a watch from 0 tells objects as they are now, not how they came to be', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    await s.label(created, { a: 'b' })
    const updated = await s.label(created, { a: 'c' })
    await s.create(makePod('gone', 'ns'))
    await s.seen(versionOf(await s.storage.delete('/pods/ns/gone')))
    const watch = await s.watch('/pods/ns', { resourceVersion: '0' })
    const first = await watch.nextObject()
    t.equal(first.type, 'ADDED')
    t.same(first.object, updated)
    const deleted = await s.storage.delete('/pods/ns/foo')
    t.same(await watch.summary(1), [`DELETED foo@${versionOf(deleted)}`])
  }),

  behaviour('a watch from 0 works after a compaction too', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    const updated = await s.label(created, { a: 'b' })
    await s.seen(versionOf(updated))
    await s.compactAll()
    const watch = await s.watch('/pods/ns', { resourceVersion: '0' })
    t.same(await watch.summary(1), [`ADDED foo@${versionOf(updated)}`])
    await s.storage.delete('/pods/ns/foo')
    t.equal((await watch.nextObject()).type, 'DELETED')
  }),

  behaviour('a watch of one key from 0 tells the object and then its changes', async (t, s) => {
    await s.create(makePod('other', 'ns'))
    const created = await s.create(makePod('foo', 'ns'))
    await s.seen(versionOf(created))
    const watch = await s.watch('/pods/ns/foo', { recursive: false, resourceVersion: '0' })
    const updated = await s.label(created, { a: 'b' })
    t.same(await watch.summary(2), [`ADDED foo@${versionOf(created)}`, `MODIFIED foo@${versionOf(updated)}`])
  }),

  behaviour('a watch of a key that does not exist yet tells its creation', async (t, s) => {
    const watch = await s.watch('/pods/ns/foo', { recursive: false, resourceVersion: '0' })
    const created = await s.create(makePod('foo', 'ns'))
    t.same(await watch.summary(1), [`ADDED foo@${versionOf(created)}`])
  }),

  behaviour('initial events are those that the selector selects', async (t, s) => {
    const pods = await s.createAll([
      makePod('a', 'ns', { labels: { app: 'web' } }),
      makePod('b', 'ns'),
      makePod('c', 'ns', { labels: { app: 'web' } }),
    ])
    await s.seen(versionOf(pods[2]!))
    const watch = await s.watch('/pods/ns', { resourceVersion: '0', label: equals('app', 'web') })
    const entered = await s.label(pods[1]!, { app: 'web' })
    t.same(await watch.summary(3), [
      `ADDED a@${versionOf(pods[0]!)}`,
      `ADDED c@${versionOf(pods[2]!)}`,
      `ADDED b@${versionOf(entered)}`,
    ])
  }),

  behaviour('the mark after the initial events has the version of the store, not of the last object', async (t, s) => {
    const pods = await s.createAll(['1', '2', '3'].map((name) => makePod(name, 'ns')))
    const elsewhere = await s.create(makePod('x', 'other'))
    const revision = await s.increaseRevision()
    const watch = await s.watch('/pods/ns', { sendInitialEvents: true, allowWatchBookmarks: true })
    t.same(
      await watch.summary(3),
      pods.map((pod) => `ADDED ${nameOf(pod)}@${versionOf(pod)}`),
    )
    const bookmark = await watch.next()
    t.match(bookmark, { type: 'BOOKMARK', initialEventsEnd: true, resourceVersion: revision })
    t.ok(revision > versionOf(elsewhere))
  }),

  behaviour('initial events of one name: that object, then the mark at the version of the store', async (t, s) => {
    const [foo] = await s.createAll([makePod('foo', 'ns'), makePod('bar', 'ns'), makePod('baz', 'ns')])
    const revision = await s.increaseRevision()
    const watch = await s.watch('/pods/ns', {
      sendInitialEvents: true,
      allowWatchBookmarks: true,
      field: equals('metadata.name', 'foo'),
    })
    t.same(await watch.summary(1), [`ADDED foo@${versionOf(foo!)}`])
    t.match(await watch.next(), { type: 'BOOKMARK', initialEventsEnd: true, resourceVersion: revision })
  }),

  behaviour('where nothing exists the mark comes alone', async (t, s) => {
    await s.create(makePod('x', 'other'))
    const revision = await s.storage.currentResourceVersion()
    const watch = await s.watch('/pods/ns', { sendInitialEvents: true, allowWatchBookmarks: true })
    t.match(await watch.next(), { type: 'BOOKMARK', initialEventsEnd: true, resourceVersion: revision })
  }),

  behaviour('initial events at a version in the future end with an error: too large', async (t, s) => {
    await s.create(makePod('foo', 'ns'))
    const current = await s.storage.currentResourceVersion()
    const watch = await s.watch('/pods/ns', { sendInitialEvents: true, resourceVersion: String(current + 1000) })
    const error = await watch.nextError()
    t.match(error, { code: 'too-large', fields: { resourceVersion: current + 1000 } })
    t.equal(await watch.ended(), true)
  }),

  behaviour('many initial events come in the order of keys, with the changes after them', async (t, s) => {
    await Promise.all(
      Array.from({ length: 300 }, (_, i) => s.create(makePod(`pod-${String(i).padStart(3, '0')}`, 'ns'))),
    )
    await s.list('/pods/')
    const watch = await s.watch('/pods/ns', { resourceVersion: '0' })
    await s.storage.delete('/pods/ns/pod-000')
    const events = await watch.take(301)
    t.same(
      events.slice(0, 300).map(({ type, object }) => `${type} ${nameOf(object)}`),
      Array.from({ length: 300 }, (_, i) => `ADDED pod-${String(i).padStart(3, '0')}`),
    )
    t.match(events[300], { type: 'DELETED', object: { metadata: { name: 'pod-000' } } })
  }),
]
