/** Thread: owner. What the index of a store says of each key, while the log is held against it. */
import type { LeaseId } from '../../contract/kv.js'
import { NO_LEASE } from '../../contract/kv.js'
import type { IndexEntry, LogEntry } from '../records.js'

/** What the index makes of an entry of the log. */
type Standing = 'live' | 'history' | 'contradicts'

export class StoreIndex {
  /** Key to its place in the columns; columns, because a million objects would be a hundred megabytes more. */
  readonly #places = new Map<string, number>()
  readonly #modRevisions: Float64Array
  readonly #createRevisions: Float64Array
  readonly #versions: Uint32Array
  readonly #seen: Uint8Array
  readonly #leases = new Map<string, LeaseId>()
  readonly #graves = new Map<string, number>()
  readonly #gravesToSee = new Set<string>()

  constructor(capacity: number) {
    this.#modRevisions = new Float64Array(capacity)
    this.#createRevisions = new Float64Array(capacity)
    this.#versions = new Uint32Array(capacity)
    this.#seen = new Uint8Array(capacity)
  }

  get size(): number {
    return this.#places.size
  }

  /** How many keys with a lease have not been seen among the keys of their lease. */
  get leasesToSee(): number {
    return this.#leases.size
  }

  add(key: string, entry: IndexEntry): void {
    const place = this.#places.size
    // A table with more entries than it says is told by who walks it.
    if (place >= this.#seen.length || this.#places.has(key)) return
    this.#places.set(key, place)
    this.#modRevisions[place] = entry.modRevision
    this.#createRevisions[place] = entry.createRevision
    this.#versions[place] = entry.version
    if (entry.lease !== NO_LEASE) this.#leases.set(key, entry.lease)
  }

  addGrave(key: string, revision: number): void {
    this.#graves.set(key, revision)
    this.#gravesToSee.add(key)
  }

  /** An entry is the newest of its key, or there is a newer one: whatever the index does not know of, it has lost. */
  standingOf(entry: LogEntry): Standing {
    const { key, modRevision: revision } = entry.kv
    const place = this.#places.get(key)
    const newest = place === undefined ? 0 : this.#modRevisions[place]!
    const grave = this.#graves.get(key) ?? 0
    if (newest > revision || grave > revision) return 'history'
    if (entry.type === 'delete') {
      if (grave === revision) this.#gravesToSee.delete(key)
      return grave === revision ? 'history' : 'contradicts'
    }
    if (place === undefined || newest !== revision || !this.#agrees(place, entry)) return 'contradicts'
    this.#seen[place] = 1
    return 'live'
  }

  #agrees(place: number, { kv }: LogEntry): boolean {
    return (
      this.#createRevisions[place] === kv.createRevision &&
      this.#versions[place] === kv.version &&
      (this.#leases.get(kv.key) ?? NO_LEASE) === kv.lease
    )
  }

  /** What the index says of a key, beside what the log says. */
  describe(key: string, revision: number): string {
    const place = this.#places.get(key)
    if (place === undefined) return 'it has no such key'
    const newest = this.#modRevisions[place]!
    return newest === revision ? 'they differ in its lease, version or creation' : `it has revision ${newest}`
  }

  /** Takes note of a key in the list of a lease's keys; false when the key has no such lease. */
  sawLeased(key: string, lease: LeaseId): boolean {
    if (this.#leases.get(key) !== lease) return false
    this.#leases.delete(key)
    return true
  }

  /** Tells what the log had nothing for. */
  unseen(tell: (problem: string) => void): void {
    for (const [key, place] of this.#places)
      if (this.#seen[place] === 0) tell(`the value of ${key} at revision ${this.#modRevisions[place]} is lost`)
    for (const key of this.#gravesToSee)
      tell(`the deletion of ${key} at revision ${this.#graves.get(key)} is lost from the log`)
  }
}
