/**
 * Thread: owner. One durable state of the store, held still by an LMDB read transaction. The engine answers every
 * read from the snapshot of its last synced commit, so nobody sees what a power cut could still take back.
 *
 * Every record is held against its checksum, or against the log, when it is read: what is damaged is never given out,
 * it is a `corrupt-object` that names key and revision.
 */
import type { Transaction } from 'lmdb'
import { assert } from '../../lib/assert.js'
import { StorageError } from '../contract/errors.js'
import type { KeyValue, KvEvent, LeaseId } from '../contract/kv.js'
import {
  DamagedRecord,
  decodeIndexEntry,
  decodeLease,
  decodeLogEntry,
  decodeRevision,
  type EngineState,
  type IndexEntry,
  type LeaseRecord,
  type LogEntry,
  leasedKey,
  leaseOfLeasedKey,
} from './records.js'
import type { Tables } from './tables.js'

/** Is told of every read that found damage. */
export type DamageListener = (damage: StorageError) => void

export interface SnapshotOptions {
  readonly tables: Tables
  readonly transaction: Transaction
  readonly state: EngineState
  readonly onDamage: DamageListener
}

export class Snapshot {
  readonly state: EngineState
  readonly transaction: Transaction
  readonly tables: Tables
  readonly #onDamage: DamageListener
  readonly #options: { readonly transaction: Transaction }
  #uses = 1

  constructor(options: SnapshotOptions) {
    this.tables = options.tables
    this.transaction = options.transaction
    this.state = options.state
    this.#onDamage = options.onDamage
    this.#options = { transaction: options.transaction }
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
    return bytes === undefined ? undefined : this.indexEntry(key, bytes)
  }

  /** The entry that a walk over `keys` found under a key. */
  indexEntry(key: string, bytes: Buffer): IndexEntry {
    return this.#decoded(() => decodeIndexEntry(bytes), `the entry of ${key} in the index`, key)
  }

  /** The revision at which a key was deleted; 0 for a key without a grave. */
  grave(key: string): number {
    const bytes = this.tables.graves.getBinaryFast(key, this.#options)
    return bytes === undefined ? 0 : this.graveRevision(key, bytes)
  }

  graveRevision(key: string, bytes: Buffer): number {
    return this.#decoded(() => decodeRevision(bytes), `the grave of ${key}`, key)
  }

  logEntry(revision: number, withValue = true): LogEntry | undefined {
    const bytes = this.tables.log.getBinaryFast(revision, this.#options)
    if (bytes === undefined) return undefined
    const { uncheckedUntil } = this.state
    return this.#decoded(
      () => decodeLogEntry(revision, bytes, { uncheckedUntil, withValue }),
      `the entry of revision ${revision}`,
    )
  }

  /** The entry of a revision after the compacted one: there is one for each. */
  recentEntry(revision: number, withValue = true): LogEntry {
    return this.logEntry(revision, withValue) ?? this.#damaged(`the log has no entry at revision ${revision}`)
  }

  /** The entry of the same key before this one, without its value; undefined when that was a deletion, now pruned. */
  previousEntry(entry: LogEntry): LogEntry | undefined {
    const found = this.logEntry(entry.previous, false)
    if (found !== undefined ? found.kv.key === entry.kv.key : !replacesValue(entry)) return found
    const { key } = entry.kv
    return this.#damaged(`the log has lost what ${key} was at revision ${entry.previous}`, key)
  }

  keyValue(key: string): KeyValue | undefined {
    const entry = this.index(key)
    if (entry === undefined) return undefined
    const kv = this.version(key, entry.modRevision)
    if (kv.createRevision !== entry.createRevision || kv.version !== entry.version || kv.lease !== entry.lease)
      this.#damaged(`the index and the log differ about ${key} at revision ${entry.modRevision}`, key)
    return kv
  }

  /** The value of a key that was written at a revision: there as long as the index or a later entry points at it. */
  version(key: string, revision: number, withValue = true): KeyValue {
    const entry = this.logEntry(revision, withValue)
    if (entry === undefined || entry.type !== 'put')
      return this.#damaged(`the log has no value of ${key} at revision ${revision}`, key)
    if (entry.kv.key !== key)
      return this.#damaged(`the log has ${entry.kv.key} at revision ${revision}, not ${key}`, key)
    return entry.kv
  }

  /** The event of a revision, with what it replaced: after the compacted revision both are still there. */
  event(revision: number): KvEvent {
    const entry = this.recentEntry(revision)
    const { kv, type, previous } = entry
    return { type, kv, prev: replacesValue(entry) ? this.version(kv.key, previous) : undefined }
  }

  lease(lease: LeaseId): LeaseRecord | undefined {
    const bytes = this.tables.leases.getBinaryFast(leasedKey(lease, ''), this.#options)
    return bytes === undefined ? undefined : this.#lease(lease, bytes)
  }

  leases(): { lease: LeaseId; record: LeaseRecord }[] {
    const range = this.tables.leases.getRange(this.#options)
    return Array.from(range, ({ key, value }) => {
      const lease = leaseOfLeasedKey(key)
      return { lease, record: this.#lease(lease, value) }
    })
  }

  #lease(lease: LeaseId, bytes: Buffer): LeaseRecord {
    return this.#decoded(() => decodeLease(lease, bytes), `lease ${lease}`)
  }

  #decoded<T>(decode: () => T, what: string, key?: string): T {
    try {
      return decode()
    } catch (error) {
      if (error instanceof DamagedRecord) return this.#damaged(`${what} ${error.message}`, key)
      throw error
    }
  }

  #damaged(what: string, key?: string): never {
    const damage = new StorageError(
      'corrupt-object',
      `the data directory is damaged: ${what}; "keelson data check" tells all that is, docs/reliability.md what to do`,
      key === undefined ? {} : { key },
    )
    this.#onDamage(damage)
    throw damage
  }
}

/** Whether the entry before this one of the same key holds what this one replaced or deleted. */
const replacesValue = (entry: LogEntry): boolean => entry.type === 'delete' || entry.kv.version > 1
