/** Thread: any. Calls in both directions over one port, by the method maps of a protocol file. */
import type { Transferable } from 'node:worker_threads'
import { PendingCalls } from '../../lib/pending-calls.js'
import { fromErrorRecord, toErrorRecord } from '../../protocol/error-record.js'
import type { CallMessage } from '../../protocol/main-front-end.js'
import { type Caller, RemoteCaller } from './caller.js'

type Transfer = readonly Transferable[]
// biome-ignore lint/suspicious/noExplicitAny: the bound of a method map; each map says its own types
export type Calls = { [method: string]: (input: any) => unknown }

/** What one side of the port does for each method that the other side may call. */
export type CallHandlers<C extends Calls> = {
  [K in keyof C]: (input: Parameters<C[K]>[0], caller: Caller) => Promise<ReturnType<C[K]>> | ReturnType<C[K]>
}

export interface CallPort {
  postMessage(message: CallMessage, transfer?: Transferable[]): void
}

export interface PortCallsOptions<In extends Calls> {
  readonly port: CallPort
  readonly handlers: CallHandlers<In>
  /** The parts of a result that are moved to the other thread instead of copied. */
  readonly transferOf?: (result: unknown) => Transfer
}

export class PortCalls<Out extends Calls, In extends Calls> {
  readonly #options: PortCallsOptions<In>
  readonly #waiting = new PendingCalls<unknown>()
  readonly #serving = new Map<number, RemoteCaller>()
  #ended: Error | undefined

  constructor(options: PortCallsOptions<In>) {
    this.#options = options
  }

  call<K extends keyof Out & string>(
    method: K,
    input: Parameters<Out[K]>[0],
    { transfer = [], caller }: { readonly transfer?: Transfer; readonly caller?: Caller | undefined } = {},
  ): Promise<ReturnType<Out[K]>> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended)
    const id = this.#waiting.nextId()
    const reply = this.#waiting.wait(id)
    const { port } = this.#options
    port.postMessage({ type: 'call', id, method, input }, [...transfer])
    caller?.onGone(() => {
      if (this.#waiting.has(id)) port.postMessage({ type: 'cancel', id })
    })
    return reply as Promise<ReturnType<Out[K]>>
  }

  /** Must be given every message of the port; false when the message is no call and no answer to one. */
  take(message: CallMessage): boolean {
    switch (message.type) {
      case 'call':
        void this.#serve(message)
        return true
      case 'cancel':
        this.#serving.get(message.id)?.leave()
        return true
      case 'reply':
        this.#waiting.resolve(message.id, message.result)
        return true
      case 'error':
        this.#waiting.reject(message.id, fromErrorRecord(message.error))
        return true
      default:
        return false
    }
  }

  /** Called when the other side is gone: rejects what waits for it and cancels what it had asked for. */
  end(error: Error): void {
    this.#ended = error
    this.#waiting.rejectAll(error)
    for (const caller of this.#serving.values()) caller.leave()
  }

  async #serve({ id, method, input }: CallMessage & { type: 'call' }): Promise<void> {
    const { port, handlers, transferOf } = this.#options
    const caller = new RemoteCaller()
    this.#serving.set(id, caller)
    try {
      const result: unknown = await handlers[method]!(input, caller)
      port.postMessage({ type: 'reply', id, result }, [...(transferOf?.(result) ?? [])])
    } catch (error) {
      port.postMessage({ type: 'error', id, error: toErrorRecord(error) })
    } finally {
      this.#serving.delete(id)
    }
  }
}
