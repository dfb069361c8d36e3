/**
 * Thread: owner. One durable state of the store, held still by an LMDB read transaction. The engine answers every
 * read from the snapshot of its last synced commit, so nobody sees what a power cut could still take back.
 */
import type { Transaction } from 'lmdb'
import { assert } from '../../lib/assert.js'
import type { KeyValue, KvEvent, LeaseId } from '../contract/kv.js'
import {
  decodeIndexEntry,
  decodeLease,
  decodeLogEntry,
  decodeRevision,
  type EngineState,
  type IndexEntry,
  type LeaseRecord,
  type LogEntry,
  leasedKey,
} from './records.js'
import type { Tables } from './tables.js'

export class Snapshot {
  readonly state: EngineState
  readonly transaction: Transaction
  readonly tables: Tables
  readonly #options: { readonly transaction: Transaction }
  #uses = 1

  constructor(tables: Tables, transaction: Transaction, state: EngineState) {
    this.tables = tables
    this.transaction = transaction
    this.state = state
    this.#options = { transaction }
  }

  /** Keeps the snapshot for work that goes over several turns; release() ends that. */
  retain(): this {
    assert(this.#uses > 0, 'a released snapshot was used again')
    this.#uses++
    return this
  }

  release(): void {
    assert(this.#uses > 0, 'a snapshot was released twice')
    if (--this.#uses === 0) this.transaction.done()
  }

  index(key: string): IndexEntry | undefined {
    const bytes = this.tables.keys.getBinaryFast(key, this.#options)
    return bytes === undefined ? undefined : decodeIndexEntry(bytes)
  }

  /** The revision at which a key was deleted; 0 for a key without a grave. */
  grave(key: string): number {
    const bytes = this.tables.graves.getBinaryFast(key, this.#options)
    return bytes === undefined ? 0 : decodeRevision(bytes)
  }

  logEntry(revision: number, withValue = true): LogEntry | undefined {
    const bytes = this.tables.log.getBinaryFast(revision, this.#options)
    return bytes === undefined ? undefined : decodeLogEntry(revision, bytes, withValue)
  }

  keyValue(key: string): KeyValue | undefined {
    const entry = this.index(key)
    return entry === undefined ? undefined : this.version(entry.modRevision)
  }

  /** The value that was written at a revision; it is there as long as the index or a later entry points at it. */
  version(revision: number, withValue = true): KeyValue {
    const entry = this.logEntry(revision, withValue)
    assert(entry?.type === 'put', `the log has no value at revision ${revision}`)
    return entry.kv
  }

  /** The event of a revision, with what it replaced: after the compacted revision both are still there. */
  event(revision: number): KvEvent {
    const entry = this.logEntry(revision)
    assert(entry !== undefined, `the log has no entry at revision ${revision}`)
    const created = entry.type === 'put' && entry.kv.version === 1
    return { type: entry.type, kv: entry.kv, prev: created ? undefined : this.version(entry.previous) }
  }

  lease(lease: LeaseId): LeaseRecord | undefined {
    const bytes = this.tables.leases.getBinaryFast(leasedKey(lease, ''), this.#options)
    return bytes === undefined ? undefined : decodeLease(bytes)
  }

  leases(): { lease: LeaseId; record: LeaseRecord }[] {
    const range = this.tables.leases.getRange(this.#options)
    return Array.from(range, ({ key, value }) => ({ lease: key.readBigInt64BE(0), record: decodeLease(value) }))
  }
}
