/**
 * Thread: main. The watchers of one resource that keep up. One cursor follows the events for all of them. The bytes of
 * an event are made once and written to every socket that wants them, together with those of events that came at the
 * same time. A watcher that falls behind leaves the hub, goes on from its own cursor at its own pace, and comes back
 * when it has caught up; it costs the others nothing.
 */
import type { ArenaReader, CacheEvent, EventCursor } from '../../cacher/memory/shared-memory.js'
import type { ResourceView } from '../../cacher/read/resource-view.js'
import { type EventType, shownRecord, visibleType } from '../../cacher/read/visible-event.js'
import { assert } from '../../lib/assert.js'
import type { Clock } from '../../lib/clock.js'
import { HubBatch } from './hub-batch.js'
import { HubMembers, type HubWatcher } from './hub-members.js'
import type { WatchSeries } from './read-metrics.js'
import { frame, visibleBody } from './watch-frames.js'

export interface Hub {
  readonly arena: ArenaReader
  /** Everything up to this revision has been delivered to the watchers in the hub. */
  readonly revision: number
  /**
   * Takes a watcher in; false when the hub is ahead of what the watcher has seen, if only within a revision, so that it
   * must catch up first.
   */
  join(watcher: HubWatcher): boolean
  /** A cursor after everything that has been delivered, for a member that falls behind. */
  place(): EventCursor
  leave(watcher: HubWatcher): void
}

/**
 * After a round of writes the hub rests for as long as the round took, times this: what comes meanwhile goes out together. So
 * watchers never take more than their part of the thread from those who write, and a round that took less than MIN_ROUND_MS is
 * not followed by a rest: to few watchers, and where events are rare, each goes out at once.
 */
const REST = 1
const MIN_ROUND_MS = 0.5
const MAX_REST_MS = 5

/** So many batches are written before other connections have their turn. */
const BATCHES_A_TURN = 8

/** The frames of one event: most watchers see it as it is, some as an object that came or went. */
class EventFrames {
  readonly event: CacheEvent
  readonly #frames = new Map<EventType, Buffer>()
  constructor(event: CacheEvent) {
    this.event = event
  }
  of(type: EventType): Buffer {
    let bytes = this.#frames.get(type)
    if (bytes === undefined) {
      bytes = frame(type, visibleBody(shownRecord(this.event, type), this.event.revision))
      this.#frames.set(type, bytes)
    }
    return bytes
  }
}

/** The part that both kinds of hub share: a hub follows the clock while it has watchers. */
export abstract class FollowingHub implements Hub {
  protected readonly members = new HubMembers()
  protected cursor: EventCursor | undefined
  readonly arena: ArenaReader
  readonly #view: ResourceView
  #stopListening: (() => void) | undefined

  constructor(arena: ArenaReader, view: ResourceView) {
    this.arena = arena
    this.#view = view
  }

  get size(): number {
    return this.members.size
  }

  get revision(): number {
    return this.cursor?.revision ?? this.#view.clock.revision()
  }

  join(watcher: HubWatcher): boolean {
    if (this.cursor === undefined) {
      const revision = this.#view.clock.revision()
      // A hub without watchers begins at the clock. A watcher that has seen less must not take it into the past: it
      // catches up first. When the watcher wants to begin later than now, the hub still begins now.
      if (watcher.seenRevision < revision) return false
      this.cursor = this.arena.cursor(revision)
      this.#stopListening = this.#view.clock.onAdvance(() => this.goOn())
    } else if (this.cursor.begun > watcher.seenRevision) return false
    this.members.add(watcher)
    return true
  }

  place(): EventCursor {
    assert(this.cursor !== undefined, 'only a member asks for the place of its hub')
    return this.cursor.fork()
  }

  leave(watcher: HubWatcher): void {
    if (!this.members.delete(watcher) || this.members.size > 0) return
    this.#stopListening?.()
    this.#stopListening = undefined
    this.cursor = undefined
  }

  protected abstract advance(): void

  /** Delivers new events. An exception ends the watches of this hub, but neither other watches nor the thread. */
  protected goOn(): void {
    try {
      this.advance()
    } catch (error) {
      for (const watcher of this.members.all()) watcher.failed(error)
    }
  }

  protected expire(): void {
    for (const watcher of this.members.all()) watcher.expired()
  }
}

export class WatchHub extends FollowingHub {
  readonly #series: WatchSeries
  readonly #clock: Clock
  #resting = false

  constructor(arena: ArenaReader, view: ResourceView, series: WatchSeries, clock: Clock) {
    super(arena, view)
    this.#series = series
    this.#clock = clock
  }

  protected override advance(): void {
    if (this.#resting) return
    const started = this.#clock.monotonicMs()
    const isMore = this.#deliver()
    if (isMore) setImmediate(() => this.goOn())
    else this.#rest(this.#clock.monotonicMs() - started)
  }

  #rest(roundMs: number): void {
    if (roundMs < MIN_ROUND_MS) return
    this.#resting = true
    this.#clock.after(Math.min(roundMs * REST, MAX_REST_MS), () => {
      this.#resting = false
      this.goOn()
    })
  }

  /** True when there is more than a turn may take. */
  #deliver(): boolean {
    for (let batches = 0; batches < BATCHES_A_TURN; batches++) {
      const batch = new HubBatch()
      const outcome = this.cursor?.advance((event) => {
        this.#gather(event, batch)
        return !batch.full
      })
      batch.deliver(this.#series)
      if (outcome === 'expired') this.expire()
      if (outcome !== 'more') return false
    }
    return true
  }

  #gather(event: CacheEvent, batch: HubBatch): void {
    const frames = new EventFrames(event)
    batch.begin()
    this.members.visit(event, (audience) => {
      const type = visibleType(event, audience.selectors)
      if (type !== undefined) batch.add(audience, frames.of(type), event.revision)
    })
  }
}
