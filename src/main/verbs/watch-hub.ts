/**
 * Thread: main. The watchers of one resource that keep up. One cursor follows the events for all of them; an event's
 * bytes are made once and written to every socket that wants them. Who falls behind leaves the hub, goes on from its own
 * cursor at its own pace, and comes back when it has caught up: it costs the others nothing.
 */

import type { Selectors } from '../../api/selectors.js'
import type { ArenaReader, CacheEvent, ClockView, EventCursor } from '../../cacher/shared-memory.js'
import type { KeyScope } from './key-scope.js'
import { type EventType, frame, visibleBody, visibleType } from './watch-frames.js'

export interface HubWatcher {
  readonly scope: KeyScope
  readonly selectors: Selectors
  /** Everything up to here was written before it joined: the hub may be a little behind. */
  readonly seenRevision: number
  /** False: the client does not keep up; it has left the hub by then. */
  deliver(bytes: Uint8Array, revision: number): boolean
  /** The window has passed everybody: it cannot happen to who keeps up unless the thread stood still. */
  expired(): void
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

export class WatchHub {
  readonly arena: ArenaReader
  readonly #clock: ClockView
  /** By the prefix of keys that they watch: the event's key leads to them without asking the others. */
  readonly #byScope = new Map<string, Set<HubWatcher>>()
  #cursor: EventCursor | undefined
  #stopListening: (() => void) | undefined
  #size = 0

  constructor(arena: ArenaReader, clock: ClockView) {
    this.arena = arena
    this.#clock = clock
  }

  get size(): number {
    return this.#size
  }

  /** Everything up to here has been delivered to those in the hub. */
  get revision(): number {
    return this.#cursor?.revision ?? this.#clock.revision()
  }

  /** False: the hub is ahead of what the watcher has seen; it must catch up first. */
  join(watcher: HubWatcher): boolean {
    if (this.#cursor === undefined) {
      // Who comes first must not take the hub into the past.
      if (watcher.seenRevision < this.#clock.revision()) return false
      this.#cursor = this.arena.cursor(watcher.seenRevision)
      this.#stopListening = this.#clock.onAdvance(() => this.#advance())
    } else if (this.#cursor.revision > watcher.seenRevision) return false
    const group = this.#byScope.get(watcher.scope.start)
    if (group === undefined) this.#byScope.set(watcher.scope.start, new Set([watcher]))
    else group.add(watcher)
    this.#size++
    return true
  }

  leave(watcher: HubWatcher): void {
    const group = this.#byScope.get(watcher.scope.start)
    if (group?.delete(watcher) !== true) return
    this.#size--
    if (group.size === 0) this.#byScope.delete(watcher.scope.start)
    if (this.#size > 0) return
    this.#stopListening?.()
    this.#stopListening = undefined
    this.#cursor = undefined
  }

  #advance(): void {
    const cursor = this.#cursor
    if (cursor === undefined) return
    const outcome = cursor.advance((event) => {
      this.#dispatch(event)
      return this.#size > 0
    })
    if (outcome !== 'expired') return
    for (const group of [...this.#byScope.values()]) for (const watcher of [...group]) watcher.expired()
  }

  #dispatch(event: CacheEvent): void {
    const frames = new EventFrames(event)
    const { key } = event.record
    // /registry/pods/ns/name: watchers of all, of the namespace, of the object.
    this.#deliver(this.#byScope.get(key), frames)
    for (let at = key.lastIndexOf('/'); at > 0; at = key.lastIndexOf('/', at - 1)) {
      const group = this.#byScope.get(key.slice(0, at + 1))
      if (group !== undefined) this.#deliver(group, frames)
    }
  }

  #deliver(group: ReadonlySet<HubWatcher> | undefined, frames: EventFrames): void {
    if (group === undefined) return
    const { event } = frames
    for (const watcher of group) {
      if (event.revision <= watcher.seenRevision) continue
      const type = visibleType(event, watcher.selectors)
      if (type !== undefined) watcher.deliver(frames.of(type), event.revision)
    }
  }
}
