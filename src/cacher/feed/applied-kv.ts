/**
 * Thread: owner. The KV of the embedded engine for everybody but the reflector. It tells nothing before memory has it:
 * a write is acknowledged, and a read or watch answered, once the clock has reached the revision that the answer tells
 * of. This takes a few microtasks, since the engine hands its commits to the reflector first. It makes the clock the
 * truth (ClockTruth), so that linearizable reads from memory need no question to the store.
 */
import { ForwardingKV } from '../../storage/contract/forwarding-kv.js'
import type {
  CallOptions,
  KvGetResult,
  KvListOptions,
  KvListResult,
  KvWatch,
  KvWatchOptions,
  KvWriteOptions,
  KvWriteResult,
} from '../../storage/contract/kv.js'
import type { LocalKV, LocalWatch } from '../../storage/contract/local-kv.js'

/** Resolves when memory has the revision; undefined when it has it already. */
export type AppliedGate = (revision: number) => Promise<void> | undefined

export class AppliedKV extends ForwardingKV<LocalKV> implements LocalKV {
  readonly #gate: AppliedGate

  constructor(kv: LocalKV, gate: AppliedGate) {
    super(kv)
    this.#gate = gate
  }

  override get(key: string, options?: CallOptions): Promise<KvGetResult> {
    return this.#applied(super.get(key, options))
  }

  override list(prefix: string, options?: KvListOptions): Promise<KvListResult> {
    return this.#applied(super.list(prefix, options))
  }

  override optimisticPut(
    key: string,
    value: Uint8Array,
    expected: number,
    options?: KvWriteOptions,
  ): Promise<KvWriteResult> {
    return this.#applied(super.optimisticPut(key, value, expected, options))
  }

  override optimisticDelete(key: string, expected: number, options?: KvWriteOptions): Promise<KvWriteResult> {
    return this.#applied(super.optimisticDelete(key, expected, options))
  }

  override async currentRevision(options?: CallOptions): Promise<number> {
    const revision = await super.currentRevision(options)
    await this.#gate(revision)
    return revision
  }

  override watch(options: KvWatchOptions): KvWatch {
    return this.openWatch(options)
  }

  openWatch(options: KvWatchOptions): LocalWatch {
    const watch = this.inner.openWatch(options)
    return {
      established: watch.established,
      next: async () => {
        const batch = await watch.next()
        if (batch !== undefined) await this.#gate(batch.revision)
        return batch
      },
      requestProgress: () => watch.requestProgress(),
      close: () => watch.close(),
    }
  }

  override async count(prefix: string, options?: CallOptions): Promise<number> {
    const count = await super.count(prefix, options)
    await this.#gate(await super.currentRevision(options))
    return count
  }

  async #applied<R extends { readonly revision: number }>(answer: Promise<R>): Promise<R> {
    const result = await answer
    const wait = this.#gate(result.revision)
    if (wait !== undefined) await wait
    return result
  }
}
