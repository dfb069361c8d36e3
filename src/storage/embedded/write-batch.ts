/**
 * Thread: owner. The writes of one commit: comparisons see the committed snapshot overlaid with what this batch has
 * changed so far, in order. Nothing outside knows of a batch before it is on the disk, so a batch that fails is
 * dropped.
 */
import type { RecordDraft } from '../../protocol/record-draft.js'
import { StorageError } from '../contract/errors.js'
import { type KeyValue, type KvEvent, type KvWriteResult, type LeaseId, NO_LEASE } from '../contract/kv.js'
import {
  type EngineState,
  encodeIndexEntry,
  encodeLease,
  encodeLogEntry,
  encodeRevision,
  type IndexEntry,
  keyOfLeasedKey,
  type LeaseRecord,
  type LogEntry,
  leasedKey,
  type Slab,
} from './records.js'
import type { Snapshot } from './snapshot.js'
import type { StagedWrite } from './tables.js'

const NO_VALUE = new Uint8Array(0)

/** A key as the batch has left it so far. */
type Overlay = { readonly live: true; readonly kv: KeyValue } | { readonly live: false; readonly grave: number }

export interface ConditionalWrite {
  readonly key: string
  readonly expectedModRevision: number
  readonly getOnFailure: boolean
}

export interface PutWrite extends ConditionalWrite {
  readonly value: Uint8Array
  readonly lease: LeaseId
  readonly draft: RecordDraft | undefined
}

export class WriteBatch {
  /** The bytes that are written; another batch's once this one is on the disk. */
  readonly slab: Slab
  readonly writes: StagedWrite[] = []
  readonly events: KvEvent[] = []
  readonly #snapshot: Snapshot
  readonly #overlay = new Map<string, Overlay>()
  readonly #leases = new Map<LeaseId, LeaseRecord | undefined>()
  #state: EngineState
  #dirty = false

  constructor(snapshot: Snapshot, slab: Slab) {
    this.slab = slab
    this.#snapshot = snapshot
    this.#state = snapshot.state
  }

  get state(): EngineState {
    return this.#state
  }

  /** False when every comparison failed, so that there is nothing to commit. */
  get dirty(): boolean {
    return this.#dirty
  }

  put(write: PutWrite): KvWriteResult {
    const { key, value, lease } = write
    const current = this.#index(key)
    if ((current?.modRevision ?? 0) !== write.expectedModRevision) return this.#refusal(write, current)
    if (lease !== NO_LEASE && this.#lease(lease) === undefined)
      throw new StorageError('invalid-request', `lease ${lease} does not exist or has expired`, { key })
    const previous = current === undefined ? this.#grave(key) : current.modRevision
    const prev = current === undefined ? undefined : this.#valueOf(key, current)
    const revision = this.#nextRevision()
    const kv: KeyValue = {
      key,
      value,
      modRevision: revision,
      createRevision: current?.createRevision ?? revision,
      version: (current?.version ?? 0) + 1,
      lease,
    }
    this.#stageLog({ type: 'put', kv, previous })
    this.writes.push({ table: 'keys', key, value: encodeIndexEntry(kv, this.slab) })
    if (current === undefined && previous > 0) this.writes.push({ table: 'graves', key, value: undefined })
    this.#moveLease(key, current?.lease ?? NO_LEASE, lease)
    this.#overlay.set(key, { live: true, kv })
    const { draft } = write
    this.events.push(draft === undefined ? { type: 'put', kv, prev } : { type: 'put', kv, prev, draft })
    return { succeeded: true, revision, kv: undefined }
  }

  delete(write: ConditionalWrite): KvWriteResult {
    const current = this.#index(write.key)
    // As in etcd, deleting a key that is not there succeeds as a comparison and changes nothing.
    if ((current?.modRevision ?? 0) !== write.expectedModRevision) return this.#refusal(write, current)
    if (current === undefined) return { succeeded: true, revision: this.#state.revision, kv: undefined }
    const deleted = this.#remove(write.key, current)
    return { succeeded: true, revision: this.#state.revision, kv: deleted }
  }

  grantLease(record: LeaseRecord): LeaseId {
    const lastLease = this.#state.lastLease + 1
    this.#change({ lastLease })
    const lease = BigInt(lastLease)
    this.#leases.set(lease, record)
    this.writes.push({ table: 'leases', key: leasedKey(lease, ''), value: encodeLease(lease, record, this.slab) })
    return lease
  }

  /**
   * Deletes keys of a lease, each at a revision of its own, and the lease with the last of them.
   * Gives false when there are more than `limit` of them: call again in another batch.
   */
  revokeLease(lease: LeaseId, limit: number): boolean {
    if (this.#lease(lease) === undefined) return true
    const { leased } = this.#snapshot.tables
    const range = leased.getKeys({
      start: leasedKey(lease, ''),
      end: leasedKey(lease + 1n, ''),
      limit: limit + 1,
      transaction: this.#snapshot.transaction,
    })
    let left = limit
    for (const bytes of range) {
      if (left-- === 0) return false
      const key = keyOfLeasedKey(bytes)
      const current = this.#index(key)
      if (current?.lease === lease) this.#remove(key, current)
    }
    // Keys that were attached earlier in this batch are not in the snapshot.
    for (const [key, overlay] of this.#overlay)
      if (overlay.live && overlay.kv.lease === lease) this.#remove(key, overlay.kv)
    this.#leases.set(lease, undefined)
    this.#dirty = true
    this.writes.push({ table: 'leases', key: leasedKey(lease, ''), value: undefined })
    return true
  }

  /**
   * History up to `revision` is gone from now on; the log is pruned in later batches. A lower revision than the
   * compacted one has no effect: several who compact by the clock need not agree who comes first.
   */
  compact(revision: number): void {
    const { compacted, revision: currentRevision } = this.#state
    if (revision > currentRevision)
      throw new StorageError('too-large', `revision ${revision} is in the future`, { currentRevision })
    if (revision > compacted) this.#change({ compacted: revision })
  }

  /**
   * Removes from the log what compaction made unreachable: looks at up to `limit` entries after the pruned revision.
   * An entry at or before the compacted revision makes the one before it of the same key unreachable; a deletion
   * makes itself so too. What a live key points at stays.
   */
  prune(limit: number): boolean {
    const { pruned, compacted } = this.#state
    const snapshot = this.#snapshot
    const last = Math.min(compacted, pruned + limit)
    for (let revision = pruned + 1; revision <= last; revision++) {
      const entry = snapshot.logEntry(revision, false)
      if (entry === undefined) continue
      if (entry.previous > 0) this.writes.push({ table: 'log', key: entry.previous, value: undefined })
      if (entry.type === 'put') continue
      this.writes.push({ table: 'log', key: revision, value: undefined })
      if (this.#grave(entry.kv.key) === revision)
        this.writes.push({ table: 'graves', key: entry.kv.key, value: undefined })
    }
    if (last > pruned) this.#change({ pruned: last })
    return last < compacted
  }

  #refusal(write: ConditionalWrite, current: IndexEntry | undefined): KvWriteResult {
    const kv = write.getOnFailure && current !== undefined ? this.#valueOf(write.key, current) : undefined
    return { succeeded: false, revision: this.#state.revision, kv }
  }

  #remove(key: string, current: IndexEntry): KeyValue {
    const prev = this.#valueOf(key, current)
    const revision = this.#nextRevision()
    const kv: KeyValue = { key, value: NO_VALUE, modRevision: revision, createRevision: 0, version: 0, lease: NO_LEASE }
    this.#stageLog({ type: 'delete', kv, previous: current.modRevision })
    this.writes.push({ table: 'keys', key, value: undefined })
    this.writes.push({ table: 'graves', key, value: encodeRevision(revision, this.slab) })
    this.#moveLease(key, current.lease, NO_LEASE)
    this.#overlay.set(key, { live: false, grave: revision })
    this.events.push({ type: 'delete', kv, prev })
    return prev
  }

  #moveLease(key: string, from: LeaseId, to: LeaseId): void {
    if (from === to) return
    if (from !== NO_LEASE) this.writes.push({ table: 'leased', key: leasedKey(from, key), value: undefined })
    if (to !== NO_LEASE) this.writes.push({ table: 'leased', key: leasedKey(to, key), value: Buffer.alloc(1) })
  }

  #stageLog(entry: LogEntry): void {
    this.writes.push({ table: 'log', key: entry.kv.modRevision, value: encodeLogEntry(entry, this.slab) })
  }

  #index(key: string): IndexEntry | undefined {
    const overlay = this.#overlay.get(key)
    if (overlay === undefined) return this.#snapshot.index(key)
    return overlay.live ? overlay.kv : undefined
  }

  #valueOf(key: string, current: IndexEntry): KeyValue {
    const overlay = this.#overlay.get(key)
    return overlay?.live ? overlay.kv : this.#snapshot.version(key, current.modRevision)
  }

  #grave(key: string): number {
    const overlay = this.#overlay.get(key)
    if (overlay === undefined) return this.#snapshot.grave(key)
    return overlay.live ? 0 : overlay.grave
  }

  #lease(lease: LeaseId): LeaseRecord | undefined {
    return this.#leases.has(lease) ? this.#leases.get(lease) : this.#snapshot.lease(lease)
  }

  #nextRevision(): number {
    const revision = this.#state.revision + 1
    this.#change({ revision })
    return revision
  }

  #change(changes: Partial<EngineState>): void {
    this.#state = { ...this.#state, ...changes }
    this.#dirty = true
  }
}
