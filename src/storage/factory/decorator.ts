/**
 * Thread: any. From the configuration of a resource to its Storage: bare, or with the watch cache around it. What is
 * opened on the way (connections, storage, cache) is one handle, which subresources share.
 */
import type { GroupResource } from '../../api/group-version.js'
import type { KubeObject } from '../../api/object.js'
import { type Clock, systemClock } from '../../lib/clock.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { StoreMetrics } from '../../metrics/store-metrics.js'
import type { ObjectAttributes, Storage } from '../contract/interface.js'
import type { KV } from '../contract/kv.js'
import { objectVersioner } from '../contract/versioner.js'
import { KVStore } from '../store/kv-store.js'
import { MeteredKV } from '../store/metered-kv.js'
import type { LeaseSource } from '../store/store-core.js'
import type { Drafts } from '../store/written-object.js'
import { openShared, type SharedHandle, SharedHandles } from './shared-handle.js'
import { type StorageConfig, type StorageConfigForResource, transportKey } from './storage-config.js'

/** A field by whose exact value watchers and records are found: `spec.nodeName`. */
export interface Indexer {
  readonly name: string
  value(object: KubeObject): string
}

export interface StorageDecoratorOptions {
  readonly config: StorageConfigForResource
  /** The prefix of the resource, with the slash before it: `/pods`. */
  readonly resourcePrefix: string
  /** The key of an object below the storage prefix: `/pods/default/a`. */
  readonly keyOf: (object: KubeObject) => string
  readonly newObject: () => KubeObject
  readonly getAttributes: (object: KubeObject) => ObjectAttributes
  readonly indexers?: readonly Indexer[]
  /** Whether objects of the resource may expire. */
  readonly leased?: boolean
  readonly drafts?: Drafts<KubeObject>
}

export type StorageHandle = SharedHandle<Storage<KubeObject>>
export type StorageDecorator = (options: StorageDecoratorOptions) => StorageHandle

/** A connection to one set of servers, or the engine of one folder. */
export interface Backend extends Closable {
  readonly kv: KV
  readonly leases: LeaseSource
}

export interface RawStoragesOptions {
  readonly openBackend: (config: StorageConfig) => Backend
  /** Gives the metrics of a resource; without it nothing is counted. */
  readonly metricsOf?: (resource: GroupResource) => StoreMetrics
  readonly clock?: Clock
}

/** Makes storages without a cache; those with equal servers share a backend. */
export class RawStorages {
  readonly #openBackend: (config: StorageConfig) => Backend
  readonly #metricsOf: ((resource: GroupResource) => StoreMetrics) | undefined
  readonly #clock: Clock
  readonly #backends = new SharedHandles<Backend>()

  constructor({ openBackend, metricsOf, clock = systemClock }: RawStoragesOptions) {
    this.#openBackend = openBackend
    this.#metricsOf = metricsOf
    this.#clock = clock
  }

  /** Asks the servers something small; throws when they do not answer. */
  async probe(config: StorageConfig): Promise<void> {
    const backend = this.#backends.acquire(transportKey(config), () => this.#openBackend(config))
    try {
      await backend.value.kv.currentRevision()
    } finally {
      await backend.release()
    }
  }

  open({ config, resourcePrefix, newObject, leased, drafts }: StorageDecoratorOptions): StorageHandle {
    const backend = this.#backends.acquire(transportKey(config), () => this.#openBackend(config))
    const { kv, leases } = backend.value
    const metrics = this.#metricsOf?.(config.groupResource)
    const storage = new KVStore<KubeObject>({
      kv: metrics === undefined ? kv : new MeteredKV(kv, metrics, this.#clock),
      ...(metrics === undefined ? {} : { metrics }),
      leases,
      codec: config.codec,
      transformer: config.transformer,
      versioner: objectVersioner,
      newObject,
      groupResource: config.groupResource,
      pathPrefix: config.prefix,
      resourcePrefix,
      ...(leased === undefined ? {} : { leased }),
      ...(drafts === undefined ? {} : { drafts }),
    })
    return openShared<Storage<KubeObject>>(storage, () =>
      closeInOrder([() => storage.close(), () => backend.release()]),
    )
  }
}

export function undecoratedStorage(rawStorages: RawStorages): StorageDecorator {
  return (options) => rawStorages.open(options)
}

/** The watch cache around a storage; closing it leaves the storage open. */
export type NewCacher = (options: StorageDecoratorOptions, storage: Storage<KubeObject>) => Storage<KubeObject>

export function storageWithCacher(rawStorages: RawStorages, newCacher: NewCacher): StorageDecorator {
  return (options) => {
    const raw = rawStorages.open(options)
    const cacher = newCacher(options, raw.value)
    return openShared(cacher, () => closeInOrder([() => cacher.close(), () => raw.release()]))
  }
}

/** Takes all steps, also when one of them fails. */
async function closeInOrder(steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, 'closing a storage failed')
}
