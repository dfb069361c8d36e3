/** Thread: pool. A KV that marks when a request's write was handed to the storage and when the storage had it. */
import type { StageTimes } from '../../protocol/stage-times.js'
import { ForwardingKV } from '../../storage/contract/forwarding-kv.js'
import type { CallOptions, KV, KvWriteOptions, KvWriteResult } from '../../storage/contract/kv.js'
import { RequestCancellation } from './requests-under-way.js'

export class TracedKV extends ForwardingKV {
  readonly #times: StageTimes

  constructor(kv: KV, times: StageTimes) {
    super(kv)
    this.#times = times
  }

  override optimisticPut(
    key: string,
    value: Uint8Array,
    expected: number,
    options?: KvWriteOptions,
  ): Promise<KvWriteResult> {
    return this.#marked(options, () => super.optimisticPut(key, value, expected, options))
  }

  override optimisticDelete(key: string, expected: number, options?: KvWriteOptions): Promise<KvWriteResult> {
    return this.#marked(options, () => super.optimisticDelete(key, expected, options))
  }

  #marked(options: CallOptions | undefined, write: () => Promise<KvWriteResult>): Promise<KvWriteResult> {
    const signal = options?.signal
    if (!this.#times.on || !(signal instanceof RequestCancellation)) return write()
    this.#times.mark(signal.slot, 'handed')
    return write().finally(() => this.#times.mark(signal.slot, 'stored'))
  }
}
