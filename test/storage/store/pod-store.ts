import { objectVersioner } from '#keelson/storage/contract/versioner.js'
import { KVStore, type KVStoreOptions } from '#keelson/storage/store/kv-store.js'
import { newPod, type Pod, podCodec } from '../../contract/pod.js'
import { FakeClock } from '../../support/fake-clock.js'
import { FaultyKV } from '../../support/faulty-kv.js'
import { MemoryKV } from '../../support/memory-kv.js'
import { PrefixTransformer } from '../../support/prefix-transformer.js'

export const KEY = '/pods/ns/foo'
export const STORED_KEY = `/registry${KEY}`
export const withNote = (pod: Pod, note: string): { object: Pod } => ({ object: { ...pod, spec: { note } } })

/** A store of pods over a key-value store in memory, whose calls fail as a test tells them to. */
export function openPods(options: Partial<KVStoreOptions<Pod>> = {}) {
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
