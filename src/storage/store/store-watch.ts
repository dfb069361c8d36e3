/**
 * Thread: any. A watch on the key-value store as a watch on objects. Which events come first:
 *
 * | sendInitialEvents | resourceVersion | begins with                                                 |
 * | ----------------- | --------------- | ----------------------------------------------------------- |
 * | unset             | '' or 0         | ADDED for what exists                                       |
 * | unset             | V               | events after V                                              |
 * | true              | '', 0 or V      | ADDED for what exists (not older than V), then the bookmark that says so |
 * | false             | '' or 0         | events after now                                            |
 * | false             | V               | events after V                                              |
 *
 * Failures after the arguments were accepted are ERROR events, as they are for Kubernetes' clients.
 */
import { StorageError } from '../contract/errors.js'
import type { ListOptions, WatchEvent } from '../contract/interface.js'
import type { KeyValue, KvEvent, KvWatch } from '../contract/kv.js'
import { tooLargeResourceVersion } from '../contract/list-revision.js'
import { matchesPredicate, selectsEverything } from '../contract/selection.js'
import { WatchQueue } from '../contract/watch-queue.js'
import { callOptions, type StoreCore } from './store-core.js'

/** So long a client that is ahead of the store should wait before it asks again. */
const RETRY_AFTER_SECONDS = 1

export async function openWatch<T>(
  core: StoreCore<T>,
  key: string,
  options: ListOptions<T>,
  onEnd: (queue: WatchQueue<T>) => void,
): Promise<WatchQueue<T>> {
  const asked = core.objects.versioner.parseResourceVersion(options.resourceVersion)
  const initialEvents = options.sendInitialEvents ?? asked === 0
  const fromNow = asked === 0 && !initialEvents && !options.signal?.aborted
  const startRevision = fromNow ? await core.kv.currentRevision(callOptions(options.signal)) : asked
  const watch = new StoreWatch(core, key, options, onEnd)
  // run() never rejects: a failure becomes an ERROR event.
  void watch.run(startRevision, initialEvents)
  return watch.queue
}

class StoreWatch<T> {
  readonly queue: WatchQueue<T>
  readonly #core: StoreCore<T>
  readonly #key: string
  readonly #options: ListOptions<T>
  readonly #acceptsAll: boolean
  #kvWatch: KvWatch | undefined

  constructor(core: StoreCore<T>, key: string, options: ListOptions<T>, onEnd: (queue: WatchQueue<T>) => void) {
    this.#core = core
    this.#key = key
    this.#options = options
    this.#acceptsAll = selectsEverything(options.predicate)
    const { signal } = options
    const abort = () => this.queue.abort()
    this.queue = new WatchQueue<T>(() => {
      signal?.removeEventListener('abort', abort)
      this.#kvWatch?.close()
      onEnd(this.queue)
    })
    if (signal?.aborted) this.queue.abort()
    else signal?.addEventListener('abort', abort)
  }

  async run(startRevision: number, initialEvents: boolean): Promise<void> {
    try {
      const after = initialEvents ? await this.#sendInitialEvents(startRevision) : startRevision
      await this.#follow(after)
    } catch (error) {
      this.queue.push({ type: 'ERROR', error: error instanceof Error ? error : new Error(String(error)) })
    } finally {
      this.queue.finish()
    }
  }

  /** Sends the initial state; gives its revision. */
  async #sendInitialEvents(minimumRevision: number): Promise<number> {
    const { kvs, revision } = await this.#readAll()
    if (minimumRevision > revision) {
      throw tooLargeResourceVersion(minimumRevision, revision, RETRY_AFTER_SECONDS)
    }
    for (const kv of kvs) {
      const object = await this.#core.objects.read(kv)
      if (this.#matches(object)) await this.#send({ type: 'ADDED', object, resourceVersion: kv.modRevision })
      if (this.queue.finished) break
    }
    if (this.#options.sendInitialEvents && this.#options.predicate.allowWatchBookmarks) {
      await this.#send({ type: 'BOOKMARK', resourceVersion: revision, initialEventsEnd: true })
    }
    return revision
  }

  async #readAll(): Promise<{ kvs: readonly KeyValue[]; revision: number }> {
    const call = callOptions(this.#options.signal)
    if (this.#options.recursive) return this.#core.kv.list(this.#key, call)
    const { kv, revision } = await this.#core.kv.get(this.#key, call)
    return { kvs: kv === undefined ? [] : [kv], revision }
  }

  async #follow(after: number): Promise<void> {
    if (this.queue.finished) return
    const { recursive, progressNotify = false } = this.#options
    const kvWatch = this.#core.kv.watch({ key: this.#key, prefix: recursive, startRevision: after + 1, progressNotify })
    this.#kvWatch = kvWatch
    await kvWatch.established
    for (;;) {
      const batch = await kvWatch.next()
      if (batch === undefined || this.queue.finished) return
      for (const event of batch.events) {
        const sent = await this.#toWatchEvent(event)
        if (sent !== undefined) await this.#send(sent)
        if (this.queue.finished) return
      }
      if (batch.events.length === 0 && progressNotify) {
        await this.#send({ type: 'BOOKMARK', resourceVersion: batch.revision, initialEventsEnd: false })
      }
    }
  }

  async #send(event: WatchEvent<T>): Promise<void> {
    const room = this.queue.room()
    if (room !== undefined) await room
    this.queue.push(event)
  }

  /** The event as it looks to a watcher, who sees only the objects that its selectors select. */
  async #toWatchEvent(event: KvEvent): Promise<WatchEvent<T> | undefined> {
    const revision = event.kv.modRevision
    if (event.type === 'delete') {
      const last = await this.#previous(event)
      return this.#matches(last) ? { type: 'DELETED', object: last, resourceVersion: revision } : undefined
    }
    const created = event.kv.createRevision === revision
    const object = await this.#core.objects.read(event.kv)
    if (this.#acceptsAll) return { type: created ? 'ADDED' : 'MODIFIED', object, resourceVersion: revision }
    const previous = created ? undefined : await this.#previous(event)
    const wasSeen = previous !== undefined && this.#matches(previous)
    if (this.#matches(object)) return { type: wasSeen ? 'MODIFIED' : 'ADDED', object, resourceVersion: revision }
    return wasSeen ? { type: 'DELETED', object: previous, resourceVersion: revision } : undefined
  }

  /** The state before the event, with the event's version: what a DELETED event carries. */
  async #previous({ kv, prev }: KvEvent): Promise<T> {
    if (prev !== undefined) return this.#core.objects.read(prev, kv.modRevision)
    throw new StorageError('too-old', `what ${kv.key} was before revision ${kv.modRevision} has been compacted`, {
      key: kv.key,
      resourceVersion: kv.modRevision,
    })
  }

  #matches(object: T): boolean {
    return this.#acceptsAll || matchesPredicate(this.#options.predicate, object)
  }
}
