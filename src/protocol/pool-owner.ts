/**
 * Thread: any. The whole contract between a pool worker and the owner, where the embedded engine lives: KV as calls over
 * a MessagePort. A crossing costs about 12 µs whatever it carries, so all calls of a turn go as one message, and all
 * replies of a turn come back as one.
 *
 * Order: the owner takes up calls in the order in which they were made; replies come when they are ready.
 * Bytes: a value that fills its ArrayBuffer is transferred where its sender gives it away, and copied otherwise.
 * Queues: none here. Writes wait in the engine, which refuses what exceeds its limits; a watch holds one batch.
 */
import type {
  CallOptions,
  KvGetResult,
  KvListResult,
  KvWatchBatch,
  KvWriteResult,
  LeaseId,
} from '../storage/contract/kv.js'
import type { ErrorRecord } from './error-record.js'
import type { RecordDraft } from './record-draft.js'

/** Chosen by the caller, unique on its port. */
export type RemoteWatchId = number

export type OwnerMethods = {
  get: (input: { key: string }) => KvGetResult
  list: (input: {
    prefix: string
    startKey: string | undefined
    limit: number
    revision: number
    keysOnly: boolean
  }) => KvListResult
  count: (input: { prefix: string }) => number
  put: (input: {
    key: string
    value: Uint8Array
    expectedModRevision: number
    lease: LeaseId
    getOnFailure: boolean
    draft: RecordDraft | undefined
  }) => KvWriteResult
  delete: (input: { key: string; expectedModRevision: number; getOnFailure: boolean }) => KvWriteResult
  grantLease: (input: { ttlSeconds: number }) => LeaseId
  currentRevision: (input: Record<string, never>) => number
  compact: (input: { revision: number }) => undefined
  databaseSizes: (input: Record<string, never>) => { endpoint: string; bytes: number }[]
  /** Replies once the watch is established. */
  openWatch: (input: {
    watch: RemoteWatchId
    key: string
    prefix: boolean
    startRevision: number
    progressNotify: boolean
  }) => undefined
  /** The next batch, without drafts; undefined once the watch is closed. One pull a watch at a time. */
  pullWatch: (input: { watch: RemoteWatchId }) => KvWatchBatch | undefined
  closeWatch: (input: { watch: RemoteWatchId }) => undefined
  /** A progress batch on every watch of this port. */
  requestProgress: (input: Record<string, never>) => undefined
  /** The caller of another call has given up: skip its work when it has not begun. */
  cancel: (input: { call: number }) => undefined
}

export type OwnerMethod = keyof OwnerMethods
export type OwnerInput<K extends OwnerMethod> = Parameters<OwnerMethods[K]>[0]
export type OwnerResult<K extends OwnerMethod> = ReturnType<OwnerMethods[K]>
export type OwnerCall = {
  [K in OwnerMethod]: {
    readonly id: number
    readonly method: K
    readonly input: OwnerInput<K>
    /** A `cancel` may follow. */
    readonly cancellable: boolean
  }
}[OwnerMethod]
/** What the owner implements, method by method. */
export type OwnerHandlers = {
  [K in OwnerMethod]: (input: OwnerInput<K>, options: CallOptions) => Promise<OwnerResult<K>>
}

export type OwnerReply =
  | { readonly id: number; readonly result: OwnerResult<OwnerMethod> }
  | { readonly id: number; readonly error: ErrorRecord }

/** Worker to owner. */
export interface OwnerCalls {
  readonly calls: readonly OwnerCall[]
}

/** Owner to worker. */
export interface OwnerReplies {
  readonly replies: readonly OwnerReply[]
  /** Writes that succeeded and have nothing else to tell: call, revision, call, revision, … A commit makes many. */
  readonly written: readonly number[]
  /** As of this message: compactedRevision() is asked synchronously. */
  readonly compactedRevision: number
}
