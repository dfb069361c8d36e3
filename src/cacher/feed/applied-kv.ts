/**
 * Thread: owner. A store in this thread that tells nothing before memory has it: writes are acknowledged, and reads and
 * watches answered, once the clock has reached the revision they tell of. That is a matter of microtasks, since the
 * engine hands its commits to the reflector first; and it makes the clock the truth for everybody (ClockTruth), so that
 * linearizable reads from memory cost no question at all.
 */
import type {
  CallOptions,
  KvGetResult,
  KvListOptions,
  KvListResult,
  KvWatch,
  KvWatchOptions,
  KvWriteOptions,
  KvWriteResult,
  LeaseId,
} from '../../storage/contract/kv.js'
import type { LocalKV, LocalWatch } from '../../storage/contract/local-kv.js'

/** Undefined when there is nothing to wait for. */
export type AppliedGate = (revision: number) => Promise<void> | undefined

export class AppliedKV implements LocalKV {
  readonly #kv: LocalKV
  readonly #gate: AppliedGate

  constructor(kv: LocalKV, gate: AppliedGate) {
    this.#kv = kv
    this.#gate = gate
  }

  get(key: string, options?: CallOptions): Promise<KvGetResult> {
    return this.#applied(this.#kv.get(key, options))
  }

  list(prefix: string, options?: KvListOptions): Promise<KvListResult> {
    return this.#applied(this.#kv.list(prefix, options))
  }

  optimisticPut(key: string, value: Uint8Array, expected: number, options?: KvWriteOptions): Promise<KvWriteResult> {
    return this.#applied(this.#kv.optimisticPut(key, value, expected, options))
  }

  optimisticDelete(key: string, expected: number, options?: KvWriteOptions): Promise<KvWriteResult> {
    return this.#applied(this.#kv.optimisticDelete(key, expected, options))
  }

  async currentRevision(options?: CallOptions): Promise<number> {
    const revision = await this.#kv.currentRevision(options)
    await this.#gate(revision)
    return revision
  }

  watch(options: KvWatchOptions): KvWatch {
    return this.openWatch(options)
  }

  openWatch(options: KvWatchOptions): LocalWatch {
    const watch = this.#kv.openWatch(options)
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

  async count(prefix: string, options?: CallOptions): Promise<number> {
    const count = await this.#kv.count(prefix, options)
    await this.#gate(await this.#kv.currentRevision(options))
    return count
  }

  requestProgress(): Promise<void> {
    return this.#kv.requestProgress()
  }

  grantLease(ttlSeconds: number, options?: CallOptions): Promise<LeaseId> {
    return this.#kv.grantLease(ttlSeconds, options)
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

  async #applied<R extends { readonly revision: number }>(answer: Promise<R>): Promise<R> {
    const result = await answer
    const wait = this.#gate(result.revision)
    if (wait !== undefined) await wait
    return result
  }
}
