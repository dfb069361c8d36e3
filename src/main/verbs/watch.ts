/**
 * Thread: main. One watch, from its first event to its end.
 *
 *   initial ──state sent──▶ catching up ──at the hub's place──▶ live (in the hub)
 *                               ▲                                  │ the socket is full
 *                               └────────drained────── parked ◀────┘
 *
 * Any state ends with the client, the timeout, an ERROR event or the server's shutdown. What comes and in which order
 * is the read engine's (resolve.ts and follow.ts in cacher/read); this is how it gets to a socket. A parked watch holds
 * a place among the events and nothing else; when the window passes it, it gets 410 Expired.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type ListOptions, parseListOptions } from '../../api/list-options.js'
import type { Selectors } from '../../api/selectors.js'
import { isStatusError, newExpired } from '../../api/status.js'
import type { ArenaReader } from '../../cacher/memory/shared-memory.js'
import { EventFeed, type FeedOutcome } from '../../cacher/read/follow.js'
import { type KeyRange, keyRange } from '../../cacher/read/key-range.js'
import { arrive, resolveWatch, type WatchPosition } from '../../cacher/read/resolve.js'
import type { ResourceView } from '../../cacher/read/resource-view.js'
import { type Trigger, triggerOf } from '../../cacher/read/trigger.js'
import type { Timer } from '../../lib/clock.js'
import { isStorageError, type StorageError } from '../../storage/contract/errors.js'
import type { ResponseStream } from '../http/response-stream.js'
import { watchedRevision } from './asked-revision.js'
import { type ConversionForm, type ConversionItem, shaped } from './converter.js'
import type { HubFrames } from './hub-frames.js'
import type { HubWatcher } from './hub-members.js'
import { scopeOf } from './key-scope.js'
import type { ReadContext, ReadRequest } from './read-context.js'
import type { WatchSeries } from './read-metrics.js'
import { watchStatus } from './read-status.js'
import { StallTimer } from './stall-timer.js'
import { WatchBookmarks } from './watch-bookmarks.js'
import { eventItem, type FrameType, visibleBody, type WatchFraming } from './watch-frames.js'
import type { Hub } from './watch-hub.js'
import { watchTimeoutMs } from './watch-timeout.js'

/** So many events a watcher that catches up takes in one turn, so that it does not hold up the others. */
const CATCH_UP_EVENTS = 256
/** The most bytes that such a watcher takes in one turn, so that little waits for a client that reads slowly. */
const CATCH_UP_BYTES = 512 * 1024

export interface WatchOptions {
  readonly request: ReadRequest
  readonly view: ResourceView
  readonly arena: ArenaReader
  readonly hub: Hub
  readonly context: ReadContext
  /** The form of the events; undefined when they are shown as they are in memory. */
  readonly form: ConversionForm | undefined
  /** True for a watch of Tables, whose first event has the columns and so is made for this watch alone. */
  readonly isTable: boolean
  readonly framing: WatchFraming
  readonly onEnd: (watch: Watch) => void
}

/**
 * Starts a watch; throws the Status for a client whose stream has not started. Gives 'storage' when memory does not
 * reach back far enough or cannot be made as fresh as asked, and undefined when the client has gone.
 */
export async function startWatch(options: WatchOptions): Promise<Watch | 'storage' | undefined> {
  const { request, context, view, framing } = options
  const startedMs = context.clock.monotonicMs()
  const listOptions = parseListOptions(request.query, true)
  const selectors = context.selectors.of(listOptions, request.resource.selectableFields)
  const position = resolveWatch(listOptions, watchedRevision)
  const observer = position.minimumRevision > 0 ? context.metrics.lists(request.resource) : undefined
  const opened = await openFeed(options, position, selectors, observer)
  if (opened === 'storage') return opened
  const stream = request.exchange.startStream({ status: 200, contentType: framing.contentType }, framing.filler)
  if (stream === undefined) return undefined
  if (!(opened instanceof EventFeed)) {
    // Once its arguments are accepted, a watch fails with an ERROR event, as Kubernetes' clients expect.
    stream.write(framing.error(watchStatus(opened, view.clock.revision()).status))
    stream.end()
    return undefined
  }
  const scope = watchScope(request, selectors)
  const watch = new Watch({ ...options, listOptions, selectors, scope, feed: opened, stream, startedMs })
  watch.start()
  return watch
}

async function openFeed(
  { request, view, arena, context }: WatchOptions,
  position: WatchPosition,
  selectors: Selectors,
  observer: Parameters<typeof arrive>[2]['observer'],
): Promise<EventFeed | StorageError | 'storage'> {
  try {
    const arrived = arrive(view, position, { clock: context.clock, observer })
    if (arrived !== true && !(await arrived)) return 'storage'
    const trigger = triggerOf(selectors, request.resource.indexedFields)
    return new EventFeed({
      arena,
      range: watchScope(request, selectors),
      selectors,
      revision: position.after ?? view.clock.revision(),
      initialEvents: position.initialEvents,
      scan: (snapshot, range, visit) => context.indexes.scan(arena, snapshot, trigger, range, visit),
    })
  } catch (error) {
    if (isStorageError(error, 'too-old') || isStorageError(error, 'not-ready')) return 'storage'
    if (isStorageError(error, 'too-large')) return error
    throw error
  }
}

function watchScope({ resource, info }: ReadRequest, selectors: Selectors): KeyRange {
  if (info.name !== '' && info.verb === 'watch' && (info.namespace !== '' || !resource.info.namespaced))
    return keyRange(resource.key(info.namespace, info.name), false)
  return scopeOf(resource, info.namespace, selectors.field)
}

interface RunningWatchOptions extends WatchOptions {
  readonly listOptions: ListOptions
  readonly selectors: Selectors
  readonly scope: KeyRange
  readonly feed: EventFeed
  readonly stream: ResponseStream
  /** When the watch was asked for, by the monotonic clock. */
  readonly startedMs: number
}

/** An event to write. When objects are shown as they are in memory, `item.body` is the finished frame: one copy. */
interface WatchEvent {
  readonly type: FrameType
  readonly item: ConversionItem
}

interface Chunk {
  readonly events: readonly WatchEvent[]
  readonly outcome: FeedOutcome
  /** True when the chunk ended because it was large enough, and not because there were no more events. */
  readonly full: boolean
}

type WatchState = 'initial' | 'catching-up' | 'live' | 'parked' | 'ended'

export class Watch implements HubWatcher {
  readonly scope: KeyRange
  readonly selectors: Selectors
  readonly trigger: Trigger | undefined
  readonly #options: RunningWatchOptions
  readonly #series: WatchSeries
  readonly #stall: StallTimer
  readonly #bookmarks: WatchBookmarks | undefined
  readonly #timeoutMs: number
  #state: WatchState = 'initial'
  /** True when all events that there are have been written and the watch cannot join the hub yet. */
  #waiting = false
  /** Whether anything has been written. */
  #begun = false
  /** How many batches were written while the watch was in the hub. */
  #deliveries = 0
  /** Whether the watch has been in the hub. */
  #wasLive = false
  #drained: (() => void) | undefined
  #advanced: (() => void) | undefined
  #timeout: Timer | undefined

  constructor(options: RunningWatchOptions) {
    this.#options = options
    const { context, request, listOptions } = options
    this.#series = context.metrics.watches(request.resource)
    this.scope = options.scope
    this.selectors = options.selectors
    const { exchange } = request
    this.#stall = new StallTimer(context.clock, options.stream, exchange)
    this.trigger = triggerOf(options.selectors, request.resource.indexedFields)
    this.#timeoutMs = watchTimeoutMs(listOptions, context)
    if (listOptions.allowWatchBookmarks)
      this.#bookmarks = new WatchBookmarks({
        ...context,
        timeoutMs: this.#timeoutMs,
        send: exchange.guard(() => this.#bookmark()),
      })
  }

  get seenRevision(): number {
    return this.#options.feed.seenRevision
  }

  start(): void {
    const { request, context, stream } = this.#options
    this.#series.watchers.add(1)
    request.exchange.onAbort(() => this.#ended())
    stream.onDrain(() => this.#onDrain())
    this.#timeout = context.clock.after(
      this.#timeoutMs,
      request.exchange.guard(() => this.end()),
    )
    this.#bookmarks?.start()
    this.#go()
  }

  end(): void {
    if (this.#state === 'ended') return
    this.#options.stream.end()
    this.#ended()
  }

  #go(): void {
    void this.#catchUp().catch((error: unknown) => this.failed(error))
  }

  /**
   * Reads from the watch's own feed, at its own pace, until the hub can take over. Every way round this loop gives up
   * its turn or writes something.
   */
  async #catchUp(): Promise<void> {
    const { feed } = this.#options
    let idle = 0
    this.#state = feed.live ? 'catching-up' : 'initial'
    while (!this.#over()) {
      if (this.#joinHub()) return
      const wasLive = feed.live
      const { events, outcome, full } = this.#nextChunk()
      if (outcome === 'expired') throw this.#expiry(this.#wasLive)
      // Memory is no longer kept up, so the watch ends; the client's next one is served from where the objects then
      // are.
      if (outcome === 'ended') return this.end()
      await this.#writeAll(events)
      if (!wasLive) await this.#initialWritten(events.length)
      if (outcome === 'current' && !this.#joinable()) await this.#nextAdvance()
      else if (full || (events.length === 0 && idle++ > 0)) await nextTurn()
    }
  }

  #joinHub(): boolean {
    const { feed, hub, stream } = this.#options
    if (!feed.live || !feed.whole || !this.#joinable() || !hub.join(this)) return false
    this.#state = 'live'
    this.#wasLive = true
    stream.idle()
    return true
  }

  #joinable(): boolean {
    return this.#begun || !this.#options.isTable
  }

  /** The next events, copied: a record may be gone by the time the client has taken what is before it. */
  #nextChunk(): Chunk {
    const { feed, form, framing } = this.#options
    const events: WatchEvent[] = []
    let bytes = 0
    let full = false
    const outcome = feed.advance((type, record, revision) => {
      const item =
        form === undefined
          ? { id: '', body: framing.frame(type, visibleBody(record, revision)) }
          : eventItem(record, revision)
      bytes += item.body.byteLength
      events.push({ type, item })
      full = events.length >= CATCH_UP_EVENTS || bytes >= CATCH_UP_BYTES
      return !full
    })
    return { events, outcome, full }
  }

  async #initialWritten(events: number): Promise<void> {
    const { feed, listOptions, context, startedMs } = this.#options
    this.#series.initialEvents.add(events)
    if (!feed.live) return
    this.#state = 'catching-up'
    if (listOptions.sendInitialEvents !== true || !listOptions.allowWatchBookmarks || this.#over()) return
    await this.#writeAll([this.#bookmarkEvent(feed.startRevision, true)])
    this.#series.listed(this.#metricScope(), context.clock.monotonicMs() - startedMs)
  }

  #metricScope(): string {
    const { name, namespace } = this.#options.request.info
    if (name !== '') return 'resource'
    return namespace === '' ? 'cluster' : 'namespace'
  }

  /** Waits for new events or the end; only a watch that cannot be in the hub does. */
  async #nextAdvance(): Promise<void> {
    const { stream, view } = this.#options
    stream.idle()
    this.#waiting = true
    await new Promise<void>((resolve) => {
      const stop = view.clock.onAdvance(() => this.#advanced?.())
      this.#advanced = () => {
        this.#advanced = undefined
        stop()
        resolve()
      }
    })
    this.#waiting = false
  }

  async #writeAll(events: readonly WatchEvent[]): Promise<void> {
    if (events.length === 0) return
    const { stream } = this.#options
    const made = this.#frames(events)
    const frames = made instanceof Promise ? await made : made
    this.#begun = true
    for (const { byteLength } of frames) this.#series.sent(byteLength, 1)
    if (!stream.writeAll(frames)) await this.#drain()
  }

  /** The bytes of events in the form of this watch. */
  #frames(events: readonly WatchEvent[]): Uint8Array[] | Promise<Uint8Array[]> {
    const { form, framing } = this.#options
    const items = events.map(({ item }) => item)
    if (form === undefined) return items.map(({ body }) => body)
    const framed = (shown: readonly Uint8Array[]): Uint8Array[] =>
      shown.map((bytes, i) => framing.frame(events[i]!.type, bytes))
    const shown = this.#shown(items, form)
    return shown instanceof Promise ? shown.then(framed) : framed(shown)
  }

  #shown(items: readonly ConversionItem[], form: ConversionForm): Uint8Array[] | Promise<Uint8Array[]> {
    const { isTable, context } = this.#options
    const { converter } = context
    if (!isTable) return converter.convert(form, items)
    const rows = shaped(form, 'bare')
    if (this.#begun) return converter.convert(rows, items)
    const parts = [converter.convert(form, items.slice(0, 1)), converter.convert(rows, items.slice(1))]
    return Promise.all(parts).then((shown) => shown.flat())
  }

  #drain(): Promise<void> {
    if (this.#over()) return Promise.resolve()
    this.#stall.start()
    return new Promise((resolve) => {
      this.#drained = resolve
    })
  }

  #onDrain(): void {
    this.#stall.stop()
    const drained = this.#drained
    this.#drained = undefined
    drained?.()
    if (this.#state !== 'parked') return
    this.#series.parked.add(-1)
    this.#go()
  }

  /** Writes the frames of a batch. A failure ends this watch only; the hub's other watchers get their events. */
  deliver(frames: HubFrames): void {
    try {
      this.#deliver(frames)
    } catch (error) {
      this.#options.request.exchange.fail(error)
    }
  }

  #deliver(frames: HubFrames): void {
    if (this.#state !== 'live') return
    const { stream, hub, feed } = this.#options
    this.#deliveries++
    if (stream.separate ? stream.writeAll(frames.frames) : stream.write(frames.joined())) return
    // The batch may end within a revision, so the watch goes on at the hub's cursor and not after a revision.
    feed.resumeAt(hub.place())
    hub.leave(this)
    if (this.#state === 'live') {
      this.#state = 'parked'
      this.#series.parked.add(1)
      this.#stall.start()
    }
  }

  failed(error: unknown): void {
    this.#options.request.exchange.attempt(() => this.#fail(error))
  }

  expired(): void {
    this.#options.request.exchange.attempt(() => this.#fail(this.#expiry(true)))
  }

  /** The error for a watch that the window has passed; one that had been in the hub (`keptUp`) counts as terminated. */
  #expiry(keptUp: boolean): Error {
    const { arena } = this.#options
    if (keptUp) this.#series.terminated.add(1)
    return newExpired(`too old resource version: ${this.seenRevision} (${arena.oldestRevision()})`)
  }

  #bookmark(): void {
    const { hub, view } = this.#options
    // Only a watch in the hub, or one that has written all events there were, has seen everything up to a revision.
    if (this.#state !== 'live' && !this.#waiting) return
    const revision = this.#waiting ? this.seenRevision : Math.max(hub.revision, this.seenRevision)
    // A watch that begins after a revision which the clock has not reached has seen nothing that a bookmark can tell.
    if (revision > view.clock.revision()) return
    const frames = this.#frames([this.#bookmarkEvent(revision, false)])
    if (!(frames instanceof Promise)) this.#writeBookmark(frames[0]!)
    else this.#laterBookmark(frames).catch((error: unknown) => this.failed(error))
  }

  /** Writes the bookmark unless an event came while it was made: then it would lie about the order. */
  async #laterBookmark(frames: Promise<Uint8Array[]>): Promise<void> {
    const [deliveries, state, revision] = [this.#deliveries, this.#state, this.seenRevision]
    const [bytes] = await frames
    if (deliveries === this.#deliveries && state === this.#state && revision === this.seenRevision)
      this.#writeBookmark(bytes!)
  }

  #writeBookmark(bytes: Uint8Array): void {
    const { stream } = this.#options
    this.#begun = true
    stream.write(bytes)
    this.#series.sent(bytes.byteLength, 1)
  }

  #bookmarkEvent(revision: number, initialEventsEnd: boolean): WatchEvent {
    const { request, form, framing } = this.#options
    const object = Buffer.from(request.resource.bookmark(revision, initialEventsEnd))
    const body = form === undefined ? framing.frame('BOOKMARK', object) : object
    return { type: 'BOOKMARK', item: { id: `bookmark@${revision}${initialEventsEnd ? '!' : ''}`, body } }
  }

  #fail(error: unknown): void {
    if (this.#over()) return
    const { stream, framing, request } = this.#options
    if (!isStatusError(error) && !isStorageError(error)) request.exchange.report(error)
    const bytes = framing.error(watchStatus(error, this.seenRevision).status)
    stream.write(bytes)
    this.#series.sent(bytes.byteLength, 1)
    this.end()
  }

  #over(): boolean {
    return this.#state === 'ended' || this.#options.request.exchange.aborted
  }

  #ended(): void {
    if (this.#state === 'ended') return
    if (this.#state === 'parked') this.#series.parked.add(-1)
    this.#series.watchers.add(-1)
    this.#state = 'ended'
    this.#timeout?.cancel()
    this.#bookmarks?.stop()
    this.#stall.stop()
    this.#options.hub.leave(this)
    this.#drained?.()
    this.#advanced?.()
    this.#options.onEnd(this)
  }
}
