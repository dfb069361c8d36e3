/** Thread: pool. The embedded engine from another thread, over a port that a KvServer in the owner serves. */
import type { MessagePort } from 'node:worker_threads'
import { type Clock, systemClock } from '../../lib/clock.js'
import type { RecordDraft } from '../../protocol/record-draft.js'
import {
  type CallOptions,
  type KV,
  type KvGetResult,
  type KvListOptions,
  type KvListResult,
  type KvWatch,
  type KvWatchOptions,
  type KvWriteOptions,
  type KvWriteResult,
  type LeaseId,
  NO_LEASE,
} from '../contract/kv.js'
import { OwnerCaller } from './owner-caller.js'
import { exactBytes, giveAway } from './port-bytes.js'
import { RemoteWatch } from './remote-watch.js'

export interface RemoteKVOptions {
  readonly port: MessagePort
  readonly clock?: Clock
}

export class RemoteKV implements KV {
  readonly #caller: OwnerCaller
  readonly #watches = new Set<RemoteWatch>()
  #lastWatch = 0
  #closed = false

  constructor(options: RemoteKVOptions) {
    this.#caller = new OwnerCaller(options.port, options.clock ?? systemClock)
  }

  start(): void {
    this.#caller.start()
  }

  get(key: string, options?: CallOptions): Promise<KvGetResult> {
    return this.#caller.call('get', { key }, options)
  }

  list(prefix: string, options: KvListOptions = {}): Promise<KvListResult> {
    const { startKey, limit = 0, revision = 0, keysOnly = false } = options
    return this.#caller.call('list', { prefix, startKey, limit, revision, keysOnly }, options)
  }

  count(prefix: string, options?: CallOptions): Promise<number> {
    return this.#caller.call('count', { prefix }, options)
  }

  optimisticPut(
    key: string,
    value: Uint8Array,
    expectedModRevision: number,
    options: KvWriteOptions = {},
  ): Promise<KvWriteResult> {
    const { lease = NO_LEASE, getOnFailure = false } = options
    const draft = options.draft === undefined ? undefined : portable(options.draft)
    const transfers: ArrayBuffer[] = []
    const bytes = exactBytes(value)
    giveAway(bytes, transfers)
    return this.#caller.call(
      'put',
      { key, value: bytes, expectedModRevision, lease, getOnFailure, draft },
      options,
      transfers,
    )
  }

  optimisticDelete(key: string, expectedModRevision: number, options: KvWriteOptions = {}): Promise<KvWriteResult> {
    const { getOnFailure = false } = options
    return this.#caller.call('delete', { key, expectedModRevision, getOnFailure }, options)
  }

  watch(options: KvWatchOptions): KvWatch {
    const watch = new RemoteWatch(this.#caller, ++this.#lastWatch, options, () => this.#watches.delete(watch))
    if (this.#closed) watch.close()
    else {
      this.#watches.add(watch)
      watch.start()
    }
    return watch
  }

  async requestProgress(): Promise<void> {
    await this.#caller.call('requestProgress', {})
  }

  grantLease(ttlSeconds: number, options?: CallOptions): Promise<LeaseId> {
    return this.#caller.call('grantLease', { ttlSeconds }, options)
  }

  currentRevision(options?: CallOptions): Promise<number> {
    return this.#caller.call('currentRevision', {}, options)
  }

  compactedRevision(): number {
    return this.#caller.compactedRevision
  }

  async compact(revision: number, options?: CallOptions): Promise<void> {
    await this.#caller.call('compact', { revision }, options)
  }

  databaseSizes(options?: CallOptions): Promise<{ endpoint: string; bytes: number }[]> {
    return this.#caller.call('databaseSizes', {}, options)
  }

  /** Closes this end only: the engine is its owner's. */
  async close(): Promise<void> {
    this.#closed = true
    for (const watch of [...this.#watches]) watch.close()
    this.#caller.stop()
  }
}

/** The draft with a copy of its body, which stays the caller's. */
const portable = (draft: RecordDraft): RecordDraft => ({ ...draft, body: exactBytes(draft.body) })
