import t from 'tap'
import { listOptions, makePod, type Pod } from '../../contract/pod.js'
import { KEY, openPods, withNote } from './pod-store.js'

t.test('a create whose answer is lost is reported as unknown, written once and not tried again', async (t) => {
  const { kv, store } = openPods()
  kv.failNext({ call: 'put', when: 'after' })
  await t.rejects(store.create(KEY, makePod('foo', 'ns')), { code: 'unreachable' })
  t.same(kv.calls, ['put'])
  t.equal((await store.get(KEY)).metadata?.name, 'foo', 'it had been written')
  await t.rejects(store.create(KEY, makePod('foo', 'ns')), { code: 'key-exists' })
})

t.test('a create that never got there is reported the same way, and can be made again', async (t) => {
  const { kv, store } = openPods()
  kv.failNext({ call: 'put', when: 'before' })
  await t.rejects(store.create(KEY, makePod('foo', 'ns')), { code: 'unreachable' })
  await store.create(KEY, makePod('foo', 'ns'))
})

t.test('drafts go to the key-value store with what they are drafts of', async (t) => {
  const drafted: Pod[] = []
  const drafts = {
    isOneText: false,
    print: (pod: Pod) => ({ head: pod.metadata?.uid ?? '', tail: pod.spec?.note ?? '' }),
    draftOf: (pod: Pod) => {
      drafted.push(structuredClone(pod))
      return { uid: pod.metadata?.uid ?? '', labels: [], fields: [], body: new Uint8Array(0), revisionOffset: 0 }
    },
  }
  const { kv, store } = openPods({ drafts })
  const told: { readonly object: Pod; readonly tail: string }[] = []
  const onPrinted = (object: Pod, { tail }: { readonly tail: string }) => void told.push({ object, tail })
  await store.create(KEY, makePod('foo', 'ns', { uid: 'A' }))
  t.equal(kv.lastWrite?.draft?.uid, 'A')
  const updated = await store.guaranteedUpdate(KEY, (pod) => withNote(pod, 'x'), { onPrinted })
  t.equal(drafted[1]?.spec?.note, 'x')
  t.equal(drafted[1]?.metadata?.resourceVersion, undefined, 'as stored, without version')
  t.equal(told.length, 1)
  t.equal(told[0]?.object, updated, 'the writer is told of what was printed')
  t.equal(told[0]?.tail, 'x')
  await store.guaranteedUpdate(KEY, (object) => ({ object }), { onPrinted })
  t.equal(told.length, 1, 'and of nothing when nothing is written')
})

t.test('prefixes are taken with and without slashes; a resource prefix must name something', async (t) => {
  const { memory, store } = openPods({ pathPrefix: 'custom', resourcePrefix: '/pods/' })
  await store.create(KEY, makePod('foo', 'ns'))
  t.ok((await memory.get('/custom/pods/ns/foo')).kv)
  for (const resourcePrefix of ['', '/', 'pods']) t.throws(() => openPods({ resourcePrefix }), RangeError)
})

t.test('a create gives what was stored, with the revision of the write, and takes the object for itself', async (t) => {
  const { store } = openPods()
  const made = await store.create(KEY, makePod('foo', 'ns', { note: 'x' }))
  t.same(made, await store.get(KEY))
  t.match(made.metadata?.resourceVersion, /^\d+$/)
})

t.test('an object with a version is not created; what is no version counts as none', async (t) => {
  const { kv, store } = openPods()
  const versioned = (resourceVersion: string): Pod => {
    const pod = makePod('foo', 'ns')
    return { ...pod, metadata: { ...pod.metadata, resourceVersion } }
  }
  await t.rejects(store.create(KEY, versioned('5')), { code: 'resource-version-set' })
  t.same(kv.calls, [])
  t.match((await store.create(KEY, versioned('abc'))).metadata?.resourceVersion, /^\d+$/)
})

t.test('a time to live becomes a lease', async (t) => {
  const { memory, store } = openPods()
  const leaseOf = async (name: string) => (await memory.get(`/registry/pods/ns/${name}`)).kv?.lease
  await store.create(KEY, makePod('foo', 'ns'), { ttlSeconds: 60 })
  t.not(await leaseOf('foo'), 0n)
  await store.create('/pods/ns/bar', makePod('bar', 'ns'), { ttlSeconds: 0 })
  t.equal(await leaseOf('bar'), 0n)
})

t.test('keys that reach outside the resource are refused', async (t) => {
  const { kv, store } = openPods()
  for (const key of ['', '/', '/secrets/ns/foo', '/pods/../secrets/foo', '/pods/./foo', '/podsecrets/foo'])
    await t.rejects(store.get(key), { code: 'invalid-request' }, key)
  t.same(kv.calls, [])
})

t.test('a read may ask for a version that is there; one that is not is too large', async (t) => {
  const { store } = openPods()
  const { metadata } = await store.create(KEY, makePod('foo', 'ns'))
  await store.get(KEY, { resourceVersion: metadata!.resourceVersion! })
  await t.rejects(store.get(KEY, { resourceVersion: '1000' }), { code: 'too-large' })
  await t.rejects(store.get(KEY, { resourceVersion: 'x' }), { code: 'invalid-request' })
  await t.rejects(store.get('/pods/ns/bar'), { code: 'key-not-found' })
  t.match(await store.get('/pods/ns/bar', { ignoreNotFound: true }), { kind: 'Pod', metadata: {} })
})

t.test('the stored form of an object, without storing it', async (t) => {
  const { kv, store } = openPods()
  const pod = makePod('foo', 'ns')
  const copy = store.asStored(pod)
  t.same(copy, pod)
  t.not(copy, pod)
  t.same(kv.calls, [])
})

t.test('a closed store opens no watch and ends those that it has', async (t) => {
  const { kv, store } = openPods()
  const watch = await store.watch('/pods/', listOptions({ resourceVersion: '1' }))
  store.readinessCheck()
  await store.close()
  t.equal((await watch.next()).done, true)
  t.equal(kv.watchesOpen, 0)
  t.throws(() => store.readinessCheck(), { code: 'not-ready' })
  await t.rejects(store.watch('/pods/', listOptions()), { code: 'not-ready' })
})

t.test('a transformer that cannot write keeps everything as it was', async (t) => {
  const { memory, store, transformer } = openPods()
  transformer.failWriting = () => new Error('no key')
  await t.rejects(store.create(KEY, makePod('foo', 'ns')), { message: 'no key' })
  t.equal((await memory.get(`/registry${KEY}`)).kv, undefined)
})

t.test('counts and revisions come from the store itself', async (t) => {
  const { memory, store } = openPods()
  await store.create('/pods/a/1', makePod('1', 'a'))
  await store.create('/pods/ab/1', makePod('1', 'ab'))
  t.equal(await store.count('/pods/'), 2)
  t.equal(await store.count('/pods/a'), 1, 'of a namespace, not of those whose names begin so')
  t.equal(await store.currentResourceVersion(), await memory.currentRevision())
  t.equal((await store.stats()).objectCount, 2)
  await memory.compact(2)
  t.equal(store.compactRevision(), 2)
})
