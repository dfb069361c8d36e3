/** Thread: pool. A write between its begin hook and its end: what the hook took is kept, or given back, exactly once. */
import { isStorageError } from '../../storage/contract/errors.js'
import type { Finish } from './registry-store-options.js'

export class BegunWrite {
  #finish: Finish | undefined

  async begin(taking: Promise<Finish>): Promise<void> {
    this.#finish = await taking
  }

  /** Awaits the write itself. When nobody knows whether it happened, nothing is given back. */
  async writing<T>(write: Promise<T>): Promise<T> {
    try {
      return await write
    } catch (error) {
      if (isStorageError(error) && error.code === 'unreachable') this.#finish = undefined
      throw error
    }
  }

  /** Gives back or keeps what the hook took; later calls do nothing. */
  async settle(succeeded: boolean): Promise<void> {
    const finish = this.#finish
    this.#finish = undefined
    if (finish !== undefined) await finish(succeeded)
  }
}
