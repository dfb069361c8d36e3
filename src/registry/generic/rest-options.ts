/** Thread: any. What the generic registry needs to know of a resource before it can serve it. */
import { formatGroupResource, type GroupResource } from '../../api/group-version.js'
import type { StorageDecorator } from '../../storage/factory/decorator.js'
import type { StorageFactory } from '../../storage/factory/factory.js'
import type { EtcdOptions } from '../../storage/factory/factory-options.js'
import { WatchCacheSizes } from '../../storage/factory/factory-overrides.js'
import { StorageConfigError, type StorageConfigForResource } from '../../storage/factory/storage-config.js'

export interface RESTOptions {
  readonly storageConfig: StorageConfigForResource
  readonly decorator: StorageDecorator
  readonly enableGarbageCollection: boolean
  readonly deleteCollectionWorkers: number
  /** The prefix of the resource, with the slash before it, as keys have it: `/services/specs`. */
  readonly resourcePrefix: string
  /** How often the objects are counted; 0 for never. */
  readonly countMetricPollPeriodMs: number
}

export interface RESTOptionsGetter {
  getRESTOptions(resource: GroupResource): RESTOptions
}

export interface StorageFactoryRESTOptionsGetterOptions {
  /** The storage flags, which are valid. */
  readonly etcdOptions: EtcdOptions
  readonly storageFactory: StorageFactory
  readonly undecorated: StorageDecorator
  readonly withCacher: StorageDecorator
}

export class StorageFactoryRESTOptionsGetter implements RESTOptionsGetter {
  readonly #options: StorageFactoryRESTOptionsGetterOptions
  readonly #watchCacheSizes: WatchCacheSizes

  constructor(options: StorageFactoryRESTOptionsGetterOptions) {
    this.#options = options
    this.#watchCacheSizes = new WatchCacheSizes(options.etcdOptions.watchCacheSizes)
  }

  getRESTOptions(resource: GroupResource): RESTOptions {
    const { etcdOptions, storageFactory, undecorated, withCacher } = this.#options
    const cached = etcdOptions.watchCache && this.#watchCacheSizes.cached(resource)
    const prefix = storageFactory.resourcePrefix(resource)
    if (prefix === '') throw new StorageConfigError(`${formatGroupResource(resource)} has no place in the storage`)
    return {
      storageConfig: storageFactory.newConfig(resource),
      decorator: cached ? withCacher : undecorated,
      enableGarbageCollection: etcdOptions.enableGarbageCollector,
      deleteCollectionWorkers: etcdOptions.deleteCollectionWorkers,
      resourcePrefix: `/${prefix}`,
      countMetricPollPeriodMs: etcdOptions.etcdCountMetricPollPeriodMs,
    }
  }
}
