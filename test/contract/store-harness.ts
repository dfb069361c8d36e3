import type { KV } from '#keelson/storage/kv.js'
import { Store } from '#keelson/storage/store.js'
import type { LeaseSource } from '#keelson/storage/store-core.js'
import { objectVersioner } from '#keelson/storage/versioner.js'
import { CountingKV } from '../support/counting-kv.js'
import { PrefixTransformer } from '../support/prefix-transformer.js'
import { newPod, type Pod, podCodec } from './pod.js'

export const PODS = { group: '', resource: 'pods' } as const

/** A lease of its own for every key. */
export const leasePerKey = (kv: KV): LeaseSource => ({ leaseFor: (ttlSeconds) => kv.grantLease(ttlSeconds) })

export interface OpenedStore {
  readonly store: Store<Pod>
  readonly counting: CountingKV
  readonly transformer: PrefixTransformer
}

/** A Store of pods under a prefix of its own. */
export function openStore(kv: KV, pathPrefix: string, options: { leased?: boolean } = {}): OpenedStore {
  const counting = new CountingKV(kv)
  const transformer = new PrefixTransformer()
  const store = new Store<Pod>({
    kv: counting,
    leases: leasePerKey(kv),
    codec: podCodec,
    transformer,
    versioner: objectVersioner,
    newObject: newPod,
    groupResource: PODS,
    pathPrefix,
    resourcePrefix: '/pods',
    ...options,
  })
  return { store, counting, transformer }
}
