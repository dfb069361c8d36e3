/**
 * Thread: any. `Storage` around a store: reads and watches out of shared memory wherever that is right, everything else,
 * and everything while memory is not ready, by the store.
 *
 * | read                                   | from memory                                   | else               |
 * | -------------------------------------- | --------------------------------------------- | ------------------ |
 * | resourceVersion '' (or a token at -1)  | after the fence                               | store, at its limit |
 * | 0                                      | as it is                                      |                    |
 * | at least V                             | when the clock has reached V                  | `too-large` after 3 s |
 * | exactly V, or a token at V             | when V is in the window                       | store              |
 * | watch after V                          | when V is in the window                       | store, until memory has what follows |
 *
 * A snapshot counts only if its arena is still ready after it was taken: see ResourceRegistration.createArena.
 */

import type { Clock } from '../../lib/clock.js'
import { systemClock } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'
import { isStorageError, keyNotFound, StorageError } from '../../storage/contract/errors.js'
import type {
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
import {
  type ListPosition,
  resolveListPosition,
  tooLargeResourceVersion,
} from '../../storage/contract/list-revision.js'
import { KeySpace } from '../../storage/contract/storage-key.js'
import type { ArenaReader, RecordView, Snapshot } from '../memory/shared-memory.js'
import { listFromSnapshot } from './cache-list.js'
import { CacheWatch } from './cache-watch.js'
import { keyRange } from './key-range.js'
import type { ResourceCache } from './resource-cache.js'

export interface CacheDelegatorOptions<T> {
  readonly storage: Storage<T>
  readonly cache: ResourceCache
  /** From a record's JSON, a view over shared memory that must not be kept. Every call gives a new object. */
  readonly decodeBody: (body: Uint8Array) => T
  readonly newObject: () => T
  /** Of the whole store; `/registry`. */
  readonly pathPrefix: string
  /** Of the resource; `/pods`. */
  readonly resourcePrefix: string
  readonly clock?: Clock
  readonly random?: Random
}

/** As Kubernetes waits for its watch cache to become fresh, and what it tells clients then. */
const FRESH_LIMIT_MS = 3_000
const RETRY_AFTER_SECONDS = 1

export class CacheDelegator<T> implements Storage<T> {
  readonly versioner: Versioner<T>
  readonly #options: CacheDelegatorOptions<T>
  readonly #storage: Storage<T>
  readonly #cache: ResourceCache
  readonly #keys: KeySpace
  readonly #clock: Clock
  readonly #watch: CacheWatch<T>

  constructor(options: CacheDelegatorOptions<T>) {
    this.#options = options
    this.#storage = options.storage
    this.#cache = options.cache
    this.versioner = options.storage.versioner
    this.#keys = new KeySpace(options)
    this.#clock = options.clock ?? systemClock
    this.#watch = new CacheWatch({
      storage: options.storage,
      cache: options.cache,
      toObject: (record, revision) => this.#toObject(record, revision),
      fresh: (revision, signal) => this.#fresh(revision, signal),
      clock: this.#clock,
      random: options.random ?? Math.random,
    })
  }

  async get(key: string, options: GetOptions = {}): Promise<T> {
    const storedKey = this.#keys.object(key)
    const { resourceVersion = '' } = options
    const asked = this.versioner.parseResourceVersion(resourceVersion)
    if (this.#cache.arena() === undefined) return this.#storage.get(key, options)
    if (resourceVersion === '') {
      const passed = this.#cache.fence.pass()
      if (passed !== true && !(await passed)) return this.#storage.get(key, options)
    } else {
      await this.#mustBeFresh(asked, options.signal)
    }
    const found = this.#read(undefined, (snapshot) => {
      const record = snapshot.get(storedKey)
      return { object: record && this.#toObject(record, record.modRevision) }
    })
    if (found === undefined) return this.#storage.get(key, options)
    if (found.object !== undefined) return found.object
    if (options.ignoreNotFound) return this.#options.newObject()
    throw keyNotFound(storedKey)
  }

  async getList(key: string, options: ListOptions<T>): Promise<ListResult<T>> {
    const storedKey = this.#keys.prepare(key, options.recursive)
    const position = resolveListPosition(storedKey, this.versioner, options)
    if (this.#cache.arena() === undefined) return this.#storage.getList(key, options)
    if (!(await this.#arrived(position, options))) return this.#storage.getList(key, options)
    const { predicate, recursive, resourceVersion } = options
    // Kubernetes' watch cache gives everything to whoever takes any version.
    const unlimited = !recursive || (resourceVersion === '0' && predicate.continueToken === '')
    const result = this.#read(position.revision === 0 ? undefined : position.revision, (snapshot) =>
      listFromSnapshot({
        snapshot,
        range: keyRange(storedKey, recursive),
        startKey: position.startKey,
        predicate,
        limit: unlimited ? 0 : predicate.limit,
        toObject: (record) => this.#toObject(record, record.modRevision),
      }),
    )
    return result ?? this.#storage.getList(key, options)
  }

  async watch(key: string, options: ListOptions<T>): Promise<WatchStream<T>> {
    const storedKey = this.#keys.prepare(key, options.recursive)
    const asked = this.versioner.parseResourceVersion(options.resourceVersion)
    return this.#watch.open({ key, storedKey, asked, options })
  }

  create(key: string, object: T, options?: { ttlSeconds?: number; signal?: AbortSignal }): Promise<T> {
    return this.#storage.create(key, object, options)
  }

  asStored(object: T): T {
    return this.#storage.asStored(object)
  }

  async delete(key: string, options: DeleteOptions<T> = {}): Promise<T> {
    return this.#storage.delete(key, this.#withSuggestion(key, options))
  }

  async guaranteedUpdate(key: string, tryUpdate: UpdateFunc<T>, options: GuaranteedUpdateOptions<T> = {}): Promise<T> {
    return this.#storage.guaranteedUpdate(key, tryUpdate, this.#withSuggestion(key, options))
  }

  count(key: string): Promise<number> {
    return this.#storage.count(key)
  }

  stats(): Promise<StorageStats> {
    return this.#storage.stats()
  }

  readinessCheck(): void {
    this.#storage.readinessCheck()
    if (this.#cache.arena() === undefined && !this.#cache.fallen()) {
      throw new StorageError('not-ready', 'the watch cache is still filling')
    }
  }

  /** For the watches that the storage serves, and for those that memory does. */
  async requestWatchProgress(): Promise<void> {
    await Promise.all([this.#storage.requestWatchProgress(), this.#cache.fence.pass()])
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

  /** Waits for the state that a list asks for; false when the storage has to give it. */
  async #arrived(position: ListPosition, options: ListOptions<T>): Promise<boolean> {
    if (position.revision > 0) {
      await this.#mustBeFresh(position.revision, options.signal)
      return true
    }
    const newest = options.resourceVersion === '' || position.startKey !== undefined
    if (newest) return this.#cache.fence.pass()
    await this.#mustBeFresh(position.minimumRevision, options.signal)
    return true
  }

  async #mustBeFresh(revision: number, signal: AbortSignal | undefined): Promise<void> {
    if (await this.#fresh(revision, signal)) return
    throw tooLargeResourceVersion(revision, this.#cache.clock.revision(), RETRY_AFTER_SECONDS)
  }

  /** True once the clock has reached the revision; false at the limit. */
  async #fresh(revision: number, signal: AbortSignal | undefined): Promise<boolean> {
    const { clock, fence } = this.#cache
    if (clock.revision() >= revision) return true
    // The fence makes the stream move when the revision lies outside what it watches.
    void fence.pass()
    const limit = new AbortController()
    const end = (): void => limit.abort()
    const timer = this.#clock.after(FRESH_LIMIT_MS, end)
    signal?.addEventListener('abort', end)
    try {
      await clock.reached(revision, limit.signal)
      return true
    } catch {
      // Only the limit and the caller end the wait.
      return clock.revision() >= revision
    } finally {
      timer.cancel()
      signal?.removeEventListener('abort', end)
    }
  }

  /** Undefined when memory cannot give that state, or not any more. */
  #read<R>(revision: number | undefined, read: (snapshot: Snapshot) => R): R | undefined {
    const arena = this.#cache.arena()
    const snapshot = arena && openSnapshot(arena, revision)
    if (arena === undefined || snapshot === undefined) return undefined
    try {
      return arena.ready() ? read(snapshot) : undefined
    } finally {
      snapshot.release()
    }
  }

  /** The newest copy at hand, which saves the store a read when it is current. */
  #withSuggestion<O extends { readonly cachedExistingObject?: T }>(key: string, options: O): O {
    const storedKey = this.#keys.object(key)
    const cachedExistingObject = this.#read(undefined, (snapshot) => {
      const record = snapshot.get(storedKey)
      return record && this.#toObject(record, record.modRevision)
    })
    return cachedExistingObject === undefined ? options : { ...options, cachedExistingObject }
  }

  #toObject(record: RecordView, revision: number): T {
    const object = this.#options.decodeBody(record.body())
    // The body has its own version in it; another is wanted when an object only left a selection.
    if (revision !== record.modRevision) this.versioner.updateObject(object, revision)
    return object
  }
}

function openSnapshot(arena: ArenaReader, revision: number | undefined): Snapshot | undefined {
  try {
    return arena.snapshot(revision)
  } catch (error) {
    if (isStorageError(error, 'too-old') || isStorageError(error, 'not-ready')) return undefined
    throw error
  }
}
