/** Thread: any. The objects that credentials hang on (accounts, pods, secrets, nodes), from shared memory. */
import type { Json, JsonObject } from '../../api/object.js'
import { NEWEST, openSnapshot } from '../../cacher/read/resolve.js'
import type { ResourceView } from '../../cacher/read/resource-view.js'

export type SourceResource = 'serviceaccounts' | 'pods' | 'secrets' | 'nodes'

export interface FoundObject {
  readonly uid: string
  /** When the object was deleted; undefined when it was not. */
  readonly deletedMs: number | undefined
  read(): JsonObject
}

export interface ObjectSource {
  /** Looks the object up in memory; undefined when it is not there, or when memory cannot say. */
  find(resource: SourceResource, namespace: string, name: string): FoundObject | undefined
  /** Asks for the object's newest state, wherever it is. */
  ask(resource: SourceResource, namespace: string, name: string): Promise<FoundObject | undefined>
}

export interface SharedObjectsOptions {
  /** The view of a resource in memory. */
  cacheOf(resource: SourceResource): ResourceView
  /** The prefix of the resource's keys: `/registry/pods/`. */
  keyPrefix(resource: SourceResource): string
  /** Reads the JSON of an object that memory does not hold from its storage. */
  readStored(resource: SourceResource, namespace: string, name: string): Promise<Uint8Array | undefined>
}

export class SharedObjects implements ObjectSource {
  readonly #options: SharedObjectsOptions
  readonly #caches = new Map<SourceResource, ResourceView>()

  constructor(options: SharedObjectsOptions) {
    this.#options = options
  }

  find(resource: SourceResource, namespace: string, name: string): FoundObject | undefined {
    // A name with a slash would reach another key.
    if (namespace.includes('/') || name.includes('/') || name === '') return undefined
    const snapshot = openSnapshot(this.#cache(resource).arena(), NEWEST.revision)
    if (snapshot === undefined) return undefined
    try {
      const prefix = this.#options.keyPrefix(resource)
      const record = snapshot.get(namespace === '' ? `${prefix}${name}` : `${prefix}${namespace}/${name}`)
      return record === undefined ? undefined : foundObject(record.uid, Buffer.from(record.body()))
    } finally {
      snapshot.release()
    }
  }

  async ask(resource: SourceResource, namespace: string, name: string): Promise<FoundObject | undefined> {
    const cache = this.#cache(resource)
    if (cache.arena() !== undefined && (await cache.fence.pass()) && cache.arena() !== undefined)
      return this.find(resource, namespace, name)
    const body = await this.#options.readStored(resource, namespace, name)
    if (body === undefined) return undefined
    const object = parseObject(body)
    const { metadata } = object
    const uid = isObject(metadata) && typeof metadata['uid'] === 'string' ? metadata['uid'] : ''
    return foundObject(uid, body)
  }

  #cache(resource: SourceResource): ResourceView {
    let cache = this.#caches.get(resource)
    if (cache === undefined) {
      cache = this.#options.cacheOf(resource)
      this.#caches.set(resource, cache)
    }
    return cache
  }
}

const DELETION = Buffer.from('"deletionTimestamp":"')

/** An object that nobody has deleted is not parsed. */
function foundObject(uid: string, body: Uint8Array): FoundObject {
  const deleted = Buffer.from(body.buffer, body.byteOffset, body.byteLength).includes(DELETION)
  return { uid, deletedMs: deleted ? deletionOf(parseObject(body)) : undefined, read: () => parseObject(body) }
}

function deletionOf({ metadata }: JsonObject): number | undefined {
  const text = isObject(metadata) ? metadata['deletionTimestamp'] : undefined
  return typeof text === 'string' ? Date.parse(text) : undefined
}

function parseObject(body: Uint8Array): JsonObject {
  return JSON.parse(Buffer.from(body).toString('utf8')) as JsonObject
}

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
