/** Thread: any. How a watch begins: in memory, in the storage, or in the storage until memory can go on. */
import type { Clock } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'
import { isStorageError } from '../../storage/contract/errors.js'
import type { ListOptions, Storage, WatchStream } from '../../storage/contract/interface.js'
import { tooLargeResourceVersion } from '../../storage/contract/list-revision.js'
import { WatchQueue } from '../../storage/contract/watch-queue.js'
import type { RecordView } from '../memory/shared-memory.js'
import { CacheWatcher } from './cache-watcher.js'
import { CatchUpWatcher } from './catch-up-watcher.js'
import { EventFeed } from './event-feed.js'
import { keyRange } from './key-range.js'
import type { ResourceCache } from './resource-cache.js'

export interface CacheWatchOptions<T> {
  readonly storage: Storage<T>
  readonly cache: ResourceCache
  readonly toObject: (record: RecordView, revision: number) => T
  /** True once the clock has reached the revision; false at the limit. */
  readonly fresh: (revision: number, signal: AbortSignal | undefined) => Promise<boolean>
  readonly clock: Clock
  readonly random: Random
}

export interface WatchRequest<T> {
  readonly key: string
  readonly storedKey: string
  /** The parsed resourceVersion. */
  readonly asked: number
  readonly options: ListOptions<T>
}

const RETRY_AFTER_SECONDS = 1

export class CacheWatch<T> {
  readonly #options: CacheWatchOptions<T>
  readonly #watchers = new Set<CacheWatcher<T>>()
  #closed = false

  constructor(options: CacheWatchOptions<T>) {
    this.#options = options
  }

  async open(request: WatchRequest<T>): Promise<WatchStream<T>> {
    const { cache, fresh } = this.#options
    const { asked, options } = request
    const initialEvents = options.sendInitialEvents ?? asked === 0
    if (cache.arena() === undefined) return this.#fromStorage(request, initialEvents)
    if (options.resourceVersion === '') {
      const passed = cache.fence.pass()
      if (passed !== true && !(await passed)) return this.#fromStorage(request, initialEvents)
    } else if (initialEvents && !(await fresh(asked, options.signal))) {
      return failed(tooLargeResourceVersion(asked, cache.clock.revision(), RETRY_AFTER_SECONDS))
    }
    const revision = asked === 0 || initialEvents ? cache.clock.revision() : asked
    return this.#fromMemory(request, revision, initialEvents) ?? this.#fromStorage(request, initialEvents)
  }

  /** Ends its watches. */
  close(): void {
    this.#closed = true
    for (const watcher of [...this.#watchers]) watcher.stop()
  }

  /** Undefined when memory does not reach back that far, or is not there. */
  #fromMemory(request: WatchRequest<T>, revision: number, initialEvents: boolean): WatchStream<T> | undefined {
    const { cache, toObject, clock, random } = this.#options
    const {
      predicate,
      recursive,
      signal,
      deadline,
      sendInitialEvents = false,
      progressNotify = false,
    } = request.options
    const arena = cache.arena()
    if (arena === undefined) return undefined
    try {
      const feed = new EventFeed({
        arena,
        range: keyRange(request.storedKey, recursive),
        recursive,
        label: predicate.label,
        field: predicate.field,
        revision,
        initialEvents,
      })
      const watcher = new CacheWatcher<T>({
        feed,
        revisionClock: cache.clock,
        toObject,
        allowWatchBookmarks: predicate.allowWatchBookmarks,
        progressNotify,
        initialEventsEnd: sendInitialEvents && predicate.allowWatchBookmarks,
        deadline,
        clock,
        random,
        signal,
        succeed: (after) => this.#fromStorage(continued(request, after), false),
        onEnd: (ended) => this.#watchers.delete(ended),
      })
      if (!watcher.ended) this.#watchers.add(watcher)
      if (this.#closed) watcher.stop()
      return watcher
    } catch (error) {
      if (isStorageError(error, 'too-old') || isStorageError(error, 'not-ready')) return undefined
      throw error
    }
  }

  async #fromStorage(request: WatchRequest<T>, initialEvents: boolean): Promise<WatchStream<T>> {
    const { key, options } = request
    const { predicate, sendInitialEvents = false } = options
    const storage = await this.#options.storage.watch(key, {
      ...options,
      // The end of the initial events and progress tell when memory can go on, whether the client wants them or not.
      ...(initialEvents ? { sendInitialEvents: true, predicate: { ...predicate, allowWatchBookmarks: true } } : {}),
      progressNotify: true,
    })
    return new CatchUpWatcher({
      storage,
      handOver: (revision) => this.#handOver(request, revision),
      initialEvents,
      passInitialEventsEnd: sendInitialEvents && predicate.allowWatchBookmarks,
      passProgress: predicate.allowWatchBookmarks || options.progressNotify === true,
    })
  }

  #handOver(request: WatchRequest<T>, revision: number): WatchStream<T> | undefined {
    return this.#options.cache.clock.revision() < revision ? undefined : this.#fromMemory(request, revision, false)
  }
}

/** The same watch, after a revision. */
function continued<T>(request: WatchRequest<T>, revision: number): WatchRequest<T> {
  const { sendInitialEvents: _, ...options } = request.options
  return { ...request, asked: revision, options: { ...options, resourceVersion: String(revision) } }
}

/** Once its arguments are accepted a watch fails with an event, as Kubernetes' clients expect. */
function failed<T>(error: Error): WatchStream<T> {
  const queue = new WatchQueue<T>(() => undefined)
  queue.push({ type: 'ERROR', error })
  queue.finish()
  return queue
}
