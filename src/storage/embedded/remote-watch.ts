/** Thread: pool. One watch over the port. It asks the owner for a batch only when its consumer asks for one. */
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
    // The call is posted at the end of the turn, before any pull: the owner takes calls in order.
    this.established = caller.call('openWatch', { watch: id, key, prefix, startRevision, progressNotify })
    // A consumer that only pulls hears of the failure from next(); `established` must not count as unhandled then.
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
      // The watch was closed while the batch was on its way.
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
    // When the port is gone, the owner has closed the watch.
    this.#caller.call('closeWatch', { watch: this.#id }).catch(() => undefined)
  }
}
