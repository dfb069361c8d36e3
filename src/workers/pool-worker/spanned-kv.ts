/** Thread: pool. A KV whose calls are spans of the request that they are made for. Calls of no recorded request are passed on. */
import { ForwardingKV } from '../../storage/contract/forwarding-kv.js'
import type {
  CallOptions,
  KV,
  KvGetResult,
  KvListOptions,
  KvListResult,
  KvWriteOptions,
  KvWriteResult,
} from '../../storage/contract/kv.js'
import type { StorageType } from '../../storage/factory/storage-config.js'
import { type SpanAttributes, SpanKind } from '../../tracing/span.js'
import type { Tracer } from '../../tracing/tracer.js'

export class SpannedKV extends ForwardingKV {
  readonly #tracer: Tracer
  readonly #type: StorageType

  constructor(kv: KV, tracer: Tracer, type: StorageType) {
    super(kv)
    this.#tracer = tracer
    this.#type = type
  }

  override get(key: string, options?: CallOptions): Promise<KvGetResult> {
    return this.#traced('Get', { key }, () => super.get(key, options))
  }

  override list(prefix: string, options?: KvListOptions): Promise<KvListResult> {
    return this.#traced('List', { key: prefix }, () => super.list(prefix, options))
  }

  override count(prefix: string, options?: CallOptions): Promise<number> {
    return this.#traced('Count', { key: prefix }, () => super.count(prefix, options))
  }

  override optimisticPut(
    key: string,
    value: Uint8Array,
    expected: number,
    options?: KvWriteOptions,
  ): Promise<KvWriteResult> {
    const attributes = { key, bytes: value.byteLength }
    return this.#traced(expected === 0 ? 'Create' : 'Update', attributes, () =>
      super.optimisticPut(key, value, expected, options),
    )
  }

  override optimisticDelete(key: string, expected: number, options?: KvWriteOptions): Promise<KvWriteResult> {
    return this.#traced('Delete', { key }, () => super.optimisticDelete(key, expected, options))
  }

  #traced<T>(operation: string, attributes: SpanAttributes, call: () => Promise<T>): Promise<T> {
    return this.#tracer.step(`${operation} ${this.#type}`, { kind: SpanKind.client, attributes }, call)
  }
}
