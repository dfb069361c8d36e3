import t from 'tap'
import { KeySpace } from '#keelson/storage/contract/storage-key.js'
import { objectVersioner } from '#keelson/storage/contract/versioner.js'
import { AttemptedState } from '#keelson/storage/store/attempted-state.js'
import { StoredObjects } from '#keelson/storage/store/stored-object.js'
import { makePod, newPod, type Pod, podCodec } from '../../contract/pod.js'
import { KEY, openPods, STORED_KEY, withNote } from './pod-store.js'

async function open() {
  const { memory, kv, store, transformer } = openPods()
  const old = await store.create(KEY, makePod('foo', 'ns', { note: 'old' }))
  const core = {
    kv,
    objects: new StoredObjects({ codec: podCodec, transformer, versioner: objectVersioner, newObject: newPod }),
    keys: new KeySpace({ pathPrefix: '/registry', resourcePrefix: '/pods' }),
    leases: { getLease: async () => 0n },
    leased: false,
    drafts: undefined,
    metrics: undefined,
  }
  const attempted = (suggestion?: Pod, signal?: AbortSignal) =>
    AttemptedState.open<Pod>({ core, key: STORED_KEY, rules: {}, signal }, suggestion)
  return { memory, kv, store, old, attempted }
}
const noteOf = (state: { readonly object: Pod | undefined }) => state.object?.spec?.note

t.test('without a suggestion it begins with what is stored', async (t) => {
  const { kv, attempted } = await open()
  kv.calls.length = 0
  const state = await attempted()
  t.equal(state.isCurrent, true)
  t.equal(noteOf(state.state), 'old')
  t.same(kv.calls, ['get'])
})

t.test('a failure on what is current is final', async (t) => {
  const { kv, attempted } = await open()
  const state = await attempted()
  kv.calls.length = 0
  await t.rejects(
    state.attempt(() => Promise.reject(new Error('no'))),
    { message: 'no' },
  )
  t.same(kv.calls, [])
})

t.test('a failure on a suggestion counts when the suggestion was current', async (t) => {
  const { store, old, attempted } = await open()
  const state = await attempted(structuredClone(old))
  let runs = 0
  const failing = async () => {
    runs++
    throw new Error('no')
  }
  await t.rejects(state.attempt(failing), { message: 'no' })
  t.equal(runs, 1, 'the same state fails the same way')
  await store.guaranteedUpdate(KEY, (pod) => withNote(pod, 'new'))
  const stale = await attempted(structuredClone(old))
  const seen: (string | undefined)[] = []
  const result = await stale.attempt(async (at) => {
    seen.push(noteOf(at))
    if (noteOf(at) === 'old') throw new Error('no')
    return 'done'
  })
  t.equal(result, 'done')
  t.same(seen, ['old', 'new'])
  t.equal(stale.isCurrent, true)
})

t.test('it goes on with what a comparison has found', async (t) => {
  const { memory, store, old, attempted } = await open()
  await store.guaranteedUpdate(KEY, (pod) => withNote(pod, 'new'))
  const state = await attempted(structuredClone(old))
  await state.take((await memory.get(STORED_KEY)).kv)
  t.equal(noteOf(state.state), 'new')
  t.equal(state.isCurrent, true)
  await t.rejects(state.take(undefined), { code: 'key-not-found' })
})

t.test('when nobody waits any longer there is no attempt', async (t) => {
  const { old, attempted } = await open()
  const state = await attempted(old, AbortSignal.abort(new Error('gone')))
  await t.rejects(
    state.attempt(() => Promise.reject(new Error('was run'))),
    { code: 'unreachable' },
  )
})
