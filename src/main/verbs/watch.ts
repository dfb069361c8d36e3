/**
 * Thread: main. One watch, from its first event to its end.
 *
 *   initial ──state sent──▶ catching up ──at the hub's revision──▶ live (in the hub)
 *                               ▲                                     │ the socket is full
 *                               └────────drained────── parked ◀───────┘
 *
 * Any state ends with the client, the timeout, an ERROR event or the server's shutdown. A parked watch holds a revision
 * and nothing else; when the window passes it, it gets 410 Expired.
 */
import { type ListOptions, parseListOptions } from '../../api/list-options.js'
import { parseSelectors, type Selectors } from '../../api/selectors.js'
import { newExpired, newUnknown, type StatusError } from '../../api/status.js'
import type { ArenaReader, EventCursor, Snapshot } from '../../cacher/memory/shared-memory.js'
import type { Timer } from '../../lib/clock.js'
import { jitter } from '../../lib/jitter.js'
import { isStorageError } from '../../storage/contract/errors.js'
import type { ResponseStream } from '../http/response-stream.js'
import { revisionProblem } from './asked-revision.js'
import { type ConversionForm, type ConversionItem, shaped } from './converter.js'
import { tooLarge, waitUntilFresh } from './fresh.js'
import type { HubFrames } from './hub-frames.js'
import { type HubWatcher, type Trigger, triggerOf } from './hub-members.js'
import { type KeyScope, scopeOf } from './key-scope.js'
import type { ReadContext, ReadRequest } from './read-context.js'
import type { WatchSeries } from './read-metrics.js'
import { StallTimer } from './stall-timer.js'
import { eventItem, type FrameType, recordItem, visibleType, type WatchFraming } from './watch-frames.js'
import type { Hub } from './watch-hub.js'

const BOOKMARK_INTERVAL_MS = 60_000
/** So much before its end a watch gets a last bookmark: the client starts again from there. */
const LAST_BOOKMARK_MS = 2000
/** Events a watcher that catches up takes in one turn, so that it does not hold up the others. */
const CATCH_UP_EVENTS = 256
/** And bytes, so that one that reads slowly has little waiting for it. */
const CATCH_UP_BYTES = 512 * 1024

export interface WatchOptions {
  readonly request: ReadRequest
  readonly arena: ArenaReader
  readonly hub: Hub
  readonly context: ReadContext
  /** Events in another form; undefined: as they are in memory. */
  readonly form: ConversionForm | undefined
  /** Its first event shows the columns, so that one is made for it alone. */
  readonly isTable: boolean
  readonly framing: WatchFraming
  readonly onEnd: () => void
}

/** Throws what the client is told before the stream starts. */
export async function startWatch(options: WatchOptions): Promise<Watch | undefined> {
  const { request, context } = options
  const startedMs = context.clock.monotonicMs()
  const listOptions = parseListOptions(request.query, true)
  const selectors = parseSelectors(listOptions, request.resource.selectableFields)
  const { resourceVersion } = listOptions
  const problem = resourceVersion === '' ? undefined : revisionProblem(resourceVersion)
  if (problem !== undefined) throw newUnknown(problem)
  const scope = watchScope(request, selectors)
  const revision = Number(resourceVersion)
  const withState = listOptions.sendInitialEvents ?? revision === 0
  // A watch from 0 takes what is at hand; one from nothing starts from what is true now.
  if (resourceVersion === '') await context.cache.fence()
  else if (withState && revision > 0) await waitUntilFresh(context, revision, context.metrics.lists(request.resource))
  const { contentType, filler } = options.framing
  const stream = request.exchange.startStream({ status: 200, contentType }, filler)
  if (stream === undefined) return undefined
  const watch = new Watch({ ...options, listOptions, selectors, scope, stream, startedMs })
  // Without the state, 0 is any revision: that of now has the least to say.
  watch.start(withState ? undefined : revision === 0 ? context.cache.clock.revision() : revision)
  return watch
}

function watchScope({ resource, info }: ReadRequest, selectors: Selectors): KeyScope {
  if (info.name !== '' && info.verb === 'watch' && (info.namespace !== '' || !resource.info.namespaced)) {
    const key = resource.key(info.namespace, info.name)
    return { start: key, end: `${key}\0` }
  }
  return scopeOf(resource, info.namespace, selectors.field)
}

interface RunningWatchOptions extends WatchOptions {
  readonly listOptions: ListOptions
  readonly selectors: Selectors
  readonly scope: KeyScope
  readonly stream: ResponseStream
  /** Of the monotonic clock: when it was asked for. */
  readonly startedMs: number
}

interface WatchEvent {
  readonly type: FrameType
  readonly item: ConversionItem
}

type WatchState = 'initial' | 'catching-up' | 'live' | 'parked' | 'ended'

export class Watch implements HubWatcher {
  readonly scope: KeyScope
  readonly selectors: Selectors
  readonly trigger: Trigger | undefined
  readonly #options: RunningWatchOptions
  readonly #series: WatchSeries
  #state: WatchState = 'initial'
  /** Everything up to here has been written. */
  #revision = 0
  /** All there were are written, and it cannot be in the hub yet. */
  #waiting = false
  /** Something has been written. */
  #begun = false
  /** Events written while in the hub. */
  #deliveries = 0
  /** It has been in the hub. */
  #wasLive = false
  #drained: (() => void) | undefined
  readonly #stall: StallTimer
  #advanced: (() => void) | undefined
  #timers: Timer[] = []

  constructor(options: RunningWatchOptions) {
    this.#options = options
    this.#series = options.context.metrics.watches(options.request.resource)
    this.scope = options.scope
    this.selectors = options.selectors
    this.#stall = new StallTimer(options.context.clock, options.stream)
    this.trigger = triggerOf(options.selectors, options.request.resource.indexedFields)
  }

  get seenRevision(): number {
    return this.#revision
  }

  /** From `revision`, or from the state of now when undefined. */
  start(revision: number | undefined): void {
    const { request, context, listOptions, stream } = this.#options
    this.#series.watchers.add(1)
    request.exchange.onAbort(() => this.#ended())
    stream.onDrain(() => this.#onDrain())
    const timeoutMs = (listOptions.timeoutSeconds ?? jitter(context.minRequestTimeoutSeconds, 1, context.random)) * 1000
    this.#timers.push(context.clock.after(timeoutMs, () => this.end()))
    if (listOptions.allowWatchBookmarks) this.#scheduleBookmarks(timeoutMs)
    void this.#run(revision).catch((error: unknown) => this.#fail(error))
  }

  end(): void {
    if (this.#state === 'ended') return
    this.#options.stream.end()
    this.#ended()
  }

  async #run(revision: number | undefined): Promise<void> {
    if (revision === undefined) await this.#sendState()
    else this.#revision = revision
    await this.#catchUp()
  }

  /** What exists, as ADDED events, from one snapshot however long the client takes. */
  async #sendState(): Promise<void> {
    const { arena, listOptions } = this.#options
    const snapshot = arena.snapshot()
    try {
      let from: string | undefined = this.scope.start
      while (from !== undefined && !this.#over()) {
        const chunk = this.#stateChunk(snapshot, from)
        this.#series.initialEvents.add(chunk.items.length)
        await this.#writeAll(chunk.items.map((item) => ({ type: 'ADDED' as const, item })))
        from = chunk.next
      }
      this.#revision = snapshot.revision
    } finally {
      snapshot.release()
    }
    if (listOptions.sendInitialEvents === true && listOptions.allowWatchBookmarks && !this.#over()) {
      await this.#writeAll([{ type: 'BOOKMARK', item: this.#bookmarkItem(this.#revision, true) }])
      this.#series.listed(this.#metricScope(), this.#options.context.clock.monotonicMs() - this.#options.startedMs)
    }
  }

  #metricScope(): string {
    const { name, namespace } = this.#options.request.info
    if (name !== '') return 'resource'
    return namespace === '' ? 'cluster' : 'namespace'
  }

  #stateChunk(snapshot: Snapshot, from: string): { items: ConversionItem[]; next: string | undefined } {
    const { label, field } = this.selectors
    // Names are for what is converted.
    const stored = this.#options.form === undefined
    const items: ConversionItem[] = []
    let bytes = 0
    let next: string | undefined
    const { arena, context } = this.#options
    context.indexes.scan(arena, snapshot, this.trigger, { start: from, end: this.scope.end }, (record) => {
      if (items.length === CATCH_UP_EVENTS || bytes >= CATCH_UP_BYTES) {
        next = record.key
        return false
      }
      if (!label.matches(record.labels) || !field.matches(record.fields)) return undefined
      const item = stored ? { id: '', body: record.body() } : recordItem(record)
      bytes += item.body.byteLength
      items.push(item)
      return undefined
    })
    return { items, next }
  }

  /** Own cursor, own pace, until the hub can take over. */
  async #catchUp(): Promise<void> {
    const { arena, hub, context } = this.#options
    this.#state = 'catching-up'
    let cursor: EventCursor | undefined
    while (!this.#over()) {
      if (this.#joinable() && hub.join(this)) {
        this.#state = 'live'
        this.#wasLive = true
        this.#options.stream.idle()
        return
      }
      cursor ??= arena.cursor(this.#revision)
      const events: WatchEvent[] = []
      let bytes = 0
      const outcome = cursor.advance((event) => {
        const inScope = event.record.key >= this.scope.start && event.record.key < this.scope.end
        const type = inScope ? visibleType(event, this.selectors) : undefined
        // Copied: the record may be gone by the time the client has taken what is before it.
        if (type !== undefined) {
          const item = eventItem(event, type)
          bytes += item.body.byteLength
          events.push({ type, item })
        }
        return events.length < CATCH_UP_EVENTS && bytes < CATCH_UP_BYTES
      })
      if (outcome === 'expired') {
        // It kept up once: its client did not read on.
        if (this.#wasLive) this.#series.terminated.add(1)
        throw newExpired(`too old resource version: ${this.#revision} (${arena.oldestRevision()})`)
      }
      await this.#writeAll(events)
      this.#revision = cursor.revision
      if (this.#joinable() || outcome !== 'current' || this.#over()) continue
      this.#waiting = true
      await this.#nextAdvance(context)
      this.#waiting = false
    }
  }

  #joinable(): boolean {
    return this.#begun || !this.#options.isTable
  }

  /** Waits for new events or the end; only who cannot be in the hub does. */
  #nextAdvance({ cache }: ReadContext): Promise<void> {
    this.#options.stream.idle()
    return new Promise((resolve) => {
      const stop = cache.clock.onAdvance(() => this.#advanced?.())
      this.#advanced = () => {
        this.#advanced = undefined
        stop()
        resolve()
      }
    })
  }

  async #writeAll(events: readonly WatchEvent[]): Promise<void> {
    if (events.length === 0) return
    const { stream, framing } = this.#options
    const shown = await this.#shown(events.map(({ item }) => item))
    this.#begun = true
    let writable = true
    stream.cork(() => {
      for (const [i, event] of events.entries()) {
        const bytes = framing.frame(event.type, shown[i]!)
        writable = stream.write(bytes)
        this.#series.sent(bytes.byteLength, 1)
      }
    })
    if (!writable) await this.#drain()
  }

  /** Objects as this watch shows them. */
  #shown(items: readonly ConversionItem[]): Uint8Array[] | Promise<Uint8Array[]> {
    const { form, isTable, context } = this.#options
    const { converter } = context
    if (form === undefined) return items.map(({ body }) => body)
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
    this.#state = 'catching-up'
    void this.#catchUp().catch((error: unknown) => this.#fail(error))
  }

  deliver(frames: HubFrames): void {
    if (this.#state !== 'live') return
    const { stream, hub } = this.#options
    this.#deliveries++
    let writable = true
    stream.cork(() => {
      if (stream.separate) for (const bytes of frames.frames) writable = stream.write(bytes)
      else writable = stream.write(frames.joined())
    })
    if (writable) return
    this.#revision = frames.revision
    hub.leave(this)
    if (this.#state === 'live') {
      this.#state = 'parked'
      this.#series.parked.add(1)
      this.#stall.start()
    }
  }

  failed(error: unknown): void {
    this.#fail(error)
  }

  expired(): void {
    this.#series.terminated.add(1)
    this.#fail(newExpired(`too old resource version: ${this.#revision} (${this.#options.arena.oldestRevision()})`))
  }

  #scheduleBookmarks(timeoutMs: number): void {
    const { context } = this.#options
    const repeat = (): void => {
      this.#bookmark()
      this.#timers.push(context.clock.after(jitter(BOOKMARK_INTERVAL_MS, 0.1, context.random), repeat))
    }
    this.#timers.push(context.clock.after(jitter(BOOKMARK_INTERVAL_MS, 0.1, context.random), repeat))
    if (timeoutMs > LAST_BOOKMARK_MS)
      this.#timers.push(context.clock.after(timeoutMs - LAST_BOOKMARK_MS, () => this.#bookmark()))
  }

  #bookmark(): void {
    const { hub } = this.#options
    // Only who is in the hub, or has written all there was, has seen everything up to a known revision.
    if (this.#state !== 'live' && !this.#waiting) return
    const revision = this.#waiting ? this.#revision : Math.max(hub.revision, this.#revision)
    const shown = this.#shown([this.#bookmarkItem(revision, false)])
    if (!(shown instanceof Promise)) this.#writeBookmark(shown[0]!)
    else this.#laterBookmark(shown).catch((error: unknown) => this.#fail(error))
  }

  /** Unless an event came while it was made: then it would lie about the order. */
  async #laterBookmark(shown: Promise<Uint8Array[]>): Promise<void> {
    const [deliveries, state, revision] = [this.#deliveries, this.#state, this.#revision]
    const [bytes] = await shown
    if (deliveries === this.#deliveries && state === this.#state && revision === this.#revision)
      this.#writeBookmark(bytes!)
  }

  #writeBookmark(bytes: Uint8Array): void {
    const { stream, framing } = this.#options
    this.#begun = true
    const bookmark = framing.frame('BOOKMARK', bytes)
    stream.cork(() => stream.write(bookmark))
    this.#series.sent(bookmark.byteLength, 1)
  }

  #bookmarkItem(revision: number, initialEventsEnd: boolean): ConversionItem {
    const body = Buffer.from(this.#options.request.resource.bookmark(revision, initialEventsEnd))
    return { id: `bookmark@${revision}${initialEventsEnd ? '!' : ''}`, body }
  }

  #fail(error: unknown): void {
    if (this.#over()) return
    const { stream, framing } = this.#options
    const { status } = watchError(error, this.#revision)
    const bytes = framing.error(status)
    stream.cork(() => stream.write(bytes))
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
    for (const timer of this.#timers) timer.cancel()
    this.#stall.stop()
    this.#options.hub.leave(this)
    this.#drained?.()
    this.#advanced?.()
    this.#options.onEnd()
  }
}

function watchError(error: unknown, revision: number): StatusError {
  if (isStorageError(error, 'too-old'))
    return newExpired(`too old resource version: ${revision} (${error.fields.compactRevision ?? 0})`)
  if (isStorageError(error, 'too-large')) return tooLarge(revision, error.fields.currentRevision ?? 0)
  if (error instanceof Error && 'status' in error) return error as StatusError
  return newUnknown(error instanceof Error ? error.message : String(error))
}
