import type { KubeObject } from '#keelson/api/object.js'
import type { Codec } from '#keelson/storage/contract/interface.js'
import type { KV } from '#keelson/storage/contract/kv.js'
import { identityTransformer } from '#keelson/storage/contract/transformer.js'
import { objectVersioner } from '#keelson/storage/contract/versioner.js'
import { KVStore, type KVStoreOptions } from '#keelson/storage/store/kv-store.js'

/** Objects of any kind as plain JSON. */
export const jsonCodec: Codec<KubeObject> = {
  encode: (object) => Buffer.from(JSON.stringify(object)),
  decode: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as KubeObject,
}

/** The storage of one resource, as JSON in plain text below `/registry`. */
export function openJsonStore(
  kv: KV,
  resourcePrefix: string,
  given: Partial<KVStoreOptions<KubeObject>> = {},
): KVStore<KubeObject> {
  return new KVStore<KubeObject>({
    kv,
    leases: { getLease: (ttlSeconds) => kv.grantLease(ttlSeconds) },
    codec: jsonCodec,
    transformer: identityTransformer,
    versioner: objectVersioner,
    newObject: () => ({}),
    groupResource: { group: '', resource: resourcePrefix.slice(1) },
    pathPrefix: '/registry',
    resourcePrefix,
    ...given,
  })
}
