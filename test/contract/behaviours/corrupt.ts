import { makePod, namesOf, newPod, versionOf } from '../pod.js'
import { behaviour } from '../suite.js'

const KEY = '/pods/ns/bad'
const untouched = () => ({ object: newPod() })

/** Ways in which stored bytes go bad, as they come from another process. */
const CORRUPTIONS = {
  'that cannot be decrypted': 'gibberish',
  'that cannot be decoded': 'one:{"kind":',
  'of another kind': 'one:{"kind":"Secret"}',
}

/** Another process that writes again when it lost a race. */
async function persistently(write: () => Promise<unknown>): Promise<void> {
  for (let lost = true; lost; ) {
    lost = await write().then(
      () => false,
      () => true,
    )
  }
}

export const corrupt = [
  ...Object.entries(CORRUPTIONS).map(([what, bytes]) =>
    behaviour(`an object ${what} fails get, list, update and delete, and the others are unharmed`, async (t, s) => {
      const good = await s.create(makePod('good', 'ns'))
      await s.writeRaw(KEY, bytes)
      await t.rejects(s.storage.get(KEY), { code: 'corrupt-object', fields: { key: s.storedKey(KEY) } })
      await t.rejects(s.list('/pods/'), { code: 'corrupt-object' })
      await t.rejects(s.list(KEY, { recursive: false }), { code: 'corrupt-object' })
      await t.rejects(s.storage.guaranteedUpdate(KEY, untouched), { code: 'corrupt-object' })
      await t.rejects(s.storage.delete(KEY), { code: 'corrupt-object' })
      t.same(await s.storage.get('/pods/ns/good'), good)
    }),
  ),

  behaviour('an unreadable object counts like the others', async (t, s) => {
    await s.create(makePod('good', 'ns'))
    await s.writeRaw(KEY, 'gibberish')
    t.equal(await s.storage.count('/pods'), 2)
  }),

  behaviour('an unreadable object can be deleted by who says so, and then all is well', async (t, s) => {
    await s.create(makePod('good', 'ns'))
    const revision = await s.writeRaw(KEY, 'gibberish')
    const deleted = await s.storage.delete(KEY, { ignoreStoreReadError: true })
    t.ok(versionOf(deleted) > revision)
    await t.rejects(s.storage.get(KEY), { code: 'key-not-found' })
    t.same(namesOf((await s.list('/pods/')).items), ['ns/good'])
    const again = await s.create(makePod('bad', 'ns'))
    t.same(await s.storage.get(KEY), again)
  }),

  behaviour('a readable object is not deleted as an unreadable one', async (t, s) => {
    const created = await s.create(makePod('bad', 'ns'))
    await t.rejects(s.storage.delete(KEY, { ignoreStoreReadError: true }), { code: 'invalid-object' })
    const withCopy = { ignoreStoreReadError: true, cachedExistingObject: structuredClone(created) }
    await t.rejects(s.storage.delete(KEY, withCopy), { code: 'invalid-object' })
    t.same(await s.storage.get(KEY), created)
  }),

  behaviour('an object that became readable between look and deletion stays', async (t, s) => {
    await t.rejects(s.storage.delete(KEY, { ignoreStoreReadError: true }), { code: 'key-not-found' })
    await s.writeRaw(KEY, 'gibberish')
    const healed = s.opened.transformer.seal(JSON.stringify(makePod('bad', 'ns')))
    let heal: Promise<unknown> | undefined
    s.opened.transformer.remote = true
    s.opened.transformer.onRead = (key) => {
      if (key === s.storedKey(KEY)) heal ??= persistently(() => s.writeRaw(KEY, healed))
    }
    const outcome = await s.storage.delete(KEY, { ignoreStoreReadError: true }).catch((error: unknown) => error)
    await heal
    // Either the deletion came first (then the write made a new object) or it found a readable one.
    if (outcome instanceof Error) t.match(outcome, { code: 'invalid-object' })
    t.equal((await s.storage.get(KEY)).metadata?.name, 'bad')
  }),

  behaviour('an unreadable object is not deleted on a uid that nobody can check', async (t, s) => {
    await s.writeRaw(KEY, 'gibberish')
    const onUid = s.storage.delete(KEY, { ignoreStoreReadError: true, preconditions: { uid: 'A' } })
    await t.rejects(onUid, { code: 'invalid-object' })
    await t.rejects(s.storage.get(KEY), { code: 'corrupt-object' })
  }),

  behaviour('a watch that meets an unreadable object ends with an error, and tells nothing after it', async (t, s) => {
    const start = await s.storage.currentResourceVersion()
    const watches = await Promise.all(
      Array.from({ length: 10 }, () => s.watch('/pods/', { resourceVersion: String(start) })),
    )
    const good = await s.create(makePod('good', 'ns'))
    await s.writeRaw(KEY, 'gibberish')
    await s.create(makePod('later', 'ns'))
    for (const watch of watches) {
      const first = await watch.next()
      // A cacher whose feed meets the bad object may end its watches before they have told what came before.
      if (s.cached && first.type === 'ERROR') {
        t.equal(await watch.ended(), true)
        continue
      }
      t.match(first, { type: 'ADDED', resourceVersion: versionOf(good) })
      t.match(await watch.next(), { type: 'ERROR' })
      t.equal(await watch.ended(), true)
    }
  }),

  behaviour('a watch that begins with an unreadable object ends with an error', async (t, s) => {
    await s.writeRaw(KEY, 'gibberish')
    const watch = await s.watch('/pods/', { sendInitialEvents: true })
    t.match(await watch.nextError(), { code: 'corrupt-object' })
    t.equal(await watch.ended(), true)
  }),

  behaviour('the deletion of an unreadable object is an error to a watch', async (t, s) => {
    const revision = await s.writeRaw(KEY, 'gibberish')
    const watch = await s.watch('/pods/', { resourceVersion: String(revision) })
    await s.storage.delete(KEY, { ignoreStoreReadError: true })
    t.match(await watch.nextError(), { name: 'StorageError' })
    t.equal(await watch.ended(), true)
  }),

  behaviour('a failure to encrypt is the writer’s, and nothing is written', async (t, s) => {
    s.opened.transformer.failWriting = () => new Error('no key')
    await t.rejects(s.create(makePod('foo', 'ns')), { message: 'no key' })
    s.opened.transformer.failWriting = () => undefined
    await t.rejects(s.storage.get('/pods/ns/foo'), { code: 'key-not-found' })
    await s.create(makePod('foo', 'ns'))
    s.opened.transformer.failWriting = () => new Error('no key')
    const updated = s.storage.guaranteedUpdate('/pods/ns/foo', (pod) => ({ object: { ...pod, spec: { note: 'x' } } }))
    await t.rejects(updated, { message: 'no key' })
    t.equal((await s.storage.get('/pods/ns/foo')).spec?.note, undefined)
  }),
]
