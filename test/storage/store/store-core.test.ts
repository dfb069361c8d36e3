import t from 'tap'
import { KeySpace } from '#keelson/storage/contract/storage-key.js'
import { objectVersioner } from '#keelson/storage/contract/versioner.js'
import { callOptions, readState, type StoreCore, stateOf, throwIfCancelled } from '#keelson/storage/store/store-core.js'
import { StoredObjects } from '#keelson/storage/store/stored-object.js'
import { makePod, newPod, type Pod, podCodec } from '../../contract/pod.js'
import { KEY, openPods, STORED_KEY } from './pod-store.js'

async function open() {
  const { memory, kv, store, transformer } = openPods()
  await store.create(KEY, makePod('foo', 'ns'))
  const core: StoreCore<Pod> = {
    kv,
    objects: new StoredObjects({ codec: podCodec, transformer, versioner: objectVersioner, newObject: newPod }),
    keys: new KeySpace({ pathPrefix: '/registry', resourcePrefix: '/pods' }),
    leases: { getLease: async () => 0n },
    leased: false,
    drafts: undefined,
    metrics: undefined,
  }
  return { memory, kv, core }
}

t.test('what is stored, with its revision and its bytes', async (t) => {
  const { memory, core } = await open()
  const state = await readState(core, STORED_KEY, {}, undefined)
  t.equal(state.object?.metadata?.name, 'foo')
  t.equal(state.revision, (await memory.get(STORED_KEY)).kv?.modRevision)
  t.same(podCodec.decode(state.data), makePod('foo', 'ns'))
})

t.test('what is not there is an error, or an empty object', async (t) => {
  const { core } = await open()
  await t.rejects(readState(core, '/registry/pods/ns/bar', {}, undefined), { code: 'key-not-found' })
  const absent = await readState(core, '/registry/pods/ns/bar', { ignoreNotFound: true }, undefined)
  t.match(absent, { object: newPod(), revision: 0, stale: false, lease: 0n })
})

t.test('an unreadable object is an error, or all that is known of it', async (t) => {
  const { memory, core } = await open()
  const { kv } = await memory.get(STORED_KEY)
  const broken = { ...kv!, value: Buffer.from('broken') }
  await t.rejects(stateOf(core, STORED_KEY, broken, {}), { code: 'corrupt-object' })
  const unreadable = await stateOf(core, STORED_KEY, broken, { expectUnreadable: true })
  t.match(unreadable, { object: undefined, revision: kv!.modRevision })
  await t.rejects(stateOf(core, STORED_KEY, kv, { expectUnreadable: true }), { code: 'invalid-object' })
})

t.test('a signal is passed on when there is one, and looked at between attempts', async (t) => {
  const { signal } = new AbortController()
  t.same(Object.keys(callOptions(undefined)), [])
  t.equal(callOptions(signal).signal, signal)
  throwIfCancelled(KEY, undefined)
  throwIfCancelled(KEY, signal)
  const reason = new Error('gone')
  t.throws(() => throwIfCancelled(KEY, AbortSignal.abort(reason)), { code: 'unreachable', cause: reason })
})
