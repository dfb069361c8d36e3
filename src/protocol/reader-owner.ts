/**
 * Thread: any. Between the owner and a thread that reads the watch cache, over one MessagePort a thread. What is hot goes
 * through shared memory; this port carries how to find it, and the fence.
 *
 * Order: `hello` comes first. A port that closes detaches its thread. Queues: one fence question a thread and turn.
 */
import type { MessagePort } from 'node:worker_threads'
import type { RecordDraft } from './record-draft.js'

/** One storage cluster, as a thread attaches to it. The ports in it are transferred. */
export interface ClusterHandoff {
  readonly memory: { readonly reader: number; readonly clock: SharedArrayBuffer; readonly port: MessagePort }
  /** Of ClockTruth. */
  readonly truth: SharedArrayBuffer
  /** Of FollowingEpoch. */
  readonly following: SharedArrayBuffer
  /** To the embedded engine; undefined on etcd, which every thread reaches by itself. */
  readonly kv: MessagePort | undefined
}

export interface ResourceNotice {
  readonly resource: string
  /** The place of its cluster in `hello`. */
  readonly cluster: number
  /** `fallen`: read from its storage. `removed`: not cached any more. */
  readonly state: 'cached' | 'fallen' | 'removed'
}

export type OwnerToReader =
  | {
      readonly type: 'hello'
      readonly clusters: readonly ClusterHandoff[]
      readonly resources: readonly ResourceNotice[]
    }
  | { readonly type: 'resource'; readonly notice: ResourceNotice }
  | { readonly type: 'fence'; readonly question: number; readonly passed: boolean }

/** An object that this thread is about to write to etcd, as the owner would make it of the value. */
export interface HandedDraft {
  readonly key: string
  /** As it will be in the store. */
  readonly value: Uint8Array
  readonly draft: RecordDraft
}

export type ReaderToOwner =
  | { readonly type: 'fence'; readonly question: number; readonly cluster: number }
  /** The store told this thread a revision below one that was seen in this epoch (FollowingEpoch): it was restored. */
  | { readonly type: 'went-back'; readonly cluster: number; readonly revision: number; readonly epoch: number }
  /** All of a turn. */
  | { readonly type: 'drafts'; readonly cluster: number; readonly drafts: readonly HandedDraft[] }
