import t from 'tap'
import { StorageError } from '#keelson/storage/contract/errors.js'
import { objectVersioner } from '#keelson/storage/contract/versioner.js'
import { KVStore, type StoreOptions } from '#keelson/storage/store/kv-store.js'
import { listOptions, makePod, newPod, type Pod, podCodec, versionOf } from '../../contract/pod.js'
import { FakeClock } from '../../support/fake-clock.js'
import { FaultyKV } from '../../support/faulty-kv.js'
import { MemoryKV } from '../../support/memory-kv.js'
import { PrefixTransformer } from '../../support/prefix-transformer.js'

const KEY = '/pods/ns/foo'
const withNote = (pod: Pod, note: string): { object: Pod } => ({ object: { ...pod, spec: { note } } })

function open(options: Partial<StoreOptions<Pod>> = {}) {
  const memory = new MemoryKV(new FakeClock())
  const kv = new FaultyKV(memory)
  const transformer = new PrefixTransformer()
  const store = new KVStore<Pod>({
    kv,
    leases: { getLease: (ttlSeconds) => kv.grantLease(ttlSeconds) },
    codec: podCodec,
    transformer,
    versioner: objectVersioner,
    newObject: newPod,
    groupResource: { group: '', resource: 'pods' },
    pathPrefix: '/registry',
    resourcePrefix: '/pods',
    ...options,
  })
  return { memory, kv, store, transformer }
}

t.test('a create whose answer is lost is reported as unknown, written once and not tried again', async (t) => {
  const { kv, store } = open()
  kv.failNext({ call: 'put', when: 'after' })
  await t.rejects(store.create(KEY, makePod('foo', 'ns')), { code: 'unreachable' })
  t.same(kv.calls, ['put'])
  t.equal((await store.get(KEY)).metadata?.name, 'foo', 'it had been written')
  await t.rejects(store.create(KEY, makePod('foo', 'ns')), { code: 'key-exists' })
})

t.test('a create that never got there is reported the same way, and can be made again', async (t) => {
  const { kv, store } = open()
  kv.failNext({ call: 'put', when: 'before' })
  await t.rejects(store.create(KEY, makePod('foo', 'ns')), { code: 'unreachable' })
  await store.create(KEY, makePod('foo', 'ns'))
})

t.test('an update whose answer is lost is reported as unknown: its function does not run again', async (t) => {
  const { kv, store } = open()
  await store.create(KEY, makePod('foo', 'ns', { note: '0' }))
  kv.calls.length = 0
  kv.failNext({ call: 'put', when: 'after' })
  let runs = 0
  const increment = (pod: Pod) => {
    runs++
    return withNote(pod, String(Number(pod.spec?.note) + 1))
  }
  await t.rejects(store.guaranteedUpdate(KEY, increment), { code: 'unreachable' })
  t.equal(runs, 1)
  t.same(kv.calls, ['get', 'put'])
  t.equal((await store.get(KEY)).spec?.note, '1', 'it had been written, once')
})

t.test('a deletion whose answer is lost is reported as unknown', async (t) => {
  const { kv, store } = open()
  await store.create(KEY, makePod('foo', 'ns'))
  kv.failNext({ call: 'delete', when: 'after' })
  await t.rejects(store.delete(KEY), { code: 'unreachable' })
  await t.rejects(store.delete(KEY), { code: 'key-not-found' })
})

t.test('an update that loses the race after a conflict was read goes on from what it read', async (t) => {
  const { memory, kv, store } = open()
  await store.create(KEY, makePod('foo', 'ns', { note: '0' }))
  let storms = 25
  kv.interfere = async (call) => {
    if (call !== 'put' || storms === 0) return
    storms--
    const { kv: current } = await memory.get('/registry/pods/ns/foo')
    const pod = podCodec.decode(current!.value.subarray(4))
    const changed = withNote(pod, String(Number(pod.spec?.note) + 100)).object
    await memory.optimisticPut(
      '/registry/pods/ns/foo',
      Buffer.concat([Buffer.from('one:'), podCodec.encode(changed)]),
      current!.modRevision,
    )
  }
  let runs = 0
  const updated = await store.guaranteedUpdate(KEY, (pod) => {
    runs++
    return withNote(pod, String(Number(pod.spec?.note) + 1))
  })
  t.equal(updated.spec?.note, '2501')
  t.equal(runs, 26)
  t.equal(kv.calls.filter((call) => call === 'get').length, 1, 'the failed comparison itself tells the new state')
})

t.test('a storm of conflicts ends when the caller gives up', async (t) => {
  const { memory, kv, store } = open()
  await store.create(KEY, makePod('foo', 'ns', { note: '0' }))
  const controller = new AbortController()
  let rounds = 0
  kv.interfere = async (call) => {
    if (call !== 'put' && call !== 'delete') return
    if (++rounds === 5) controller.abort()
    const { kv: current } = await memory.get('/registry/pods/ns/foo')
    await memory.optimisticPut('/registry/pods/ns/foo', current!.value, current!.modRevision)
  }
  const { signal } = controller
  const updating = store.guaranteedUpdate(KEY, (pod) => withNote(pod, 'x'), { signal })
  await t.rejects(updating, { code: 'unreachable', message: /cancelled/ })
  t.equal(rounds, 5)
  await t.rejects(store.delete(KEY, { signal }), { code: 'unreachable' })
  t.equal(rounds, 5, 'a request that is cancelled already writes nothing')
})

t.test('an object deleted and created again during an update is updated as the new one', async (t) => {
  const { memory, kv, store } = open()
  const first = await store.create(KEY, makePod('foo', 'ns', { uid: 'first' }))
  let once = true
  kv.interfere = async (call) => {
    if (call !== 'put' || !once) return
    once = false
    await memory.optimisticDelete('/registry/pods/ns/foo', versionOf(first))
    const bytes = Buffer.concat([Buffer.from('one:'), podCodec.encode(makePod('foo', 'ns', { uid: 'second' }))])
    await memory.optimisticPut('/registry/pods/ns/foo', bytes, 0)
  }
  const preconditions = { uid: 'first' }
  const guarded = store.guaranteedUpdate(KEY, (pod) => withNote(pod, 'x'), { preconditions })
  await t.rejects(guarded, { code: 'invalid-object' }, 'a uid precondition sees that it is another object')
})

t.test('when the re-read after a refusal on a copy fails, that failure is told', async (t) => {
  const { kv, store } = open()
  const copy = await store.create(KEY, makePod('foo', 'ns'))
  kv.failNext({ call: 'get', when: 'before' })
  const refused = store.guaranteedUpdate(
    KEY,
    () => {
      throw new Error('refused')
    },
    { cachedExistingObject: copy },
  )
  await t.rejects(refused, { code: 'unreachable' })
})

t.test('a key service that does not answer is not taken for a corrupt object, nor is the object deleted', async (t) => {
  const { store, transformer } = open()
  await store.create(KEY, makePod('foo', 'ns'))
  transformer.remote = true
  transformer.failReading = () => new StorageError('unreachable', 'the key service does not answer')
  await t.rejects(store.get(KEY), { code: 'unreachable' })
  await t.rejects(store.getList('/pods/', listOptions()), { code: 'unreachable' })
  await t.rejects(store.delete(KEY, { ignoreStoreReadError: true }), { code: 'unreachable' })
  transformer.failReading = () => undefined
  t.equal((await store.get(KEY)).metadata?.name, 'foo')
})

t.test('a list whose later chunk fails fails as a whole', async (t) => {
  const { kv, store } = open()
  for (let i = 0; i < 4; i++) await store.create(`/pods/ns/${i}`, makePod(String(i), 'ns'))
  const none = { matches: () => false, empty: () => false, requiresExactMatch: () => undefined, toString: () => 'none' }
  const selective = listOptions({ limit: 1, label: none })
  let lists = 0
  kv.interfere = (call) => {
    if (call === 'list' && ++lists === 2) kv.failNext({ call: 'list', when: 'before' })
  }
  await t.rejects(store.getList('/pods/', selective), { code: 'unreachable' })
  t.equal(lists, 2)
})

t.test('a list that compaction overtakes between its chunks is too old', async (t) => {
  const { memory, kv, store } = open()
  for (let i = 0; i < 4; i++) await store.create(`/pods/ns/${i}`, makePod(String(i), 'ns'))
  const none = { matches: () => false, empty: () => false, requiresExactMatch: () => undefined, toString: () => 'none' }
  let lists = 0
  kv.interfere = async (call) => {
    if (call !== 'list' || ++lists !== 2) return
    await memory.optimisticPut('/registry/other', Buffer.from('x'), 0)
    await memory.compact(await memory.currentRevision())
  }
  await t.rejects(store.getList('/pods/', listOptions({ limit: 1, label: none })), { code: 'too-old' })
})

t.test('a watch whose stream fails ends with that error, and closes the stream', async (t) => {
  const { kv, store } = open()
  const watch = await store.watch('/pods/', listOptions({ resourceVersion: '1' }))
  kv.failNext({ call: 'watch', when: 'after' })
  await store.create(KEY, makePod('foo', 'ns'))
  const first = await watch.next()
  t.match(first, { done: false, value: { type: 'ERROR', error: { code: 'unreachable' } } })
  t.equal((await watch.next()).done, true)
  t.equal(kv.watchesOpen, 0)
})

t.test('a watch whose initial list fails ends with that error', async (t) => {
  const { kv, store } = open()
  kv.failNext({ call: 'list', when: 'before' })
  const watch = await store.watch('/pods/', listOptions({ resourceVersion: '0' }))
  t.match(await watch.next(), { value: { type: 'ERROR', error: { code: 'unreachable' } } })
  t.equal((await watch.next()).done, true)
})

t.test(
  'a watcher that does not read is not read ahead for without limit, and stopping it frees its stream',
  async (t) => {
    const { kv, store, transformer } = open()
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

t.test('drafts go to the key-value store with what they are drafts of', async (t) => {
  const drafted: Pod[] = []
  const draftOf = (pod: Pod) => {
    drafted.push(structuredClone(pod))
    return { uid: pod.metadata?.uid ?? '', labels: [], fields: [], body: new Uint8Array(0), revisionOffset: 0 }
  }
  const { kv, store } = open({ draftOf })
  await store.create(KEY, makePod('foo', 'ns', { uid: 'A' }))
  t.equal(kv.lastWrite?.draft?.uid, 'A')
  await store.guaranteedUpdate(KEY, (pod) => withNote(pod, 'x'))
  t.equal(drafted[1]?.spec?.note, 'x')
  t.equal(drafted[1]?.metadata?.resourceVersion, undefined, 'as stored, without version')
})

t.test('where objects expire, an update given a copy still keeps the lease', async (t) => {
  const { memory, store } = open({ leased: true })
  const created = await store.create(KEY, makePod('foo', 'ns'), { ttlSeconds: 60 })
  await store.guaranteedUpdate(KEY, (pod) => withNote(pod, 'x'), { cachedExistingObject: created })
  t.not((await memory.get('/registry/pods/ns/foo')).kv?.lease, 0n)
})

t.test('prefixes are taken with and without slashes; a resource prefix must name something', async (t) => {
  const { memory, store } = open({ pathPrefix: 'custom', resourcePrefix: '/pods/' })
  await store.create(KEY, makePod('foo', 'ns'))
  t.ok((await memory.get('/custom/pods/ns/foo')).kv)
  for (const resourcePrefix of ['', '/', 'pods']) t.throws(() => open({ resourcePrefix }), RangeError)
})
