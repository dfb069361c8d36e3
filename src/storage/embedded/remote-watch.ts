/** Thread: pool. One watch over the port: asks for a batch when its consumer does. */
import { isStorageError } from '../contract/errors.js'
import type { KvWatch, KvWatchBatch, KvWatchOptions } from '../contract/kv.js'
import type { OwnerCaller } from './owner-caller.js'

export class RemoteWatch implements KvWatch {
  readonly established: Promise<void>
  readonly #caller: OwnerCaller
  readonly #id: number
  readonly #options: KvWatchOptions
  readonly #onClose: () => void
  readonly #abort = (): void => this.close()
  #closed = false
  #settleClosed!: () => void
  readonly #whenClosed = new Promise<undefined>((resolve) => {
    this.#settleClosed = () => resolve(undefined)
  })

  constructor(caller: OwnerCaller, id: number, options: KvWatchOptions, onClose: () => void) {
    this.#caller = caller
    this.#id = id
    this.#options = options
    this.#onClose = onClose
    const { key, prefix, startRevision, progressNotify = false } = options
    // Posted at the end of the turn, and before any pull: the owner takes calls in order.
    this.established = caller.call('openWatch', { watch: id, key, prefix, startRevision, progressNotify })
    // A consumer that only pulls learns it from next(); its own handlers still see the rejection.
    this.established.catch(() => undefined)
  }

  start(): void {
    const { signal } = this.#options
    signal?.addEventListener('abort', this.#abort, { once: true })
    if (signal?.aborted) this.close()
  }

  async next(): Promise<KvWatchBatch | undefined> {
    if (this.#closed) return undefined
    const pull = this.#caller.call('pullWatch', { watch: this.#id })
    try {
      const batch = await Promise.race([pull, this.#whenClosed])
      // Closed while a batch was on its way: nobody wants it any more.
      if (this.#closed) return undefined
      if (batch === undefined) this.close()
      return batch
    } catch (error) {
      if (this.#closed) return undefined
      if (isStorageError(error, 'too-old')) this.close()
      throw error
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#options.signal?.removeEventListener('abort', this.#abort)
    this.#onClose()
    this.#settleClosed()
    // When the port is gone, so is the watch.
    this.#caller.call('closeWatch', { watch: this.#id }).catch(() => undefined)
  }
}
