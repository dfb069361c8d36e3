import t from 'tap'
import { makePod, type Pod, podCodec, versionOf } from '../../contract/pod.js'
import { KEY, openPods, withNote } from './pod-store.js'

t.test('an update whose answer is lost is reported as unknown: its function does not run again', async (t) => {
  const { kv, store } = openPods()
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

t.test('an update that loses the race after a conflict was read goes on from what it read', async (t) => {
  const { memory, kv, store } = openPods()
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
  const { memory, kv, store } = openPods()
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
  const { memory, kv, store } = openPods()
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
  const { kv, store } = openPods()
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

t.test('where objects expire, an update given a copy still keeps the lease', async (t) => {
  const { memory, store } = openPods({ leased: true })
  const created = await store.create(KEY, makePod('foo', 'ns'), { ttlSeconds: 60 })
  await store.guaranteedUpdate(KEY, (pod) => withNote(pod, 'x'), { cachedExistingObject: created })
  t.not((await memory.get('/registry/pods/ns/foo')).kv?.lease, 0n)
})

t.test('an update that changes nothing writes nothing, on a copy only after it was compared', async (t) => {
  const { kv, store } = openPods()
  const made = await store.create(KEY, makePod('foo', 'ns', { note: '0' }))
  kv.calls.length = 0
  const same = (pod: Pod) => ({ object: pod })
  t.same(await store.guaranteedUpdate(KEY, same), made)
  t.same(kv.calls.splice(0), ['get'])
  t.same(await store.guaranteedUpdate(KEY, same, { cachedExistingObject: structuredClone(made) }), made)
  t.same(kv.calls.splice(0), ['get'])
})

t.test('a copy that is current saves the read; one that is not costs a second attempt', async (t) => {
  const { kv, store } = openPods()
  const old = await store.create(KEY, makePod('foo', 'ns', { note: '0' }))
  const fresh = await store.guaranteedUpdate(KEY, (pod) => withNote(pod, '1'))
  kv.calls.length = 0
  await store.guaranteedUpdate(KEY, (pod) => withNote(pod, '2'), { cachedExistingObject: structuredClone(fresh) })
  t.same(kv.calls.splice(0), ['put'])
  const seen: (string | undefined)[] = []
  await store.guaranteedUpdate(
    KEY,
    (pod) => {
      seen.push(pod.spec?.note)
      return withNote(pod, '3')
    },
    { cachedExistingObject: structuredClone(old) },
  )
  t.same(seen, ['0', '2'])
  t.same(kv.calls, ['put', 'put'], 'what the comparison found is the second attempt’s')
})

t.test('a refusal on a stale copy is taken back when the stored object passes', async (t) => {
  const { store } = openPods()
  const old = await store.create(KEY, makePod('foo', 'ns', { note: 'bad' }))
  await store.guaranteedUpdate(KEY, (pod) => withNote(pod, 'good'))
  const picky = (pod: Pod) => {
    if (pod.spec?.note === 'bad') throw new Error('refused')
    return withNote(pod, 'done')
  }
  const updated = await store.guaranteedUpdate(KEY, picky, { cachedExistingObject: structuredClone(old) })
  t.equal(updated.spec?.note, 'done')
})

t.test('preconditions are those of the stored object', async (t) => {
  const { store } = openPods()
  const made = await store.create(KEY, makePod('foo', 'ns', { uid: 'A' }))
  const update = (preconditions: object) => store.guaranteedUpdate(KEY, (pod) => withNote(pod, 'x'), { preconditions })
  await t.rejects(update({ uid: 'B' }), {
    code: 'invalid-object',
    message: /UID in precondition: B, UID in object meta: A/,
  })
  await t.rejects(update({ resourceVersion: '1' }), { code: 'invalid-object' })
  await update({ uid: 'A', resourceVersion: made.metadata?.resourceVersion })
})

t.test('what is not there is an error, or the beginning', async (t) => {
  const { store } = openPods()
  const make = () => ({ object: makePod('foo', 'ns') })
  await t.rejects(store.guaranteedUpdate(KEY, make), { code: 'key-not-found' })
  const revisions: number[] = []
  await store.guaranteedUpdate(
    KEY,
    (_, { resourceVersion }) => {
      revisions.push(resourceVersion)
      return make()
    },
    { ignoreNotFound: true },
  )
  t.same(revisions, [0])
  t.equal((await store.get(KEY)).metadata?.name, 'foo')
})

t.test('an object deleted under an update is not found', async (t) => {
  const { memory, kv, store } = openPods()
  const made = await store.create(KEY, makePod('foo', 'ns'))
  kv.interfere = async (call) =>
    void (call === 'put' && (await memory.optimisticDelete(`/registry${KEY}`, versionOf(made))))
  await t.rejects(
    store.guaranteedUpdate(KEY, (pod) => withNote(pod, 'x')),
    { code: 'key-not-found' },
  )
})

t.test('what an older key wrote is written anew though nothing has changed', async (t) => {
  const { memory, store, transformer } = openPods()
  await store.create(KEY, makePod('foo', 'ns'))
  transformer.rotate('two:')
  await store.guaranteedUpdate(KEY, (object) => ({ object }))
  const { kv } = await memory.get(`/registry${KEY}`)
  t.match(Buffer.from(kv!.value).toString(), /^two:/)
})

t.test('a lease comes, stays and goes as the update says', async (t) => {
  const { memory, store } = openPods()
  const leaseOf = async () => (await memory.get(`/registry${KEY}`)).kv?.lease
  await store.create(KEY, makePod('foo', 'ns'))
  const update = (note: string, ttlSeconds?: number) =>
    store.guaranteedUpdate(KEY, (pod) => ({ ...withNote(pod, note), ttlSeconds }))
  await update('a')
  t.equal(await leaseOf(), 0n)
  await update('b', 60)
  const lease = await leaseOf()
  t.not(lease, 0n)
  await update('c')
  t.equal(await leaseOf(), lease, 'kept')
  await update('c', 0)
  t.equal(await leaseOf(), 0n, 'to make it immortal is a change')
})

t.test(
  'an update that prints as memory does writes nothing; one that prints otherwise needs no bytes to tell',
  async (t) => {
    const print = (pod: Pod) => ({ head: `{"note":"${pod.spec?.note ?? ''}","resourceVersion":"`, tail: '"}' })
    const drafts = {
      isOneText: true,
      print,
      draftOf: (pod: Pod) => {
        const { head, tail } = print(pod)
        return { uid: '', labels: [], fields: [], body: Buffer.from(head + tail), revisionOffset: head.length }
      },
    }
    const { kv, store } = openPods({ drafts })
    const stored = await store.create(KEY, makePod('foo', 'ns', { note: 'a' }))
    let reads = 0
    const suggestion = (pod: Pod) => {
      const { head, tail } = print(pod)
      const body = Buffer.from(head + pod.metadata?.resourceVersion + tail)
      const read = (): Pod => {
        reads++
        return structuredClone(pod)
      }
      return { cachedExistingObject: structuredClone(pod), cachedExistingText: { body, read } }
    }
    kv.calls.length = 0
    const same = await store.guaranteedUpdate(KEY, (object) => ({ object }), suggestion(stored))
    t.same(kv.calls, ['get'], 'what memory has may be old, so it is looked at')
    t.same(same, stored)
    t.equal(reads, 1)
    kv.calls.length = 0
    const changed = await store.guaranteedUpdate(KEY, (pod) => withNote(pod, 'b'), suggestion(stored))
    t.same(kv.calls, ['put'])
    t.equal(reads, 1)
    const stale = await store.guaranteedUpdate(KEY, (pod) => withNote(pod, 'a'), suggestion(stored))
    t.equal(stale.spec?.note, 'a', 'a suggestion that is old does not hide that something changes')
    t.not(stale.metadata?.resourceVersion, changed.metadata?.resourceVersion)
  },
)
