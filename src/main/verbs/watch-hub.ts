/**
 * Thread: main. The watchers of one resource that keep up. One cursor follows the events for all of them; an event's
 * bytes are made once and go to every socket that wants them, together with those that came with it. Who falls behind
 * leaves the hub, goes on from its own cursor at its own pace, and comes back when it has caught up: it costs the others
 * nothing.
 */
import type { ArenaReader, CacheEvent, ClockView, EventCursor } from '../../cacher/memory/shared-memory.js'
import { HubBatch } from './hub-batch.js'
import { HubMembers, type HubWatcher } from './hub-members.js'
import type { WatchSeries } from './read-metrics.js'
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
    for (;;) {
      const batch = new HubBatch()
      const outcome = this.cursor?.advance((event) => {
        this.#gather(event, batch)
        return !batch.full
      })
      batch.deliver(this.#series)
      if (outcome === 'expired') this.expire()
      if (outcome !== 'more') return
    }
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
