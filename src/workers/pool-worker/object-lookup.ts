/**
 * Thread: pool. Objects that admission asks for. What is at hand in shared memory is given at once, decoded once for each
 * revision and shared by all who ask; the newest state goes the way of any linearizable read.
 */
import type { AdmissionObjects, Maybe, ObjectName, ResourceOf } from '../../admission/objects.js'
import { formatGroupResource, type GroupVersionResource } from '../../api/group-version.js'
import { type KubeObject, metadataOf } from '../../api/object.js'
import type { StructSchema } from '../../api/schema.js'
import { MapAttributes, type Selector } from '../../api/selector.js'
import { isStatusError } from '../../api/status.js'
import type { ArenaReader, RecordView, Snapshot } from '../../cacher/memory/shared-memory.js'
import type { CacheClient } from '../../cacher/read/cache-client.js'
import { keyRange } from '../../cacher/read/key-range.js'
import type { ResourceView } from '../../cacher/read/resource-view.js'
import { listAll } from '../../registry/generic/list-all.js'
import type { RegistryStore } from '../../registry/generic/registry-store.js'
import type { RESTOptionsGetter } from '../../registry/generic/rest-options.js'
import { isNotFound, isStorageError } from '../../storage/contract/errors.js'
import { KeySpace } from '../../storage/contract/storage-key.js'
import type { EndpointTable } from '../endpoints/endpoint-table.js'
import { decodeMemory } from '../scheme/memory-body.js'
import type { Scheme } from '../scheme/scheme.js'

export interface ObjectLookupOptions {
  readonly endpoints: EndpointTable
  readonly scheme: Pick<Scheme, 'stored'>
  readonly restOptions: RESTOptionsGetter
  readonly cache: CacheClient
}

interface Source {
  readonly store: RegistryStore
  readonly schema: StructSchema | undefined
  readonly keys: KeySpace
  readonly cache: ResourceView
  /** The objects that were decoded last, by key in the store. */
  readonly decoded: Map<string, { readonly revision: number; readonly object: KubeObject }>
  /** Of their JSON; trees take some times as much. */
  decodedBytes: number
  /** The arena that they were decoded from. In another one (of a restored store) a revision may be another state. */
  arena: ArenaReader | undefined
}

/**
 * The most decoded objects that are kept for a resource: enough for classes, namespaces and quotas, and soon too few
 * for pods. Users decide how large some of them are: parameters of policies may be any ConfigMaps of a namespace.
 */
const MAX_DECODED = 4_096
const MAX_DECODED_BYTES = 16 * 1024 * 1024
const NOTHING: readonly KubeObject[] = []
const NO_NAMES: readonly ObjectName[] = []

/**
 * The caller says of what kind the objects of a resource are, as the table of rules does; the declarations of the
 * methods trust it.
 */
export class ObjectLookup implements AdmissionObjects {
  readonly #options: ObjectLookupOptions
  readonly #sources = new Map<string, Source>()

  constructor(options: ObjectLookupOptions) {
    this.#options = options
  }

  get<K extends KubeObject>(resource: ResourceOf<K>, namespace: string, name: string): Maybe<K | undefined>
  get(resource: GroupVersionResource, namespace: string, name: string): Maybe<KubeObject | undefined> {
    // The name cannot be part of a key: a client left it out, or it reaches elsewhere.
    if (name === '' || name === '.' || name === '..') return undefined
    const source = this.#source(resource)
    if (source === undefined) return undefined
    const key = source.store.key(namespace, name)
    const seen = read(source, (snapshot) => {
      const record = snapshot.get(source.keys.object(key))
      return { object: record === undefined ? undefined : decoded(source, record) }
    })
    return seen === undefined ? this.#fromStorage(source, key, '0') : seen.object
  }

  list<K extends KubeObject>(resource: ResourceOf<K>, namespace: string): Maybe<readonly K[]>
  list(resource: GroupVersionResource, namespace: string): Maybe<readonly KubeObject[]> {
    const source = this.#source(resource)
    if (source === undefined) return NOTHING
    const root = source.store.keyRoot(namespace)
    const { startKey, endKey } = keyRange(source.keys.prefix(root), true)
    const seen = read(source, (snapshot) => {
      if (snapshot.count(startKey, endKey) === 0) return NOTHING
      const items: KubeObject[] = []
      snapshot.scan(startKey, endKey, (record) => {
        items.push(decoded(source, record))
        return true
      })
      return items
    })
    return seen ?? this.#listFromStorage(source, root, '0')
  }

  select(resource: GroupVersionResource, namespace: string, labels: Selector): Maybe<readonly ObjectName[]> {
    const source = this.#source(resource)
    if (source === undefined) return NO_NAMES
    const root = source.store.keyRoot(namespace)
    const all = source.keys.prefix(source.store.keyRoot(''))
    const { startKey, endKey } = keyRange(source.keys.prefix(root), true)
    const seen = read(source, (snapshot) => {
      const names: ObjectName[] = []
      snapshot.scan(startKey, endKey, (record) => {
        if (labels.matches(record.labels)) names.push(nameOf(record.key.slice(all.length)))
        return true
      })
      return names
    })
    return seen ?? this.#selectFromStorage(source, root, labels)
  }

  async #selectFromStorage(source: Source, root: string, labels: Selector): Promise<readonly ObjectName[]> {
    const all = await this.#listFromStorage(source, root, '0')
    return all
      .map((object) => metadataOf(object))
      .filter((metadata) => labels.matches(new MapAttributes(metadata.labels)))
      .map(({ namespace = '', name = '' }) => ({ namespace, name }))
  }

  getLive<K extends KubeObject>(resource: ResourceOf<K>, namespace: string, name: string): Maybe<K | undefined>
  getLive(resource: GroupVersionResource, namespace: string, name: string): Maybe<KubeObject | undefined> {
    if (name === '' || name === '.' || name === '..') return undefined
    const source = this.#source(resource)
    return source && this.#fromStorage(source, source.store.key(namespace, name), '')
  }

  listLive<K extends KubeObject>(resource: ResourceOf<K>, namespace: string): Maybe<readonly K[]>
  listLive(resource: GroupVersionResource, namespace: string): Maybe<readonly KubeObject[]> {
    const source = this.#source(resource)
    return source === undefined ? NOTHING : this.#listFromStorage(source, source.store.keyRoot(namespace), '')
  }

  /** Undefined for a resource that is not served. A resource that was defined anew has another store. */
  #source({ group, version, resource }: GroupVersionResource): Source | undefined {
    const { endpoints, restOptions, cache, scheme } = this.#options
    const name = formatGroupResource({ group, resource })
    try {
      const { store, memorySchema, custom } = endpoints.find({
        apiGroup: group,
        apiVersion: version,
        resource,
        subresource: '',
      })
      const known = this.#sources.get(name)
      if (known?.store === store) return known
      const { storageConfig, resourcePrefix } = restOptions.getRESTOptions({ group, resource })
      const source = {
        store,
        schema: custom === undefined ? memorySchema : undefined,
        keys: new KeySpace({ pathPrefix: storageConfig.prefix, resourcePrefix }),
        cache: cache.resource(scheme.stored(name)!.arena),
        decoded: new Map(),
        decodedBytes: 0,
        arena: undefined,
      }
      this.#sources.set(name, source)
      return source
    } catch (error) {
      if (isStatusError(error, 'NotFound')) return undefined
      throw error
    }
  }

  async #fromStorage({ store }: Source, key: string, resourceVersion: string): Promise<KubeObject | undefined> {
    try {
      return await store.storage.get(key, { resourceVersion })
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  async #listFromStorage({ store }: Source, root: string, resourceVersion: string): Promise<readonly KubeObject[]> {
    return listAll(store.storage, root, { newest: resourceVersion === '' })
  }
}

/** Undefined when memory cannot answer. */
function read<R>(source: Source, look: (snapshot: Snapshot) => R): R | undefined {
  const arena = source.cache.arena()
  if (arena === undefined) return undefined
  if (arena !== source.arena) {
    forget(source)
    source.arena = arena
  }
  let snapshot: Snapshot
  try {
    snapshot = arena.snapshot()
  } catch (error) {
    if (isStorageError(error, 'too-old') || isStorageError(error, 'not-ready')) return undefined
    throw error
  }
  try {
    return arena.ready() ? look(snapshot) : undefined
  } finally {
    snapshot.release()
  }
}

function decoded(source: Source, record: RecordView): KubeObject {
  const { key, modRevision: revision } = record
  const known = source.decoded.get(key)
  if (known?.revision === revision) return known.object
  const body = Buffer.from(record.body())
  const object = decodeMemory(body, source.schema)
  if (source.decoded.size >= MAX_DECODED || source.decodedBytes + body.byteLength > MAX_DECODED_BYTES) forget(source)
  source.decoded.set(key, { revision, object })
  source.decodedBytes += body.byteLength
  return object
}

function forget(source: Source): void {
  source.decoded.clear()
  source.decodedBytes = 0
}

/** The end of a key: a name, or a namespace and a name. */
function nameOf(end: string): ObjectName {
  const slash = end.indexOf('/')
  return { namespace: slash < 0 ? '' : end.slice(0, slash), name: end.slice(slash + 1) }
}
