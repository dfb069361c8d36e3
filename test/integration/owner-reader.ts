import type { MessagePort } from 'node:worker_threads'
import { CacheClient } from '#keelson/cacher/read/cache-client.js'
import { CacheDelegator } from '#keelson/cacher/read/cache-delegator.js'
import { systemClock } from '#keelson/lib/clock.js'
import type { KV } from '#keelson/storage/contract/kv.js'
import { identityTransformer } from '#keelson/storage/contract/transformer.js'
import { objectVersioner } from '#keelson/storage/contract/versioner.js'
import { RemoteKV } from '#keelson/storage/embedded/remote-kv.js'
import { EtcdKV } from '#keelson/storage/etcd/etcd-kv.js'
import { EtcdRevisionSource } from '#keelson/storage/etcd/etcd-revision-source.js'
import { LeaseManager } from '#keelson/storage/monitors/lease-manager.js'
import { KVStore } from '#keelson/storage/store/kv-store.js'
import { newPod, type Pod, podCodec } from '../contract/pod.js'

export interface OpenedReader {
  readonly client: CacheClient
  readonly kv: KV
  delegator(resource: string): CacheDelegator<Pod>
  close(): Promise<void>
}

/** What a front end and a pool thread do to use the owner: attach, ask etcd themselves, put the cache around a store of their own. */
export async function openReader(port: MessagePort, etcdServers: readonly string[]): Promise<OpenedReader> {
  const source = etcdServers.length === 0 ? undefined : new EtcdRevisionSource({ endpoints: etcdServers })
  const client = await CacheClient.attach(port, { sources: [source] })
  const kvPort = client.kvPort()
  const kv = kvPort === undefined ? new EtcdKV({ endpoints: etcdServers }) : new RemoteKV({ port: kvPort })
  if (kv instanceof RemoteKV) kv.start()
  return {
    client,
    kv,
    delegator: (resource) =>
      new CacheDelegator<Pod>({
        storage: new KVStore<Pod>({
          kv,
          leases: new LeaseManager({ kv, clock: systemClock }),
          codec: podCodec,
          transformer: identityTransformer,
          versioner: objectVersioner,
          newObject: newPod,
          groupResource: { group: '', resource },
          pathPrefix: '/registry',
          resourcePrefix: `/${resource}`,
        }),
        view: client.resource(resource),
        decodeBody: (body) => JSON.parse(Buffer.from(body).toString('utf8')) as Pod,
        newObject: newPod,
        pathPrefix: '/registry',
        resourcePrefix: `/${resource}`,
      }),
    close: async () => {
      await kv.close()
      source?.close()
      client.detach()
    },
  }
}
