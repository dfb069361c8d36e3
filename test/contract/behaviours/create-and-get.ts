import { isStorageError } from '#keelson/storage/contract/errors.js'
import { makePod, newPod, podKey, versionOf } from '../pod.js'
import { behaviour } from '../suite.js'

const FUTURE = '9223372036854775807'

export const createAndGet = [
  behaviour('create stores the object and gives it back with a version', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns', { labels: { a: 'b' } }))
    t.ok(versionOf(created) > 0)
    t.match(created, { metadata: { name: 'foo', labels: { a: 'b' } } })
    t.same(await s.storage.get('/pods/ns/foo'), created)
  }),

  behaviour('create stores no version and under the key that Kubernetes uses', async (t, s) => {
    await s.create(makePod('foo', 'ns'))
    const { kv } = await s.opened.kv.get(`${s.opened.pathPrefix}/pods/ns/foo`)
    const text = Buffer.from(kv!.value).toString()
    t.match(text, /^one:\{/)
    t.notMatch(text, /resourceVersion/)
  }),

  behaviour('create refuses an object that has a version', async (t, s) => {
    const pod = makePod('foo', 'ns')
    pod.metadata!.resourceVersion = '1'
    await t.rejects(s.create(pod), { code: 'resource-version-set' })
    await t.rejects(s.storage.get('/pods/ns/foo'), { code: 'key-not-found' })
  }),

  behaviour('create of a key that exists fails and changes nothing', async (t, s) => {
    const first = await s.create(makePod('foo', 'ns'))
    await t.rejects(s.create(makePod('foo', 'ns', { note: 'second' })), { code: 'key-exists' })
    t.same(await s.storage.get('/pods/ns/foo'), first)
  }),

  behaviour('of many creates of one key exactly one succeeds', async (t, s) => {
    const attempts = await Promise.allSettled(
      Array.from({ length: 10 }, (_, i) => s.create(makePod('foo', 'ns', { note: String(i) }))),
    )
    const won = attempts.filter((attempt) => attempt.status === 'fulfilled')
    t.equal(won.length, 1)
    for (const attempt of attempts) {
      if (attempt.status === 'rejected') t.ok(isStorageError(attempt.reason, 'key-exists'))
    }
    t.same(await s.storage.get('/pods/ns/foo'), won[0]!.value)
  }),

  behaviour('versions ascend over all keys', async (t, s) => {
    const created = await s.createAll([makePod('c', 'ns'), makePod('a', 'ns'), makePod('b', 'other')])
    const versions = created.map(versionOf)
    t.same(
      versions,
      [...versions].sort((a, b) => a - b),
    )
    t.equal(new Set(versions).size, 3)
  }),

  behaviour('a deleted key can be created again, with a newer version', async (t, s) => {
    const first = await s.create(makePod('foo', 'ns'))
    const deleted = await s.storage.delete('/pods/ns/foo')
    const second = await s.create(makePod('foo', 'ns', { uid: 'another' }))
    t.ok(versionOf(first) < versionOf(deleted) && versionOf(deleted) < versionOf(second))
    t.equal((await s.storage.get('/pods/ns/foo')).metadata?.uid, 'another')
  }),

  behaviour('an object created with a TTL goes by itself, and a watch says so', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'), 1)
    const watch = await s.watch('/pods/ns/foo', { recursive: false, resourceVersion: String(versionOf(created)) })
    await s.opened.passTime(3)
    const event = await watch.nextObject()
    t.equal(event.type, 'DELETED')
    t.match(event.object, { metadata: { name: 'foo' } })
    t.ok(versionOf(event.object) > versionOf(created))
    await t.rejects(s.storage.get('/pods/ns/foo'), { code: 'key-not-found' })
  }),

  behaviour('get without a version is linearizable', async (t, s) => {
    const pod = makePod('foo', 'ns')
    await s.create(pod)
    for (let i = 0; i < 20; i++) {
      const updated = await s.label(pod, { round: String(i) })
      t.same(await s.storage.get(podKey(pod)), updated)
    }
  }),

  behaviour('get sees at once what another process wrote', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    const text = JSON.stringify(makePod('foo', 'ns', { note: 'written by another' }))
    const revision = await s.writeRaw('/pods/ns/foo', s.opened.transformer.seal(text))
    const got = await s.storage.get('/pods/ns/foo')
    t.equal(got.spec?.note, 'written by another')
    t.equal(versionOf(got), revision)
    t.ok(revision > versionOf(created))
  }),

  behaviour('get at version 0 gives any state the object has had, or none', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    const updated = await s.label(created, { a: 'b' })
    const got = await s.storage.get('/pods/ns/foo', { resourceVersion: '0', ignoreNotFound: true })
    t.ok([0, versionOf(created), versionOf(updated)].includes(versionOf(got)))
    if (!s.cached) t.same(got, updated)
  }),

  behaviour('get at a version gives that state or a newer one', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    const updated = await s.label(created, { a: 'b' })
    const atCreation = await s.storage.get('/pods/ns/foo', { resourceVersion: String(versionOf(created)) })
    t.ok([versionOf(created), versionOf(updated)].includes(versionOf(atCreation)))
    t.same(await s.storage.get('/pods/ns/foo', { resourceVersion: String(versionOf(updated)) }), updated)
  }),

  behaviour('get at the newest version of the store gives the newest state', async (t, s) => {
    const created = await s.create(makePod('foo', 'ns'))
    const later = await s.create(makePod('bar', 'ns'))
    t.same(await s.storage.get('/pods/ns/foo', { resourceVersion: String(versionOf(later)) }), created)
  }),

  behaviour('get at a version in the future fails as too large, and says the current one', async (t, s) => {
    await s.create(makePod('foo', 'ns'))
    const current = await s.storage.currentResourceVersion()
    const farAhead = s.storage.get('/pods/ns/foo', { resourceVersion: FUTURE })
    const ahead = s.storage.get('/pods/ns/foo', { resourceVersion: String(current + 1000) })
    await Promise.all([
      t.rejects(farAhead, { code: 'too-large' }),
      t.rejects(ahead, { code: 'too-large', fields: { resourceVersion: current + 1000, currentRevision: current } }),
    ])
  }),

  behaviour('get with a malformed version is refused', async (t, s) => {
    await s.create(makePod('foo', 'ns'))
    for (const resourceVersion of ['abc', '-1', '1.5', '1e3', ' 1']) {
      await t.rejects(s.storage.get('/pods/ns/foo', { resourceVersion }), { code: 'invalid-request' }, resourceVersion)
    }
  }),

  behaviour('get of a missing key fails, or gives an empty object when that is ignored', async (t, s) => {
    await t.rejects(s.storage.get('/pods/ns/none'), { code: 'key-not-found' })
    await t.rejects(s.storage.get('/pods/ns/none', { resourceVersion: '0' }), { code: 'key-not-found' })
    t.same(await s.storage.get('/pods/ns/none', { ignoreNotFound: true }), newPod())
  }),

  behaviour('what get gives belongs to the caller', async (t, s) => {
    await s.create(makePod('foo', 'ns', { labels: { a: 'b' } }))
    const mine = await s.storage.get('/pods/ns/foo')
    mine.metadata!.labels!['a'] = 'changed'
    t.equal((await s.storage.get('/pods/ns/foo')).metadata?.labels?.['a'], 'b')
  }),
]
