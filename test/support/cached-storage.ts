import type { KubeObject } from '#keelson/api/object.js'
import { Cacher, type CacherOptions, type CacherResource } from '#keelson/cacher/feed/cacher.js'
import { CacheDelegator } from '#keelson/cacher/read/cache-delegator.js'
import { nullLogger } from '#keelson/lib/logger.js'
import type { Storage } from '#keelson/storage/contract/interface.js'
import type { KV } from '#keelson/storage/contract/kv.js'
import { identityTransformer, type Transformer } from '#keelson/storage/contract/transformer.js'
import { jsonDraft } from './plain-object.js'

export interface CachedStorageOptions<T> {
  readonly kv: KV
  /** The storage to put the cache around, on the key-value store that it may use. */
  readonly storage: (kv: KV) => { readonly storage: Storage<T>; readonly transformer?: Transformer }
  readonly cacher: Pick<CacherOptions, 'clock'> & Partial<CacherOptions>
  readonly pathPrefix: string
  readonly resourcePrefix: string
  readonly newObject: () => T
  readonly recordDraft?: CacherResource['recordDraft']
}

export interface CachedStorage<T> {
  readonly cacher: Cacher
  readonly delegator: CacheDelegator<T>
  readonly storage: Storage<T>
}

/** The watch cache of one resource around its storage, all in this thread, ready to be read. */
export async function openCachedStorage<T extends KubeObject>(
  options: CachedStorageOptions<T>,
): Promise<CachedStorage<T>> {
  const { kv, pathPrefix, resourcePrefix, newObject } = options
  const cacher = new Cacher({
    kv,
    prefix: `${pathPrefix}/`,
    progressTrusted: () => true,
    logger: nullLogger,
    ...options.cacher,
  })
  const { storage, transformer = identityTransformer } = options.storage(cacher.kv)
  void cacher.addResource({
    resource: 'pods',
    keyPrefix: `${pathPrefix}${resourcePrefix}/`,
    transformer,
    recordDraft: options.recordDraft ?? jsonDraft,
  })
  cacher.start()
  await cacher.synced
  const delegator = new CacheDelegator<T>({
    storage,
    view: cacher.local()('pods'),
    decodeBody: (body) => JSON.parse(Buffer.from(body).toString('utf8')) as T,
    newObject,
    pathPrefix,
    resourcePrefix,
    clock: options.cacher.clock,
    random: () => 0,
  })
  return { cacher, delegator, storage }
}
