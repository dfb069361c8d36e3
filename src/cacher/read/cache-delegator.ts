/**
 * Thread: any. `Storage` with the watch cache around a store. Reads and watches are served from shared memory wherever
 * the read engine (resolve.ts, scan.ts, follow.ts) allows it; the store serves everything else, and everything while
 * memory is not ready. Here records become objects; in the front end they become bytes on a socket.
 */

import type { CancelSignal } from '../../lib/cancellation.js'
import type { Clock } from '../../lib/clock.js'
import { systemClock } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'
import { keyNotFound, StorageError } from '../../storage/contract/errors.js'
import type {
  CachedText,
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
} from '../../storage/contract/interface.js'
import { type ReadPosition, resolveListPosition } from '../../storage/contract/list-revision.js'
import { KeySpace } from '../../storage/contract/storage-key.js'
import type { RecordView, Snapshot } from '../memory/shared-memory.js'
import { CacheWatch } from './cache-watch.js'
import { keyRange } from './key-range.js'
import { ANY, arrive, openSnapshot, resolveGet } from './resolve.js'
import type { ResourceView } from './resource-view.js'
import { scanPage } from './scan.js'

export interface CacheDelegatorOptions<T> {
  readonly storage: Storage<T>
  readonly view: ResourceView
  /**
   * Makes an object of a record's JSON, which is a view over shared memory and must not be kept. Every call makes a new
   * object.
   */
  readonly decodeBody: (body: Uint8Array) => T
  readonly newObject: () => T
  /** The prefix of the whole store: `/registry`. */
  readonly pathPrefix: string
  /** The prefix of the resource: `/pods`. */
  readonly resourcePrefix: string
  readonly clock?: Clock
  readonly random?: Random
}

export class CacheDelegator<T> implements Storage<T> {
  readonly versioner: Versioner<T>
  readonly #options: CacheDelegatorOptions<T>
  readonly #storage: Storage<T>
  readonly #view: ResourceView
  readonly #keys: KeySpace
  readonly #clock: Clock
  readonly #watch: CacheWatch<T>

  constructor(options: CacheDelegatorOptions<T>) {
    this.#options = options
    this.#storage = options.storage
    this.#view = options.view
    this.versioner = options.storage.versioner
    this.#keys = new KeySpace(options)
    this.#clock = options.clock ?? systemClock
    this.#watch = new CacheWatch({
      storage: options.storage,
      view: options.view,
      toObject: (record, revision) => this.#toObject(record, revision),
      clock: this.#clock,
      random: options.random ?? Math.random,
    })
  }

  async get(key: string, options: GetOptions = {}): Promise<T> {
    const storedKey = this.#keys.object(key)
    const position = resolveGet(options.resourceVersion ?? '', this.#parse)
    const found = await this.#read(position, options.signal, (snapshot) => {
      const record = snapshot.get(storedKey)
      return { object: record && this.#toObject(record, record.modRevision) }
    })
    if (found === undefined) return this.#storage.get(key, options)
    if (found.object !== undefined) return found.object
    if (options.ignoreNotFound) return this.#options.newObject()
    throw keyNotFound(storedKey)
  }

  async getList(key: string, options: ListOptions<T>): Promise<ListResult<T>> {
    const { predicate, recursive, signal } = options
    const storedKey = this.#keys.prepare(key, recursive)
    const { limit, continueToken } = predicate
    const position = resolveListPosition(storedKey, { ...options, limit, continueToken }, this.#parse)
    const result = await this.#read(position, signal, (snapshot) => {
      const range = keyRange(storedKey, recursive)
      const { startKey, memoryLimit } = position
      const page = scanPage({ snapshot, range, startKey, selectors: predicate, limit: memoryLimit }, (record) =>
        this.#toObject(record, record.modRevision),
      )
      const { items, remaining } = page
      return {
        items,
        resourceVersion: snapshot.revision,
        continueToken: page.continueToken,
        remainingItemCount: remaining,
      }
    })
    return result ?? this.#storage.getList(key, options)
  }

  async watch(key: string, options: ListOptions<T>): Promise<WatchStream<T>> {
    const storedKey = this.#keys.prepare(key, options.recursive)
    return this.#watch.open({ key, storedKey, options })
  }

  create(key: string, object: T, options?: CreateOptions<T>): Promise<T> {
    return this.#storage.create(key, object, options)
  }

  asStored(object: T): T | Promise<T> {
    return this.#storage.asStored(object)
  }

  async delete(key: string, options: DeleteOptions<T> = {}): Promise<T> {
    return this.#storage.delete(key, this.#withSuggestion(key, options))
  }

  async guaranteedUpdate(key: string, tryUpdate: UpdateFunc<T>, options: GuaranteedUpdateOptions<T> = {}): Promise<T> {
    const storedKey = this.#keys.object(key)
    const cachedExistingText = this.#look(ANY.revision, (snapshot) => {
      const record = snapshot.get(storedKey)
      return record && this.#text(record)
    })
    if (cachedExistingText === undefined) return this.#storage.guaranteedUpdate(key, tryUpdate, options)
    const cachedExistingObject = cachedExistingText.read()
    const suggestion = { cachedExistingText, cachedExistingObject }
    return this.#storage.guaranteedUpdate(key, tryUpdate, { ...options, ...suggestion })
  }

  count(key: string): Promise<number> {
    return this.#storage.count(key)
  }

  stats(): Promise<StorageStats> {
    return this.#storage.stats()
  }

  readinessCheck(): void {
    this.#storage.readinessCheck()
    if (this.#view.arena() === undefined && !this.#view.fallen()) {
      throw new StorageError('not-ready', 'the watch cache is still filling')
    }
  }

  /** Asks for progress on the watches that the storage serves, and on those that memory serves. */
  async requestWatchProgress(): Promise<void> {
    await Promise.all([this.#storage.requestWatchProgress(), this.#view.fence.pass()])
  }

  currentResourceVersion(): Promise<number> {
    return this.#storage.currentResourceVersion()
  }

  compactRevision(): number {
    return this.#storage.compactRevision()
  }

  close(): Promise<void> {
    this.#watch.close()
    return this.#storage.close()
  }

  readonly #parse = (resourceVersion: string): number => this.versioner.parseResourceVersion(resourceVersion)

  /** Reads from memory; undefined when memory does not have the state, or no longer has it. */
  async #read<R>(
    position: ReadPosition,
    signal: CancelSignal | undefined,
    look: (snapshot: Snapshot) => R,
  ): Promise<R | undefined> {
    if (this.#view.arena() === undefined) return undefined
    const arrived = arrive(this.#view, position, { clock: this.#clock, signal })
    if (arrived !== true && !(await arrived)) return undefined
    return this.#look(position.revision, look)
  }

  #look<R>(revision: number, look: (snapshot: Snapshot) => R): R | undefined {
    const snapshot = openSnapshot(this.#view.arena(), revision)
    if (snapshot === undefined) return undefined
    try {
      return look(snapshot)
    } finally {
      snapshot.release()
    }
  }

  /** Adds the newest copy at hand to the options: when it is current, it saves the store a read. */
  #withSuggestion<O extends { readonly cachedExistingObject?: T }>(key: string, options: O): O {
    const storedKey = this.#keys.object(key)
    const cachedExistingObject = this.#look(ANY.revision, (snapshot) => {
      const record = snapshot.get(storedKey)
      return record && this.#toObject(record, record.modRevision)
    })
    return cachedExistingObject === undefined ? options : { ...options, cachedExistingObject }
  }

  #text(record: RecordView): CachedText<T> {
    const body = Buffer.from(record.body())
    return { body, read: () => this.#options.decodeBody(body) }
  }

  #toObject(record: RecordView, revision: number): T {
    const object = this.#options.decodeBody(record.body())
    // The body has the revision of its last write. Another one is wanted when an object only left a selection.
    if (revision !== record.modRevision) this.versioner.updateObject(object, revision)
    return object
  }
}
