/** Thread: any. A store's calls, timed and counted. What is not called by stores goes through as it is. */
import type { Clock } from '../../lib/clock.js'
import type { StoreMetrics, StoreOperation } from '../../metrics/store-metrics.js'
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
} from '../contract/kv.js'

export class MeteredKV implements KV {
  readonly #kv: KV
  readonly #metrics: StoreMetrics
  readonly #clock: Clock

  constructor(kv: KV, metrics: StoreMetrics, clock: Clock) {
    this.#kv = kv
    this.#metrics = metrics
    this.#clock = clock
  }

  get(key: string, options?: CallOptions): Promise<KvGetResult> {
    return this.#timed('get', this.#kv.get(key, options))
  }

  list(prefix: string, options?: KvListOptions): Promise<KvListResult> {
    return this.#timed(options?.keysOnly === true ? 'listOnlyKeys' : 'list', this.#kv.list(prefix, options))
  }

  count(prefix: string, options?: CallOptions): Promise<number> {
    return this.#timed('listOnlyKeys', this.#kv.count(prefix, options))
  }

  optimisticPut(key: string, value: Uint8Array, expected: number, options?: KvWriteOptions): Promise<KvWriteResult> {
    return this.#timed(expected === 0 ? 'create' : 'update', this.#kv.optimisticPut(key, value, expected, options))
  }

  optimisticDelete(key: string, expected: number, options?: KvWriteOptions): Promise<KvWriteResult> {
    return this.#timed('delete', this.#kv.optimisticDelete(key, expected, options))
  }

  watch(options: KvWatchOptions): KvWatch {
    return this.#kv.watch(options)
  }

  requestProgress(): Promise<void> {
    return this.#kv.requestProgress()
  }

  grantLease(ttlSeconds: number, options?: CallOptions): Promise<LeaseId> {
    return this.#kv.grantLease(ttlSeconds, options)
  }

  currentRevision(options?: CallOptions): Promise<number> {
    return this.#kv.currentRevision(options)
  }

  compactedRevision(): number {
    return this.#kv.compactedRevision()
  }

  compact(revision: number, options?: CallOptions): Promise<void> {
    return this.#kv.compact(revision, options)
  }

  databaseSizes(options?: CallOptions): Promise<{ endpoint: string; bytes: number }[]> {
    return this.#kv.databaseSizes(options)
  }

  close(): Promise<void> {
    return this.#kv.close()
  }

  async #timed<T>(operation: StoreOperation, call: Promise<T>): Promise<T> {
    const started = this.#clock.monotonicMs()
    try {
      return await call
    } catch (error) {
      this.#metrics.failed(operation)
      throw error
    } finally {
      this.#metrics.called(operation, this.#clock.monotonicMs() - started)
    }
  }
}
