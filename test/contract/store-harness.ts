import { type Clock, systemClock } from '#keelson/lib/clock.js'
import type { KV } from '#keelson/storage/contract/kv.js'
import { objectVersioner } from '#keelson/storage/contract/versioner.js'
import { LeaseManager } from '#keelson/storage/monitors/lease-manager.js'
import { KVStore } from '#keelson/storage/store/kv-store.js'
import { CountingKV } from '../support/counting-kv.js'
import { PrefixTransformer } from '../support/prefix-transformer.js'
import { newPod, type Pod, podCodec } from './pod.js'

export const PODS = { group: '', resource: 'pods' } as const

export interface OpenedStore {
  readonly store: KVStore<Pod>
  readonly counting: CountingKV
  readonly transformer: PrefixTransformer
}

/** A Store of pods under a prefix of its own. */
export function openStore(kv: KV, pathPrefix: string, options: { leased?: boolean; clock?: Clock } = {}): OpenedStore {
  const counting = new CountingKV(kv)
  const transformer = new PrefixTransformer()
  const store = new KVStore<Pod>({
    kv: counting,
    leases: new LeaseManager({ kv, clock: options.clock ?? systemClock }),
    codec: podCodec,
    transformer,
    versioner: objectVersioner,
    newObject: newPod,
    groupResource: PODS,
    pathPrefix,
    resourcePrefix: '/pods',
    leased: options.leased ?? false,
  })
  return { store, counting, transformer }
}
