/**
 * Thread: any. A watch on shared memory as a stream of objects. Nothing happens, and nothing is held, while nobody
 * calls next(): a watcher that does not read costs nobody anything.
 *
 *   open ──stop()──▶ draining (what had happened by then is delivered) ──▶ ended
 *   open ──memory dropped──▶ succeeded (by a watch on the storage) ──▶ ended with it
 *   open or draining ──abort, ERROR──▶ ended
 */
import type { CancelSignal } from '../../lib/cancellation.js'
import type { Clock } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'
import { StorageError } from '../../storage/contract/errors.js'
import type { WatchEvent, WatchStream } from '../../storage/contract/interface.js'
import type { ClockView, RecordView } from '../memory/shared-memory.js'
import { BookmarkSchedule } from './bookmark-schedule.js'
import type { EventFeed, FeedOutcome } from './follow.js'

export interface CacheWatcherOptions<T> {
  readonly feed: EventFeed
  readonly revisionClock: ClockView
  /** Makes the object of a record, with `revision` as its resourceVersion. */
  readonly toObject: (record: RecordView, revision: number) => T
  readonly allowWatchBookmarks: boolean
  /** A bookmark is sent whenever the clock has moved and there is no event to send. */
  readonly progressNotify: boolean
  /** Whether a bookmark says that the initial events are over. */
  readonly initialEventsEnd: boolean
  readonly deadline: number | undefined
  readonly clock: Clock
  readonly random: Random
  readonly signal: CancelSignal | undefined
  /** Opens a watch on the storage after `revision`, when memory can no longer go on. */
  readonly succeed: (revision: number) => Promise<WatchStream<T>>
  /** Called once, when this watcher reads no more from memory. */
  readonly onEnd: (watcher: CacheWatcher<T>) => void
}

type Result<T> = IteratorResult<WatchEvent<T>, undefined>

/** So many events are decoded ahead of the reader, which bounds what a watcher holds. */
const BATCH = 32
const DONE = { done: true, value: undefined } as const

export class CacheWatcher<T> implements WatchStream<T> {
  readonly #options: CacheWatcherOptions<T>
  readonly #bookmarks: BookmarkSchedule | undefined
  readonly #queue: WatchEvent<T>[] = []
  #ended = false
  #successor: WatchStream<T> | undefined
  /** The clock when stop() was called: later events are not delivered. */
  #lastRevision = Number.POSITIVE_INFINITY
  #endBookmarkDue: boolean
  #sentRevision: number
  #wake: (() => void) | undefined
  /** Makes calls of next() wait for each other, so that they are answered in order. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: CacheWatcherOptions<T>) {
    this.#options = options
    this.#endBookmarkDue = options.initialEventsEnd
    this.#sentRevision = options.feed.startRevision
    if (options.allowWatchBookmarks) this.#bookmarks = new BookmarkSchedule(options)
    if (options.signal?.aborted) this.#ended = true
    else options.signal?.addEventListener('abort', this.#abort)
  }

  next(): Promise<Result<T>> {
    const result = this.#turn.then(() => this.#next())
    this.#turn = result.catch(() => undefined)
    return result
  }

  stop(): void {
    if (this.#lastRevision !== Number.POSITIVE_INFINITY) return
    this.#lastRevision = this.#options.revisionClock.revision()
    this.#successor?.stop()
    this.#wake?.()
  }

  [Symbol.asyncIterator](): AsyncIterator<WatchEvent<T>, undefined> {
    return {
      next: () => this.next(),
      return: () => {
        this.#abort()
        return Promise.resolve(DONE)
      },
    }
  }

  readonly #abort = (): void => {
    this.#queue.length = 0
    this.#successor?.stop()
    this.#end()
    this.#wake?.()
  }

  get ended(): boolean {
    return this.#ended
  }

  #end(): void {
    this.#ended = true
    this.#options.signal?.removeEventListener('abort', this.#abort)
    this.#options.onEnd(this)
  }

  async #next(): Promise<Result<T>> {
    for (;;) {
      const event = this.#queue.shift()
      if (event !== undefined) return { done: false, value: event }
      if (this.#ended) return DONE
      if (this.#successor !== undefined) return this.#fromSuccessor(this.#successor)
      const seen = this.#options.revisionClock.revision()
      const outcome = this.#collect()
      if (this.#queue.length > 0 || this.#ended) continue
      if (outcome === 'current') await this.#moved(seen)
      else if (outcome === 'ended') await this.#succeed()
    }
  }

  async #fromSuccessor(successor: WatchStream<T>): Promise<Result<T>> {
    const result = await successor.next()
    if (result.done) this.#end()
    return result
  }

  /**
   * Goes on with a watch on the storage, because memory is no longer kept up. Everything that memory gave has been
   * delivered by now.
   */
  async #succeed(): Promise<void> {
    const { feed, succeed } = this.#options
    const stopped = (): boolean => this.#ended || Number.isFinite(this.#lastRevision)
    // In the middle of the initial state or of a revision there is no place to go on from, so the client has to begin
    // again.
    if (stopped() || !feed.live || !feed.whole) return this.#end()
    try {
      this.#successor = await succeed(feed.seenRevision)
      if (stopped()) this.#successor.stop()
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Takes the next few events into the queue. */
  #collect(): FeedOutcome {
    const { feed } = this.#options
    const wasLive = feed.live
    const outcome = this.#advance()
    switch (outcome) {
      case 'expired':
        this.#fail(expired(feed.revision))
        break
      case 'more':
        if (!wasLive && feed.live) this.#endInitialEvents()
        break
      case 'ended':
        break
      case 'current':
        if (this.#lastRevision <= feed.revision) this.#end()
        else if (this.#queue.length === 0) this.#bookmark()
    }
    return outcome
  }

  #fail(cause: unknown): void {
    this.#queue.push({ type: 'ERROR', error: cause instanceof Error ? cause : new Error(String(cause)) })
    this.#end()
  }

  #advance(): FeedOutcome {
    const { feed, toObject } = this.#options
    const before = this.#queue.length
    try {
      return feed.advance((type, record, revision) => {
        if (feed.live && revision > this.#lastRevision) {
          this.#end()
          return false
        }
        this.#queue.push({ type, object: toObject(record, revision), resourceVersion: revision })
        this.#sentRevision = Math.max(this.#sentRevision, revision)
        return this.#queue.length - before < BATCH
      })
    } catch (cause) {
      // The owner could decode what memory holds: only a thread whose schema is older than the owner's comes here.
      this.#fail(cause)
      return 'more'
    }
  }

  #endInitialEvents(): void {
    if (!this.#endBookmarkDue) return
    this.#endBookmarkDue = false
    this.#queue.push({
      type: 'BOOKMARK',
      resourceVersion: this.#options.feed.startRevision,
      initialEventsEnd: true,
    })
  }

  #bookmark(): void {
    const { revision } = this.#options.feed
    const due = this.#bookmarks?.dueIn() === 0 && revision >= this.#sentRevision
    if (!due && !(this.#options.progressNotify && revision > this.#sentRevision)) return
    this.#bookmarks?.sent()
    this.#sentRevision = revision
    this.#queue.push({ type: 'BOOKMARK', resourceVersion: revision, initialEventsEnd: false })
  }

  /** Resolves when the clock has moved from `seen`, a bookmark is due, or the watcher was stopped. */
  #moved(seen: number): Promise<void> {
    const { revisionClock, clock } = this.#options
    return new Promise((resolve) => {
      const wake = (): void => {
        timer?.cancel()
        unlisten()
        this.#wake = undefined
        resolve()
      }
      this.#wake = wake
      const dueMs = this.#bookmarks?.dueIn() ?? Number.POSITIVE_INFINITY
      const timer = dueMs === Number.POSITIVE_INFINITY ? undefined : clock.after(dueMs, wake)
      const unlisten = revisionClock.onAdvance(wake)
      // The clock may have moved between the look at the feed and the registration of the listener.
      if (revisionClock.revision() !== seen || this.#ended || Number.isFinite(this.#lastRevision)) wake()
    })
  }
}

function expired(revision: number): StorageError {
  return new StorageError('too-old', `too old resource version: ${revision}`, { resourceVersion: revision })
}
