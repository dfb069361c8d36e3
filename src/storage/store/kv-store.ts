/**
 * Thread: any. `Storage` over a key-value store: one class for etcd and for the embedded engine, since both speak KV.
 * Reads are linearizable; nothing is cached. Values are laid out as kube-apiserver lays them out.
 */

import type { GroupResource } from '../../api/group-version.js'
import type { KubeObject } from '../../api/object.js'
import type { StoreMetrics } from '../../metrics/store-metrics.js'
import { isStorageError, keyNotFound, StorageError } from '../contract/errors.js'
import type {
  Codec,
  CreateOptions,
  DeleteOptions,
  GetOptions,
  GuaranteedUpdateOptions,
  ListOptions,
  ListResult,
  Storage,
  StorageStats,
  UpdateFunc,
  Versioner,
  WatchStream,
} from '../contract/interface.js'
import { type KV, NO_LEASE } from '../contract/kv.js'
import { checkMinimumRevision } from '../contract/list-revision.js'
import { KeySpace } from '../contract/storage-key.js'
import type { Transformer } from '../contract/transformer.js'
import type { WatchQueue } from '../contract/watch-queue.js'
import { callOptions, type LeaseSource, type StoreCore } from './store-core.js'
import { conditionalDelete } from './store-delete.js'
import { listObjects } from './store-list.js'
import { sampleStats } from './store-stats.js'
import { guaranteedUpdate } from './store-update.js'
import { openWatch } from './store-watch.js'
import { StoredObjects } from './stored-object.js'
import { type Drafts, writtenObject } from './written-object.js'

export interface KVStoreOptions<T> {
  readonly kv: KV
  readonly leases: LeaseSource
  readonly codec: Codec<T>
  readonly transformer: Transformer
  readonly versioner: Versioner<T>
  /** An empty object of the kind: what a missing one is read as, when the caller ignores that it is missing. */
  readonly newObject: () => T
  readonly groupResource: GroupResource
  /** The prefix of the whole store: `/registry`. */
  readonly pathPrefix: string
  /** The prefix of the resource: `/pods`. */
  readonly resourcePrefix: string
  /**
   * Objects of this resource may expire (events, leases of API servers). Then an update reads the stored object even
   * when it is given a copy, because only the store knows the lease that an update without TTL has to keep.
   */
  readonly leased?: boolean
  readonly drafts?: Drafts<T>
  readonly metrics?: StoreMetrics
}

export class KVStore<T extends KubeObject> implements Storage<T> {
  readonly versioner: Versioner<T>
  readonly groupResource: GroupResource
  readonly #core: StoreCore<T>
  readonly #watches = new Set<WatchQueue<T>>()
  #closed = false

  constructor(options: KVStoreOptions<T>) {
    this.versioner = options.versioner
    this.groupResource = options.groupResource
    this.#core = {
      kv: options.kv,
      objects: new StoredObjects(options),
      keys: new KeySpace(options),
      leases: options.leases,
      leased: options.leased ?? false,
      drafts: options.drafts,
      metrics: options.metrics,
    }
  }

  async create(key: string, object: T, options: CreateOptions<T> = {}): Promise<T> {
    const { kv, objects, keys, leases } = this.#core
    const storedKey = keys.object(key)
    if (this.#versionOf(object) !== 0) {
      throw new StorageError('resource-version-set', 'resourceVersion should not be set on objects to be created', {
        key: storedKey,
      })
    }
    const written = writtenObject(this.#core, storedKey, object, objects.encodePrinted(object))
    const { draft, printed } = written
    const { ttlSeconds = 0, signal } = options
    const lease = ttlSeconds > 0 ? await leases.getLease(ttlSeconds, callOptions(signal)) : NO_LEASE
    const value = await objects.seal(written.data, storedKey)
    const result = await kv.optimisticPut(storedKey, value, 0, {
      lease,
      ...(draft === undefined ? {} : { draft }),
      ...callOptions(signal),
    })
    if (!result.succeeded) {
      throw new StorageError('key-exists', `key ${storedKey} exists already`, { key: storedKey })
    }
    this.versioner.updateObject(written.object, result.revision)
    if (printed !== undefined) options.onPrinted?.(written.object, printed)
    return written.object
  }

  asStored(object: T): T {
    return this.#core.objects.copy(object)
  }

  delete(key: string, options: DeleteOptions<T> = {}): Promise<T> {
    return this.#on(key, (storedKey) => conditionalDelete(this.#core, storedKey, options))
  }

  guaranteedUpdate(key: string, tryUpdate: UpdateFunc<T>, options: GuaranteedUpdateOptions<T> = {}): Promise<T> {
    return this.#on(key, (storedKey) => guaranteedUpdate(this.#core, storedKey, tryUpdate, options))
  }

  async get(key: string, options: GetOptions = {}): Promise<T> {
    const { kv, objects, keys } = this.#core
    const storedKey = keys.object(key)
    const minimumRevision = this.versioner.parseResourceVersion(options.resourceVersion ?? '')
    const result = await kv.get(storedKey, callOptions(options.signal))
    checkMinimumRevision(minimumRevision, result.revision)
    if (result.kv !== undefined) return objects.read(result.kv)
    if (options.ignoreNotFound) return objects.newObject()
    throw keyNotFound(storedKey)
  }

  async getList(key: string, options: ListOptions<T>): Promise<ListResult<T>> {
    return listObjects(this.#core, this.#core.keys.prepare(key, options.recursive), options)
  }

  async watch(key: string, options: ListOptions<T>): Promise<WatchStream<T>> {
    this.readinessCheck()
    const storedKey = this.#core.keys.prepare(key, options.recursive)
    const queue = await openWatch(this.#core, storedKey, options, (ended) => this.#watches.delete(ended))
    if (!queue.finished) this.#watches.add(queue)
    if (this.#closed) queue.stop()
    return queue
  }

  async count(key: string): Promise<number> {
    return this.#core.kv.count(this.#core.keys.prefix(key))
  }

  stats(): Promise<StorageStats> {
    return sampleStats(this.#core.kv, this.#core.keys.root)
  }

  readinessCheck(): void {
    if (this.#closed) throw new StorageError('not-ready', 'the store is closed')
  }

  requestWatchProgress(): Promise<void> {
    return this.#core.kv.requestProgress()
  }

  currentResourceVersion(): Promise<number> {
    return this.#core.kv.currentRevision()
  }

  compactRevision(): number {
    return this.#core.kv.compactedRevision()
  }

  /** Ends the watches of this store. The KV belongs to whoever made it: many stores share one. */
  close(): Promise<void> {
    this.#closed = true
    for (const queue of [...this.#watches]) queue.stop()
    return Promise.resolve()
  }

  async #on(key: string, work: (storedKey: string) => Promise<T>): Promise<T> {
    return work(this.#core.keys.object(key))
  }

  /** On create Kubernetes lets a malformed version pass as none: it is overwritten anyway. */
  #versionOf(object: T): number {
    try {
      return this.versioner.objectResourceVersion(object)
    } catch (error) {
      if (isStorageError(error, 'invalid-request')) return 0
      throw error
    }
  }
}
