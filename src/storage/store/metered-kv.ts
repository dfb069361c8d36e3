/** Thread: any. A KV whose reads and writes are timed and counted, as calls of a KVStore. */
import type { Clock } from '../../lib/clock.js'
import type { StoreMetrics, StoreOperation } from '../../metrics/store-metrics.js'
import { ForwardingKV } from '../contract/forwarding-kv.js'
import type {
  CallOptions,
  KV,
  KvGetResult,
  KvListOptions,
  KvListResult,
  KvWriteOptions,
  KvWriteResult,
} from '../contract/kv.js'

export class MeteredKV extends ForwardingKV {
  readonly #metrics: StoreMetrics
  readonly #clock: Clock

  constructor(kv: KV, metrics: StoreMetrics, clock: Clock) {
    super(kv)
    this.#metrics = metrics
    this.#clock = clock
  }

  override get(key: string, options?: CallOptions): Promise<KvGetResult> {
    return this.#timed('get', super.get(key, options))
  }

  override list(prefix: string, options?: KvListOptions): Promise<KvListResult> {
    return this.#timed(options?.keysOnly === true ? 'listOnlyKeys' : 'list', super.list(prefix, options))
  }

  override count(prefix: string, options?: CallOptions): Promise<number> {
    return this.#timed('listOnlyKeys', super.count(prefix, options))
  }

  override optimisticPut(
    key: string,
    value: Uint8Array,
    expected: number,
    options?: KvWriteOptions,
  ): Promise<KvWriteResult> {
    return this.#timed(expected === 0 ? 'create' : 'update', super.optimisticPut(key, value, expected, options))
  }

  override optimisticDelete(key: string, expected: number, options?: KvWriteOptions): Promise<KvWriteResult> {
    return this.#timed('delete', super.optimisticDelete(key, expected, options))
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
