/** Thread: any. Opens watches: in memory, in the storage, or in the storage until memory can go on. */
import type { Clock } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'
import { isStorageError, StorageError } from '../../storage/contract/errors.js'
import type { ListOptions, Storage, WatchStream } from '../../storage/contract/interface.js'
import { WatchQueue } from '../../storage/contract/watch-queue.js'
import type { RecordView } from '../memory/shared-memory.js'
import { CacheWatcher } from './cache-watcher.js'
import { CatchUpWatcher } from './catch-up-watcher.js'
import { EventFeed } from './follow.js'
import { keyRange } from './key-range.js'
import { arrive, resolveWatch, type WatchPosition } from './resolve.js'
import type { ResourceView } from './resource-view.js'

export interface CacheWatchOptions<T> {
  readonly storage: Storage<T>
  readonly view: ResourceView
  readonly toObject: (record: RecordView, revision: number) => T
  readonly clock: Clock
  readonly random: Random
}

export interface WatchRequest<T> {
  readonly key: string
  readonly storedKey: string
  readonly options: ListOptions<T>
}

export class CacheWatch<T> {
  readonly #options: CacheWatchOptions<T>
  readonly #watchers = new Set<CacheWatcher<T>>()
  #closed = false

  constructor(options: CacheWatchOptions<T>) {
    this.#options = options
  }

  async open(request: WatchRequest<T>): Promise<WatchStream<T>> {
    const { view, clock, storage } = this.#options
    const { options } = request
    const position = resolveWatch(options, (version) => storage.versioner.parseResourceVersion(version))
    const { initialEvents } = position
    if (view.arena() === undefined) return this.#fromStorage(request, initialEvents)
    const arrived = await this.#arrived(position, { clock, signal: options.signal })
    if (arrived instanceof Error) return failed(arrived)
    if (!arrived) return this.#fromStorage(request, initialEvents)
    const revision = position.after ?? view.clock.revision()
    return this.#fromMemory(request, revision, initialEvents) ?? this.#fromStorage(request, initialEvents)
  }

  async #arrived(position: WatchPosition, wait: Parameters<typeof arrive>[2]): Promise<boolean | Error> {
    try {
      return await arrive(this.#options.view, position, wait)
    } catch (error) {
      if (isStorageError(error, 'too-large')) return error
      throw error
    }
  }

  /** Ends the watches that are open. */
  close(): void {
    this.#closed = true
    for (const watcher of [...this.#watchers]) watcher.stop()
  }

  /** Gives undefined when memory does not reach back to the revision, or is not there. */
  #fromMemory(request: WatchRequest<T>, revision: number, initialEvents: boolean): WatchStream<T> | undefined {
    const { view, toObject, clock, random } = this.#options
    const {
      predicate,
      recursive,
      signal,
      deadline,
      sendInitialEvents = false,
      progressNotify = false,
    } = request.options
    const arena = view.arena()
    if (arena === undefined) return undefined
    try {
      const feed = new EventFeed({
        arena,
        range: keyRange(request.storedKey, recursive),
        selectors: predicate,
        revision,
        initialEvents,
      })
      const watcher = new CacheWatcher<T>({
        feed,
        revisionClock: view.clock,
        toObject,
        allowWatchBookmarks: predicate.allowWatchBookmarks,
        progressNotify,
        initialEventsEnd: sendInitialEvents && predicate.allowWatchBookmarks,
        deadline,
        clock,
        random,
        signal,
        succeed: (after) => this.#goOnInStorage(request, after),
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
      // The storage's bookmarks are needed to tell when memory can go on, whether the client wants them or not.
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

  /**
   * Goes on in the storage, because memory no longer serves the resource. When the storage is behind the revision that
   * the client was told, the store went back (restored from a backup), and a watch on it would be silent until it has
   * come so far again.
   */
  async #goOnInStorage(request: WatchRequest<T>, after: number): Promise<WatchStream<T>> {
    const current = await this.#options.storage.currentResourceVersion()
    if (current < after)
      throw new StorageError('too-old', `too old resource version: ${after}: the storage went back to ${current}`, {
        resourceVersion: after,
        currentRevision: current,
      })
    return this.#fromStorage(continued(request, after), false)
  }

  #handOver(request: WatchRequest<T>, revision: number): WatchStream<T> | undefined {
    return this.#options.view.clock.revision() < revision ? undefined : this.#fromMemory(request, revision, false)
  }
}

/** The same watch, beginning after a revision. */
function continued<T>(request: WatchRequest<T>, revision: number): WatchRequest<T> {
  const { sendInitialEvents: _, ...options } = request.options
  return { ...request, options: { ...options, resourceVersion: String(revision) } }
}

/** Once its arguments are accepted, a watch fails with an ERROR event, as Kubernetes' clients expect. */
function failed<T>(error: Error): WatchStream<T> {
  const queue = new WatchQueue<T>(() => undefined)
  queue.push({ type: 'ERROR', error })
  queue.finish()
  return queue
}
