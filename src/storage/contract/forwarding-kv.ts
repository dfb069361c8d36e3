/** Thread: any. A KV that passes every call on to another one: the base of those that change a few calls. */
import type {
  CallOptions,
  KV,
  KvGetResult,
  KvListOptions,
  KvListResult,
  KvWatch,
  KvWatchOptions,
  KvWriteOptions,
  KvWriteResult,
  LeaseId,
} from './kv.js'

export class ForwardingKV<Inner extends KV = KV> implements KV {
  protected readonly inner: Inner

  constructor(inner: Inner) {
    this.inner = inner
  }

  get(key: string, options?: CallOptions): Promise<KvGetResult> {
    return this.inner.get(key, options)
  }

  list(prefix: string, options?: KvListOptions): Promise<KvListResult> {
    return this.inner.list(prefix, options)
  }

  count(prefix: string, options?: CallOptions): Promise<number> {
    return this.inner.count(prefix, options)
  }

  optimisticPut(key: string, value: Uint8Array, expected: number, options?: KvWriteOptions): Promise<KvWriteResult> {
    return this.inner.optimisticPut(key, value, expected, options)
  }

  optimisticDelete(key: string, expected: number, options?: KvWriteOptions): Promise<KvWriteResult> {
    return this.inner.optimisticDelete(key, expected, options)
  }

  watch(options: KvWatchOptions): KvWatch {
    return this.inner.watch(options)
  }

  requestProgress(): Promise<void> {
    return this.inner.requestProgress()
  }

  grantLease(ttlSeconds: number, options?: CallOptions): Promise<LeaseId> {
    return this.inner.grantLease(ttlSeconds, options)
  }

  currentRevision(options?: CallOptions): Promise<number> {
    return this.inner.currentRevision(options)
  }

  compactedRevision(): number {
    return this.inner.compactedRevision()
  }

  compact(revision: number, options?: CallOptions): Promise<void> {
    return this.inner.compact(revision, options)
  }

  databaseSizes(options?: CallOptions): Promise<{ endpoint: string; bytes: number }[]> {
    return this.inner.databaseSizes(options)
  }

  close(): Promise<void> {
    return this.inner.close()
  }
}
