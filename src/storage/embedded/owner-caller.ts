/**
 * Thread: pool. The calling end of pool-owner.ts: gathers the calls of a turn into one message and settles them when
 * their replies come. When the other end is gone, everything outstanding is `unreachable`: a write may have happened.
 */
import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '../../lib/clock.js'
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

interface Pending {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
  /** What is listened to and timed until the reply comes; undefined for calls that nobody gives up. */
  readonly release: (() => void) | undefined
}

export class OwnerCaller {
  readonly #port: MessagePort
  readonly #clock: Clock
  readonly #pending = new Map<number, Pending>()
  readonly #onMessage = (message: OwnerReplies): void => this.#settle(message)
  readonly #onClose = (): void => this.#end('the owner thread is gone')
  #lastId = 0
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

  /** Sends nothing more; the other end closes what this one had open. */
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
    const id = ++this.#lastId
    const cancellable = options.signal !== undefined || options.timeoutMs !== undefined
    const release = cancellable ? this.#limit(id, options) : undefined
    this.#transfers.push(...transfers)
    this.#enqueue({ id, method, input, cancellable } as OwnerCall)
    return new Promise<OwnerResult<K>>((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (result: unknown) => void, reject, release })
    })
  }

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
    const pending = this.#take(id)
    if (pending === undefined) return
    this.#enqueue({ id: ++this.#lastId, method: 'cancel', input: { call: id }, cancellable: false })
    pending.reject(new StorageError('unreachable', why))
  }

  #enqueue(call: OwnerCall): void {
    // At the end of the turn, so that whoever else calls in it shares the message.
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
      this.#take(written[i]!)?.resolve({ succeeded: true, revision: written[i + 1]!, kv: undefined })
    for (const reply of replies) {
      const pending = this.#take(reply.id)
      if ('error' in reply) pending?.reject(fromErrorRecord(reply.error))
      else pending?.resolve(reply.result)
    }
  }

  /** Undefined when the caller has given up. */
  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    pending?.release?.()
    return pending
  }

  #end(why: string): void {
    if (this.#ended !== undefined) return
    this.#ended = why
    for (const id of [...this.#pending.keys()]) this.#take(id)?.reject(new StorageError('unreachable', why))
  }
}
