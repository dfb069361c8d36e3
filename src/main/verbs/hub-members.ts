/**
 * Thread: main. The watchers in a hub, found by what an event is: its key leads to those of its scope, and within a scope
 * the value of a field to those that require that value. Five thousand that watch the pods of their own node cost an event
 * two lookups.
 */
import type { Selectors } from '../../api/selectors.js'
import type { CacheEvent } from '../../cacher/shared-memory.js'
import { TriggerIndex } from '../../cacher/trigger-index.js'
import type { KeyScope } from './key-scope.js'

/** A field and the one value of it that a watcher can see. */
export interface Trigger {
  readonly field: string
  readonly value: string
}

export interface HubWatcher {
  readonly scope: KeyScope
  readonly selectors: Selectors
  readonly trigger: Trigger | undefined
  /** Everything up to here was written before it joined: the hub may be a little behind. */
  readonly seenRevision: number
  /** False: the client does not keep up; it has left the hub by then. */
  deliver(bytes: Uint8Array, revision: number): boolean
  /** The window has passed everybody: it cannot happen to who keeps up unless the thread stood still. */
  expired(): void
  /** The events cannot be shown. */
  failed(error: unknown): void
}

/** Every object has its own: an index by it serves those who watch one name in all namespaces. */
const USELESS: ReadonlySet<string> = new Set(['metadata.namespace'])

export function triggerOf({ field }: Selectors, selectableFields: readonly string[]): Trigger | undefined {
  if (field.empty()) return undefined
  for (const name of selectableFields) {
    const value = USELESS.has(name) ? undefined : field.requiresExactMatch(name)
    if (value !== undefined) return { field: name, value }
  }
  return undefined
}

/** The watchers of one prefix of keys. */
class ScopeMembers {
  readonly #all = new Set<HubWatcher>()
  readonly #byField = new Map<string, TriggerIndex<HubWatcher>>()
  readonly #ways = new Map<HubWatcher, () => void>()

  get size(): number {
    return this.#all.size + this.#ways.size
  }

  add(watcher: HubWatcher): void {
    const { trigger } = watcher
    if (trigger === undefined) {
      this.#all.add(watcher)
      return
    }
    let index = this.#byField.get(trigger.field)
    if (index === undefined) {
      index = new TriggerIndex(trigger.field)
      this.#byField.set(trigger.field, index)
    }
    this.#ways.set(watcher, index.add(trigger.value, watcher))
  }

  delete(watcher: HubWatcher): boolean {
    if (this.#all.delete(watcher)) return true
    const way = this.#ways.get(watcher)
    if (way === undefined) return false
    way()
    return this.#ways.delete(watcher)
  }

  visit(event: CacheEvent, call: (watcher: HubWatcher) => void): void {
    for (const watcher of this.#all) call(watcher)
    for (const index of this.#byField.values()) index.visit(event, call)
  }

  *[Symbol.iterator](): IterableIterator<HubWatcher> {
    yield* this.#all
    yield* this.#ways.keys()
  }
}

export class HubMembers {
  /** By the prefix of keys that they watch: the event's key leads to them without asking the others. */
  readonly #byScope = new Map<string, ScopeMembers>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(watcher: HubWatcher): void {
    let members = this.#byScope.get(watcher.scope.start)
    if (members === undefined) {
      members = new ScopeMembers()
      this.#byScope.set(watcher.scope.start, members)
    }
    members.add(watcher)
    this.#size++
  }

  delete(watcher: HubWatcher): boolean {
    const members = this.#byScope.get(watcher.scope.start)
    if (members?.delete(watcher) !== true) return false
    this.#size--
    if (members.size === 0) this.#byScope.delete(watcher.scope.start)
    return true
  }

  /** Those whom the event may concern; their selectors decide. */
  visit(event: CacheEvent, call: (watcher: HubWatcher) => void): void {
    const { key } = event.record
    // /registry/pods/ns/name: watchers of the object, of the namespace, of all.
    this.#byScope.get(key)?.visit(event, call)
    for (let at = key.lastIndexOf('/'); at > 0; at = key.lastIndexOf('/', at - 1))
      this.#byScope.get(key.slice(0, at + 1))?.visit(event, call)
  }

  /** A copy: who is told may leave. */
  all(): HubWatcher[] {
    return [...this.#byScope.values()].flatMap((members) => [...members])
  }
}
