/**
 * Thread: main. The watchers in a hub, found by what an event is: its key leads to those of its scope, and within a
 * scope the value of a field to those that require that value. Five thousand that watch the pods of their own node cost
 * an event two lookups. Those who ask for the same are one audience, and an event is held against their selectors once.
 */
import { createHash } from 'node:crypto'
import type { Selectors } from '../../api/selectors.js'
import type { CacheEvent } from '../../cacher/memory/shared-memory.js'
import { TriggerIndex } from '../../cacher/memory/trigger-index.js'
import type { KeyRange } from '../../cacher/read/key-range.js'
import type { Trigger } from '../../cacher/read/trigger.js'
import type { HubFrames } from './hub-frames.js'

export interface HubWatcher {
  readonly scope: KeyRange
  readonly selectors: Selectors
  readonly trigger: Trigger | undefined
  /** Events up to this revision are not for this watcher: it has seen them already, or asked for later ones only. */
  readonly seenRevision: number
  /** A watcher that cannot take the frames, because its client does not keep up, leaves the hub during the call. */
  deliver(frames: HubFrames): void
  /**
   * The event window has passed the place of the hub. For watchers that keep up this means that the thread stood still.
   */
  expired(): void
  /** The events could not be converted to the form that the watchers of this hub asked for. */
  failed(error: unknown): void
}

/** Watchers with the same scope and selectors: they see the same. */
export class Audience {
  readonly selectors: Selectors
  readonly watchers = new Set<HubWatcher>()
  constructor(selectors: Selectors) {
    this.selectors = selectors
  }
}

/** A name longer than this is replaced by its digest, because selectors may be as long as a request. */
const LONG_NAME = 128

function nameOf({ label, field }: Selectors): string {
  if (label.empty() && field.empty()) return ''
  const name = `${label.toString()}\n${field.toString()}`
  return name.length <= LONG_NAME ? name : createHash('sha256').update(name).digest('base64')
}

/** The watchers of one prefix of keys. */
class ScopeMembers {
  readonly #audiences = new Map<string, Audience>()
  /** Watchers that are shown every event of the scope, because no field leads to them. */
  readonly #all = new Set<Audience>()
  readonly #byField = new Map<string, TriggerIndex<Audience>>()
  readonly #ways = new Map<Audience, () => void>()

  get size(): number {
    return this.#audiences.size
  }

  add(watcher: HubWatcher): void {
    const name = nameOf(watcher.selectors)
    let audience = this.#audiences.get(name)
    if (audience === undefined) {
      audience = new Audience(watcher.selectors)
      this.#audiences.set(name, audience)
      this.#open(audience, watcher.trigger)
    }
    audience.watchers.add(watcher)
  }

  #open(audience: Audience, trigger: Trigger | undefined): void {
    if (trigger === undefined) {
      this.#all.add(audience)
      return
    }
    let index = this.#byField.get(trigger.field)
    if (index === undefined) {
      index = new TriggerIndex(trigger.field)
      this.#byField.set(trigger.field, index)
    }
    this.#ways.set(audience, index.add(trigger.value, audience))
  }

  delete(watcher: HubWatcher): boolean {
    const name = nameOf(watcher.selectors)
    const audience = this.#audiences.get(name)
    if (audience?.watchers.delete(watcher) !== true) return false
    if (audience.watchers.size > 0) return true
    this.#audiences.delete(name)
    this.#all.delete(audience)
    this.#ways.get(audience)?.()
    this.#ways.delete(audience)
    return true
  }

  visit(event: CacheEvent, call: (audience: Audience) => void): void {
    for (const audience of this.#all) call(audience)
    for (const index of this.#byField.values()) index.visit(event, call)
  }

  *[Symbol.iterator](): IterableIterator<HubWatcher> {
    for (const { watchers } of this.#audiences.values()) yield* watchers
  }
}

export class HubMembers {
  /** Watchers by the prefix of keys that they watch, so that the event's key leads to them. */
  readonly #byScope = new Map<string, ScopeMembers>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(watcher: HubWatcher): void {
    let members = this.#byScope.get(watcher.scope.startKey)
    if (members === undefined) {
      members = new ScopeMembers()
      this.#byScope.set(watcher.scope.startKey, members)
    }
    members.add(watcher)
    this.#size++
  }

  delete(watcher: HubWatcher): boolean {
    const members = this.#byScope.get(watcher.scope.startKey)
    if (members?.delete(watcher) !== true) return false
    this.#size--
    if (members.size === 0) this.#byScope.delete(watcher.scope.startKey)
    return true
  }

  /** Visits the audiences that the event may concern; their selectors decide. */
  visit(event: CacheEvent, call: (audience: Audience) => void): void {
    const { key } = event.record
    // /registry/pods/ns/name: watchers of the object, of the namespace, of all.
    this.#byScope.get(key)?.visit(event, call)
    for (let at = key.lastIndexOf('/'); at > 0; at = key.lastIndexOf('/', at - 1))
      this.#byScope.get(key.slice(0, at + 1))?.visit(event, call)
  }

  /** All watchers, as a copy: a watcher that is told something may leave. */
  all(): HubWatcher[] {
    return [...this.#byScope.values()].flatMap((members) => [...members])
  }
}
