import { StorageError } from '#keelson/storage/contract/errors.js'
import { ForwardingKV } from '#keelson/storage/contract/forwarding-kv.js'
import type {
  CallOptions,
  KvListOptions,
  KvWatch,
  KvWatchOptions,
  KvWriteOptions,
  KvWriteResult,
} from '#keelson/storage/contract/kv.js'

export type KvCall = 'get' | 'list' | 'put' | 'delete' | 'watch'

/** `before`: nothing happened. `after`: it happened, and the answer was lost. */
export interface Fault {
  readonly call: KvCall
  readonly when: 'before' | 'after'
  readonly error?: Error
}

/** A key-value store whose next calls fail as told, in order, and that keeps a log of its calls. */
export class FaultyKV extends ForwardingKV {
  readonly calls: KvCall[] = []
  #faults: Fault[] = []
  /** Runs before a call is passed on. */
  interfere: (call: KvCall) => Promise<void> | void = () => undefined
  /** The options of the last write. */
  lastWrite: KvWriteOptions | undefined
  watchesOpen = 0

  failNext(...faults: Fault[]): void {
    this.#faults.push(...faults)
  }

  override get(key: string, options?: CallOptions) {
    return this.#call('get', () => super.get(key, options))
  }

  override list(prefix: string, options?: KvListOptions) {
    return this.#call('list', () => super.list(prefix, options))
  }

  override optimisticPut(key: string, value: Uint8Array, expected: number, options?: KvWriteOptions) {
    this.lastWrite = options
    return this.#call<KvWriteResult>('put', () => super.optimisticPut(key, value, expected, options))
  }

  override optimisticDelete(key: string, expected: number, options?: KvWriteOptions) {
    this.lastWrite = options
    return this.#call<KvWriteResult>('delete', () => super.optimisticDelete(key, expected, options))
  }

  /** A fault comes with the batch after the watch was established. */
  override watch(options: KvWatchOptions): KvWatch {
    this.calls.push('watch')
    this.watchesOpen++
    const inner = super.watch(options)
    const take = () => this.#take('watch')
    let open = true
    return {
      established: inner.established,
      next: async () => {
        const batch = await inner.next()
        const fault = take()
        if (fault !== undefined) throw faultError(fault)
        return batch
      },
      close: () => {
        if (open) this.watchesOpen--
        open = false
        inner.close()
      },
    }
  }

  async #call<R>(call: KvCall, run: () => Promise<R>): Promise<R> {
    this.calls.push(call)
    await this.interfere(call)
    const fault = this.#take(call)
    if (fault?.when === 'before') throw faultError(fault)
    const result = await run()
    if (fault !== undefined) throw faultError(fault)
    return result
  }

  #take(call: KvCall): Fault | undefined {
    if (this.#faults[0]?.call !== call) return undefined
    return this.#faults.shift()
  }
}

function faultError(fault: Fault): Error {
  return fault.error ?? new StorageError('unreachable', 'nothing answered in time')
}
