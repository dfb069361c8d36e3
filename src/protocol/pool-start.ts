/** Thread: any. What a pool thread is started with, and what it says first. */
import type { MessagePort } from 'node:worker_threads'

/** Sent by a pool thread when it starts: the owner's end of its line. */
export interface PoolThreadMessage {
  readonly type: 'attach'
  readonly port: MessagePort
}

export type StorageConnection =
  | { readonly type: 'embedded' }
  | {
      readonly type: 'etcd3'
      readonly endpoints: readonly string[]
      readonly caFile?: string
      readonly certFile?: string
      readonly keyFile?: string
    }

export interface PoolStart {
  readonly storage: StorageConnection
  readonly pathPrefix: string
  readonly enableGarbageCollection: boolean
  readonly deleteCollectionWorkers: number
  readonly eventTtlSeconds: number
  readonly runtimeConfig: Readonly<Record<string, string>>
}
