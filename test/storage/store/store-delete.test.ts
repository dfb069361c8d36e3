import t from 'tap'
import { StorageError } from '#keelson/storage/contract/errors.js'
import { listOptions, makePod, type Pod, podCodec } from '../../contract/pod.js'
import { KEY, openPods, STORED_KEY, withNote } from './pod-store.js'

t.test('a deletion whose answer is lost is reported as unknown', async (t) => {
  const { kv, store } = openPods()
  await store.create(KEY, makePod('foo', 'ns'))
  kv.failNext({ call: 'delete', when: 'after' })
  await t.rejects(store.delete(KEY), { code: 'unreachable' })
  await t.rejects(store.delete(KEY), { code: 'key-not-found' })
})

t.test('a key service that does not answer is not taken for a corrupt object, nor is the object deleted', async (t) => {
  const { store, transformer } = openPods()
  await store.create(KEY, makePod('foo', 'ns'))
  transformer.remote = true
  transformer.failReading = () => new StorageError('unreachable', 'the key service does not answer')
  await t.rejects(store.get(KEY), { code: 'unreachable' })
  await t.rejects(store.getList('/pods/', listOptions()), { code: 'unreachable' })
  await t.rejects(store.delete(KEY, { ignoreStoreReadError: true }), { code: 'unreachable' })
  transformer.failReading = () => undefined
  t.equal((await store.get(KEY)).metadata?.name, 'foo')
})

t.test('a deletion gives the last state, with the revision of the deletion', async (t) => {
  const { memory, store } = openPods()
  await store.create(KEY, makePod('foo', 'ns', { note: 'last' }))
  const gone = await store.delete(KEY)
  t.equal(gone.spec?.note, 'last')
  t.equal(gone.metadata?.resourceVersion, String(await memory.currentRevision()))
  await t.rejects(store.delete(KEY), { code: 'key-not-found' })
})

t.test('preconditions and validation run again on what another writer left', async (t) => {
  const { memory, kv, store } = openPods()
  const made = await store.create(KEY, makePod('foo', 'ns', { note: '0' }))
  const seen: (string | undefined)[] = []
  const validateDeletion = (pod: Pod) => void seen.push(pod.spec?.note)
  let once = true
  kv.interfere = async (call) => {
    if (call !== 'delete' || !once) return
    once = false
    const bytes = Buffer.concat([Buffer.from('one:'), podCodec.encode(withNote(made, '1').object)])
    await memory.optimisticPut(STORED_KEY, bytes, Number(made.metadata?.resourceVersion))
  }
  await store.delete(KEY, { validateDeletion })
  t.same(seen, ['0', '1'])
  t.same(
    kv.calls.filter((call) => call === 'get'),
    ['get'],
    'the failed comparison itself tells the new state',
  )
})

t.test('a version that is no longer current is refused after the race too', async (t) => {
  const { store } = openPods()
  const made = await store.create(KEY, makePod('foo', 'ns'))
  await store.guaranteedUpdate(KEY, (pod) => withNote(pod, 'x'))
  const preconditions = { resourceVersion: made.metadata!.resourceVersion! }
  await t.rejects(store.delete(KEY, { preconditions }), { code: 'invalid-object' })
  const stale = { preconditions, cachedExistingObject: structuredClone(made) }
  await t.rejects(store.delete(KEY, stale), { code: 'invalid-object' }, 'a copy that passes does not make it current')
  t.equal((await store.get(KEY)).spec?.note, 'x')
})

t.test('a refusal on a stale copy is taken back when the stored object may go', async (t) => {
  const { store } = openPods()
  const old = await store.create(KEY, makePod('foo', 'ns', { note: 'keep' }))
  await store.guaranteedUpdate(KEY, (pod) => withNote(pod, 'go'))
  const validateDeletion = ({ spec }: Pod) => {
    if (spec?.note === 'keep') throw new Error('it stays')
  }
  await store.delete(KEY, { validateDeletion, cachedExistingObject: structuredClone(old) })
  await t.rejects(store.get(KEY), { code: 'key-not-found' })
})

t.test('a copy that is current saves the read', async (t) => {
  const { kv, store } = openPods()
  const made = await store.create(KEY, makePod('foo', 'ns'))
  kv.calls.length = 0
  await store.delete(KEY, { cachedExistingObject: made })
  t.same(kv.calls, ['delete'])
})

t.test('what cannot be read goes only by name of it, and only when it cannot', async (t) => {
  const { memory, store } = openPods()
  await store.create(KEY, makePod('foo', 'ns'))
  await t.rejects(store.delete(KEY, { ignoreStoreReadError: true }), { code: 'invalid-object' })
  const { kv } = await memory.get(STORED_KEY)
  const { revision } = await memory.optimisticPut(STORED_KEY, Buffer.from('broken'), kv!.modRevision)
  await t.rejects(store.delete(KEY), { code: 'corrupt-object' })
  const unread = (preconditions: object) => store.delete(KEY, { ignoreStoreReadError: true, preconditions })
  await t.rejects(unread({ uid: 'A' }), { code: 'invalid-object' }, 'its uid is not known')
  await t.rejects(unread({ resourceVersion: '1' }), { code: 'invalid-object' })
  t.match(await unread({ resourceVersion: String(revision) }), { metadata: { resourceVersion: String(revision + 1) } })
})

t.test('a request that was given up deletes nothing', async (t) => {
  const { store } = openPods()
  await store.create(KEY, makePod('foo', 'ns'))
  await t.rejects(store.delete(KEY, { signal: AbortSignal.abort() }), { code: 'unreachable' })
  await store.get(KEY)
})
