import type {
  CallOptions,
  KV,
  KvListOptions,
  KvWatchOptions,
  KvWriteOptions,
  KvWriteResult,
  LeaseId,
} from '#keelson/storage/contract/kv.js'

/** What was asked of a key-value store. */
export interface KvReads {
  gets: number
  lists: { prefix: string; limit: number; revision: number }[]
}

/** Passes everything on. Base of those that count, delay or fail calls. */
export class ForwardingKV implements KV {
  protected readonly inner: KV

  constructor(inner: KV) {
    this.inner = inner
  }
  get(key: string, options?: CallOptions) {
    return this.inner.get(key, options)
  }
  list(prefix: string, options?: KvListOptions) {
    return this.inner.list(prefix, options)
  }
  count(prefix: string, options?: CallOptions) {
    return this.inner.count(prefix, options)
  }
  optimisticPut(
    key: string,
    value: Uint8Array,
    expectedModRevision: number,
    options?: KvWriteOptions,
  ): Promise<KvWriteResult> {
    return this.inner.optimisticPut(key, value, expectedModRevision, options)
  }
  optimisticDelete(key: string, expectedModRevision: number, options?: KvWriteOptions): Promise<KvWriteResult> {
    return this.inner.optimisticDelete(key, expectedModRevision, options)
  }
  watch(options: KvWatchOptions) {
    return this.inner.watch(options)
  }
  requestProgress() {
    return this.inner.requestProgress()
  }
  grantLease(ttlSeconds: number, options?: CallOptions): Promise<LeaseId> {
    return this.inner.grantLease(ttlSeconds, options)
  }
  currentRevision(options?: CallOptions) {
    return this.inner.currentRevision(options)
  }
  compactedRevision() {
    return this.inner.compactedRevision()
  }
  compact(revision: number, options?: CallOptions) {
    return this.inner.compact(revision, options)
  }
  databaseSizes(options?: CallOptions) {
    return this.inner.databaseSizes(options)
  }
  close() {
    return this.inner.close()
  }
}

/** Counts reads. */
export class CountingKV extends ForwardingKV {
  readonly reads: KvReads = { gets: 0, lists: [] }

  override get(key: string, options?: CallOptions) {
    this.reads.gets++
    return super.get(key, options)
  }

  override list(prefix: string, options: KvListOptions = {}) {
    this.reads.lists.push({ prefix, limit: options.limit ?? 0, revision: options.revision ?? 0 })
    return super.list(prefix, options)
  }
}
