/**
 * Thread: main. The watchers of one resource that keep up. One cursor follows the events for all of them; an event's
 * bytes are made once and written to every socket that wants them. Who falls behind leaves the hub, goes on from its own
 * cursor at its own pace, and comes back when it has caught up: it costs the others nothing.
 */
import type { ArenaReader, CacheEvent, ClockView, EventCursor } from '../../cacher/shared-memory.js'
import type { WatchSeries } from '../read-metrics.js'
import { HubMembers, type HubWatcher } from './hub-members.js'
import { type EventType, frame, visibleBody, visibleType } from './watch-frames.js'

export interface Hub {
  readonly arena: ArenaReader
  /** Everything up to here has been delivered to those in the hub. */
  readonly revision: number
  /** False: the hub is ahead of what the watcher has seen; it must catch up first. */
  join(watcher: HubWatcher): boolean
  leave(watcher: HubWatcher): void
}

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
      bytes = frame(type, visibleBody(this.event, type))
      this.#frames.set(type, bytes)
    }
    return bytes
  }
}

/** What both kinds of hub do: they follow the clock while anybody is there. */
export abstract class FollowingHub implements Hub {
  protected readonly members = new HubMembers()
  protected cursor: EventCursor | undefined
  readonly arena: ArenaReader
  readonly #clock: ClockView
  #stopListening: (() => void) | undefined

  constructor(arena: ArenaReader, clock: ClockView) {
    this.arena = arena
    this.#clock = clock
  }

  get size(): number {
    return this.members.size
  }

  get revision(): number {
    return this.cursor?.revision ?? this.#clock.revision()
  }

  join(watcher: HubWatcher): boolean {
    if (this.cursor === undefined) {
      // Who comes first must not take the hub into the past.
      if (watcher.seenRevision < this.#clock.revision()) return false
      this.cursor = this.arena.cursor(watcher.seenRevision)
      this.#stopListening = this.#clock.onAdvance(() => this.advance())
    } else if (this.cursor.revision > watcher.seenRevision) return false
    this.members.add(watcher)
    return true
  }

  leave(watcher: HubWatcher): void {
    if (!this.members.delete(watcher) || this.members.size > 0) return
    this.#stopListening?.()
    this.#stopListening = undefined
    this.cursor = undefined
  }

  protected abstract advance(): void

  protected expire(): void {
    for (const watcher of this.members.all()) watcher.expired()
  }
}

export class WatchHub extends FollowingHub {
  readonly #series: WatchSeries

  constructor(arena: ArenaReader, clock: ClockView, series: WatchSeries) {
    super(arena, clock)
    this.#series = series
  }

  protected override advance(): void {
    const outcome = this.cursor?.advance((event) => {
      this.#dispatch(event)
      return this.members.size > 0
    })
    if (outcome === 'expired') this.expire()
  }

  #dispatch(event: CacheEvent): void {
    const frames = new EventFrames(event)
    // Counted once for all who get the same bytes.
    let bytes: Buffer | undefined
    let times = 0
    this.members.visit(event, (watcher) => {
      if (event.revision <= watcher.seenRevision) return
      const type = visibleType(event, watcher.selectors)
      if (type === undefined) return
      const frame = frames.of(type)
      if (frame !== bytes) {
        if (bytes !== undefined) this.#series.sent(bytes.byteLength, times)
        bytes = frame
        times = 0
      }
      times++
      watcher.deliver(frame, event.revision)
    })
    if (bytes !== undefined) this.#series.sent(bytes.byteLength, times)
  }
}
