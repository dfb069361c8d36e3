import { Deferred } from '#keelson/lib/deferred.js'
import { ForwardingKV } from '#keelson/storage/contract/forwarding-kv.js'
import type {
  CallOptions,
  KvListOptions,
  KvListResult,
  KvWatch,
  KvWatchBatch,
  KvWatchOptions,
} from '#keelson/storage/contract/kv.js'

/** A key-value store whose watches can be held back or broken, and whose answers can be held back or refused. */
export class GatedKV extends ForwardingKV {
  readonly watches: KvWatchOptions[] = []
  readonly lists: { prefix: string; revision: number }[] = []
  revisionQuestions = 0
  progressRequests = 0
  /** Called before a list is answered; may wait or throw. */
  beforeList: ((prefix: string, options: KvListOptions) => Promise<void> | void) | undefined
  /** Called after the revision was read and before it is told. */
  beforeRevision: (() => Promise<void> | void) | undefined
  #paused: Deferred<void> | undefined
  readonly #open = new Set<Deferred<never>>()

  /** Watches deliver nothing until resume(). */
  pause(): void {
    this.#paused ??= new Deferred()
  }

  resume(): void {
    this.#paused?.resolve()
    this.#paused = undefined
  }

  async #resumed(): Promise<void> {
    while (this.#paused !== undefined) await this.#paused.promise
  }

  breakWatches(error: Error): void {
    for (const broken of this.#open) broken.reject(error)
  }

  override async list(prefix: string, options: KvListOptions = {}): Promise<KvListResult> {
    this.lists.push({ prefix, revision: options.revision ?? 0 })
    await this.beforeList?.(prefix, options)
    return super.list(prefix, options)
  }

  override watch(options: KvWatchOptions): KvWatch {
    this.watches.push(options)
    const watch = super.watch(options)
    const broken = new Deferred<never>()
    broken.promise.catch(() => undefined)
    this.#open.add(broken)
    const next = async (): Promise<KvWatchBatch | undefined> => {
      await this.#resumed()
      const batch = await watch.next()
      await this.#resumed()
      return batch
    }
    return {
      established: watch.established,
      next: () => Promise.race([next(), broken.promise]),
      close: () => {
        this.#open.delete(broken)
        watch.close()
      },
    }
  }

  override async currentRevision(options?: CallOptions): Promise<number> {
    this.revisionQuestions++
    const revision = await super.currentRevision(options)
    await this.beforeRevision?.()
    return revision
  }

  override async requestProgress(): Promise<void> {
    this.progressRequests++
    await super.requestProgress()
  }
}
