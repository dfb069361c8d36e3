/**
 * Thread: any. The key-value contract below the stores: what Kubernetes needs of etcd and not more. Two things
 * implement it: the etcd client (etcd/) and the embedded engine (embedded/), the latter also from other threads.
 *
 * Revisions are etcd's: one counter for all keys, +1 a committed transaction. They stay below 2^53 and are numbers.
 * Keys are UTF-8 strings ordered by their bytes. Values are opaque bytes; who passes one in gives it away.
 * Every method throws StorageError (errors.ts): `unreachable` when the outcome is unknown or nothing answered in
 * time, `too-old` (with compactRevision) for a compacted revision, `too-large` for a revision that is not there yet.
 */
import type { CancelSignal } from '../../lib/cancellation.js'
import type { RecordDraft } from '../../protocol/record-draft.js'

export type LeaseId = bigint
export const NO_LEASE: LeaseId = 0n

export interface KeyValue {
  readonly key: string
  readonly value: Uint8Array
  readonly modRevision: number
  readonly createRevision: number
  /** Number of writes since it was created; 1 for a new key. */
  readonly version: number
  readonly lease: LeaseId
}

export interface CallOptions {
  readonly signal?: CancelSignal
  /** The deadline of this call, instead of the client's own. */
  readonly timeoutMs?: number
}

export interface KvGetResult {
  readonly kv: KeyValue | undefined
  /** The store's revision when it answered. */
  readonly revision: number
}

export interface KvListOptions extends CallOptions {
  /** Keys at or after this one only; defaults to `prefix`. Always within the prefix. */
  readonly startKey?: string
  /** The most keys of the answer; 0 or absent when there is no limit. */
  readonly limit?: number
  /** The revision whose state is read; 0 or absent for the newest. */
  readonly revision?: number
  /** Asks for keys only: `value` is empty. */
  readonly keysOnly?: boolean
  /** `count` is not needed: where counting costs something, it is that of the answer. */
  readonly uncounted?: boolean
}

export interface KvListResult {
  readonly kvs: KeyValue[]
  /** How many keys lie in [startKey, end of prefix) at the answered revision, whatever the limit. */
  readonly count: number
  /** True when `limit` cut the answer. */
  readonly more: boolean
  /** The store's revision when it answered (not `options.revision`). */
  readonly revision: number
}

export interface KvWriteOptions extends CallOptions {
  readonly lease?: LeaseId
  /** When the comparison fails, the current state is read in the same transaction. */
  readonly getOnFailure?: boolean
  /** Handed to the watch cache with the event, so that it need not decode what this process encoded itself. */
  readonly draft?: RecordDraft
}

export interface KvWriteResult {
  readonly succeeded: boolean
  /** The revision of the write, or the store's revision when the comparison failed. */
  readonly revision: number
  /**
   * After a deletion: what was deleted. After a failed comparison with getOnFailure: what is there now, if anything.
   */
  readonly kv: KeyValue | undefined
}

export interface KvWatchOptions {
  readonly key: string
  /** Whether every key that starts with `key` is watched. */
  readonly prefix: boolean
  /** The first revision that is delivered; 0 for only what comes after the watch is established. */
  readonly startRevision: number
  /** Asks for periodic progress batches while nothing happens. */
  readonly progressNotify?: boolean
  readonly signal?: CancelSignal
}

export interface KvEvent {
  readonly type: 'put' | 'delete'
  /** For a deletion: key and modRevision (that of the deletion), no value. */
  readonly kv: KeyValue
  /** What was there before; undefined for a creation, or when it is compacted away. */
  readonly prev: KeyValue | undefined
  readonly draft?: RecordDraft
}

/**
 * Events in revision order; all events of one revision are in one batch. An empty batch is a progress report:
 * everything up to and including `revision` has been delivered.
 */
export interface KvWatchBatch {
  readonly events: readonly KvEvent[]
  readonly revision: number
}

/**
 * Pull-based, so a slow consumer holds back its own stream and nothing else. Resumes by itself after a lost
 * connection, from the event after the last one delivered: never a gap, never a repetition.
 */
export interface KvWatch {
  /** Resolves when the first server has accepted the watch; rejects with `too-old` and the like. */
  readonly established: Promise<void>
  /**
   * The next batch; undefined once closed. Rejects with `too-old` when compaction has overtaken it; then it is over.
   */
  next(): Promise<KvWatchBatch | undefined>
  close(): void
}

export interface KV {
  /** Reads one key, linearizably. */
  get(key: string, options?: CallOptions): Promise<KvGetResult>
  /** Reads a range, linearizably at revision 0. `prefix` is used as given; callers end it with a slash. */
  list(prefix: string, options?: KvListOptions): Promise<KvListResult>
  count(prefix: string, options?: CallOptions): Promise<number>
  /** Writes when the key's mod revision is `expectedModRevision` (0: when it does not exist). */
  optimisticPut(
    key: string,
    value: Uint8Array,
    expectedModRevision: number,
    options?: KvWriteOptions,
  ): Promise<KvWriteResult>
  optimisticDelete(key: string, expectedModRevision: number, options?: KvWriteOptions): Promise<KvWriteResult>
  watch(options: KvWatchOptions): KvWatch
  /** Asks for a progress batch on the watches of this client; a no-op where watches are always current. */
  requestProgress(): Promise<void>
  grantLease(ttlSeconds: number, options?: CallOptions): Promise<LeaseId>
  /** The store's revision, read linearizably. */
  currentRevision(options?: CallOptions): Promise<number>
  /** The revision up to which history is gone; 0 when nothing was compacted as far as is known. */
  compactedRevision(): number
  compact(revision: number, options?: CallOptions): Promise<void>
  /** Bytes of the store's file or database, per endpoint; for the DB-size monitor. */
  databaseSizes(options?: CallOptions): Promise<{ endpoint: string; bytes: number }[]>
  close(): Promise<void>
}

/** The smallest key greater than every key with this prefix, in byte order. */
export function prefixEnd(prefix: string): string {
  assertNonEmpty(prefix)
  const last = prefix.codePointAt(prefix.length - 1)!
  // Prefixes end in a slash or another ASCII character, so the next code point is the next byte as well.
  return prefix.slice(0, -1) + String.fromCodePoint(last + 1)
}

function assertNonEmpty(prefix: string): void {
  if (prefix === '') throw new RangeError('a prefix must not be empty')
}
