/**
 * Thread: pool. The calling end of pool-owner.ts: gathers the calls of a turn into one message and settles them
 * when their replies come. When the other end is gone, everything outstanding is `unreachable`: a write may have happened.
 */
import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '../../lib/clock.js'
import { PendingCalls } from '../../lib/pending-calls.js'
import { fromErrorRecord } from '../../protocol/error-record.js'
import type {
  OwnerCall,
  OwnerCalls,
  OwnerInput,
  OwnerMethod,
  OwnerReplies,
  OwnerResult,
} from '../../protocol/pool-owner.js'
import { StorageError } from '../contract/errors.js'
import type { CallOptions } from '../contract/kv.js'

export class OwnerCaller {
  readonly #port: MessagePort
  readonly #clock: Clock
  readonly #pending = new PendingCalls<unknown>()
  readonly #onMessage = (message: OwnerReplies): void => this.#settle(message)
  readonly #onClose = (): void => this.#end('the owner thread is gone')
  #calls: OwnerCall[] = []
  #transfers: ArrayBuffer[] = []
  #compactedRevision = 0
  #ended: string | undefined

  constructor(port: MessagePort, clock: Clock) {
    this.#port = port
    this.#clock = clock
  }

  start(): void {
    this.#port.on('message', this.#onMessage)
    this.#port.on('close', this.#onClose)
  }

  /** Sends nothing more; the owner closes the watches that this end had open. */
  stop(): void {
    this.#end('this KV is closed')
    this.#port.off('message', this.#onMessage)
    this.#port.off('close', this.#onClose)
    this.#port.close()
  }

  get compactedRevision(): number {
    return this.#compactedRevision
  }

  call<K extends OwnerMethod>(
    method: K,
    input: OwnerInput<K>,
    options: CallOptions = {},
    transfers: readonly ArrayBuffer[] = [],
  ): Promise<OwnerResult<K>> {
    if (this.#ended !== undefined) return Promise.reject(new StorageError('not-ready', this.#ended))
    if (options.signal?.aborted)
      return Promise.reject(new StorageError('unreachable', 'the caller gave up before the call'))
    const id = this.#pending.nextId()
    const cancellable = options.signal !== undefined || options.timeoutMs !== undefined
    const release = cancellable ? this.#limit(id, options) : undefined
    this.#transfers.push(...transfers)
    this.#enqueue({ id, method, input, cancellable } as OwnerCall)
    return this.#pending.wait(id, release) as Promise<OwnerResult<K>>
  }

  /** Gives the call up when its signal aborts or its time is over. The function it returns ends both. */
  #limit(id: number, { signal, timeoutMs }: CallOptions): () => void {
    const onAbort = (): void => this.#giveUp(id, 'the caller gave up')
    signal?.addEventListener('abort', onAbort, { once: true })
    const timer =
      timeoutMs === undefined
        ? undefined
        : this.#clock.after(timeoutMs, () => this.#giveUp(id, `no answer in ${timeoutMs} ms`))
    return () => {
      signal?.removeEventListener('abort', onAbort)
      timer?.cancel()
    }
  }

  #giveUp(id: number, why: string): void {
    if (!this.#pending.reject(id, new StorageError('unreachable', why))) return
    this.#enqueue({ id: this.#pending.nextId(), method: 'cancel', input: { call: id }, cancellable: false })
  }

  #enqueue(call: OwnerCall): void {
    // Sent at the end of the turn, so that all calls of the turn share a message, and most of them a commit (ADR 31).
    if (this.#calls.push(call) === 1) setImmediate(() => this.#flush())
  }

  #flush(): void {
    if (this.#ended !== undefined) return
    const message: OwnerCalls = { calls: this.#calls }
    const transfers = this.#transfers
    this.#calls = []
    this.#transfers = []
    this.#port.postMessage(message, transfers)
  }

  #settle({ replies, written, compactedRevision }: OwnerReplies): void {
    this.#compactedRevision = Math.max(this.#compactedRevision, compactedRevision)
    for (let i = 0; i < written.length; i += 2)
      this.#pending.resolve(written[i]!, { succeeded: true, revision: written[i + 1]!, kv: undefined })
    for (const reply of replies) {
      if ('error' in reply) this.#pending.reject(reply.id, fromErrorRecord(reply.error))
      else this.#pending.resolve(reply.id, reply.result)
    }
  }

  #end(why: string): void {
    if (this.#ended !== undefined) return
    this.#ended = why
    this.#pending.rejectAll(new StorageError('unreachable', why))
  }
}
