/**
 * Thread: any. Finds records by the value of a field, for lists: with it, each of five thousand kubelets that list "my
 * pods" reads its own pods and not a hundred thousand. The index is made at the first list that needs it, in the thread
 * that lists, and kept up by a cursor.
 *
 * The index holds keys, and more of them than the newest state needs: the key of an object that lost the value stays
 * until the window has passed that moment. So it serves every state of the window; each key that it finds is looked up
 * in the snapshot and checked there.
 */
import { isTooOld } from '../../storage/contract/errors.js'
import type { ArenaReader, CacheEvent, EventCursor, RecordView, Snapshot } from './shared-memory.js'

export interface FieldIndexOptions {
  readonly arena: ArenaReader
  readonly field: string
}

interface Loss {
  readonly value: string
  readonly key: string
  readonly revision: number
}

const PRESENT = 0
/** So many losses are gathered before the arena is asked where the window begins. */
const PURGE_AFTER = 1024
/** A value that more than this part of all objects have is found as quickly by reading all objects. */
const SELECTIVE = 1 / 8

export class FieldIndex {
  readonly #arena: ArenaReader
  readonly #field: string
  /** By value, then by key: PRESENT, or the revision at which the object lost the value. */
  readonly #keys = new Map<string, Map<string, number>>()
  readonly #losses: Loss[] = []
  #cursor: EventCursor | undefined
  /** The index is complete for states from this revision on. */
  #from = 0

  constructor({ arena, field }: FieldIndexOptions) {
    this.#arena = arena
    this.#field = field
  }

  /**
   * Visits the records of [startKey, endKey) whose field has the value, in the order of their keys; stops when the
   * visitor returns false. Gives false when the index cannot serve the snapshot, which the caller then scans itself.
   */
  scan(
    snapshot: Snapshot,
    value: string,
    range: { startKey: string; endKey: string },
    visit: (record: RecordView) => boolean | undefined,
  ): boolean {
    if (!this.#follow(snapshot)) return false
    const keys = this.#keys.get(value)
    if (keys === undefined) return true
    if (keys.size > Math.max(64, snapshot.size * SELECTIVE)) return false
    const { startKey, endKey } = range
    for (const key of inOrder([...keys.keys()], startKey, endKey)) {
      const record = snapshot.get(key)
      if (record === undefined || (record.fields.get(this.#field) ?? '') !== value) continue
      if (visit(record) === false) break
    }
    return true
  }

  /** Brings the index up to date; gives whether it covers the snapshot's state. */
  #follow(snapshot: Snapshot): boolean {
    if (this.#cursor !== undefined && snapshot.revision < this.#from) return false
    if (this.#cursor === undefined && !this.#build(snapshot)) return false
    const result = this.#cursor?.advance((event) => this.#apply(event))
    if (result === 'expired') {
      this.#cursor = undefined
      return this.#build(snapshot)
    }
    if (this.#losses.length > PURGE_AFTER) this.#purge(this.#arena.oldestRevision())
    return snapshot.revision >= this.#from && (this.#cursor?.revision ?? 0) >= snapshot.revision
  }

  #build(snapshot: Snapshot): boolean {
    this.#keys.clear()
    this.#losses.length = 0
    try {
      this.#cursor = this.#arena.cursor(snapshot.revision)
    } catch (error) {
      if (isTooOld(error)) return false
      throw error
    }
    this.#from = snapshot.revision
    snapshot.scan('', '', (record) => this.#gain(record.fields.get(this.#field) ?? '', record.key))
    return true
  }

  #apply({ type, record, previous, revision }: CacheEvent): true {
    const key = record.key
    const value = type === 'DELETED' ? undefined : (record.fields.get(this.#field) ?? '')
    const before = previous === undefined ? undefined : (previous.fields.get(this.#field) ?? '')
    if (value === before) return true
    if (before !== undefined) {
      this.#keys.get(before)?.set(key, revision)
      this.#losses.push({ value: before, key, revision })
    }
    return value === undefined ? true : this.#gain(value, key)
  }

  #gain(value: string, key: string): true {
    const keys = this.#keys.get(value)
    if (keys === undefined) this.#keys.set(value, new Map([[key, PRESENT]]))
    else keys.set(key, PRESENT)
    return true
  }

  #purge(oldest: number): void {
    let purged = 0
    for (const { value, key, revision } of this.#losses) {
      if (revision > oldest) break
      purged++
      this.#from = Math.max(this.#from, revision)
      const keys = this.#keys.get(value)
      if (keys?.get(key) !== revision) continue
      keys.delete(key)
      if (keys.size === 0) this.#keys.delete(value)
    }
    this.#losses.splice(0, purged)
  }
}

/** Sorts keys by their bytes, as snapshots do; strings compare in that order unless they hold surrogates. */
function inOrder(keys: string[], startKey: string, endKey: string): string[] {
  const compare = keys.some((key) => /[\ud800-\udfff]/.test(key))
    ? (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))
    : (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
  return keys.filter((key) => compare(key, startKey) >= 0 && (endKey === '' || compare(key, endKey) < 0)).sort(compare)
}
