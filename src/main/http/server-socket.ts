/**
 * Thread: main. A WebSocket to a client, over a connection that may be slow or go away.
 *
 *   opening ──opened()──▶ open ──close() or the client──▶ closed
 *
 * uWebSockets.js cannot stop reading from a WebSocket: who receives must take what comes.
 */

/** What is used of uWebSockets.js' WebSocket. */
export interface SocketPort {
  /** 1: sent, 0: it waits in memory, 2: dropped, which only a limit of backpressure does. */
  send(message: Uint8Array | string, isBinary: boolean): number
  end(code?: number, reason?: string): unknown
  getBufferedAmount(): number
}

export interface SocketListener {
  /** The bytes are the listener's own. */
  message(data: Uint8Array, isBinary: boolean): void
  drain(): void
  close(code: number, reason: string): void
}

/** Beyond so many bytes that a client has not taken, who sends should wait. */
const HIGH_WATER_BYTES = 256 * 1024

export class ServerSocket {
  readonly #onSent: (bytes: number) => void
  readonly #onEnd: () => void
  readonly #onFailure: (error: unknown) => void
  #port: SocketPort | undefined
  #listener: SocketListener | undefined
  #closed: { readonly code: number; readonly reason: string } | undefined
  #early: { readonly data: Uint8Array; readonly isBinary: boolean }[] = []

  /** `onFailure`: a listener threw. */
  constructor(onSent: (bytes: number) => void, onEnd: () => void, onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure
    this.#onSent = onSent
    this.#onEnd = onEnd
  }

  get isOpen(): boolean {
    return this.#port !== undefined
  }

  listen(listener: SocketListener): void {
    this.#listener = listener
    const early = this.#early
    this.#early = []
    for (const { data, isBinary } of early) listener.message(data, isBinary)
    if (this.#closed !== undefined) listener.close(this.#closed.code, this.#closed.reason)
  }

  /** False: the client does not keep up; wait for `drain`. What was given is sent all the same. */
  send(data: Uint8Array | string, isBinary: boolean): boolean {
    if (this.#port === undefined) return true
    this.#onSent(data.length)
    this.#port.send(data, isBinary)
    // Sending may have found the client gone.
    return this.#port === undefined || this.#port.getBufferedAmount() < HIGH_WATER_BYTES
  }

  close(code: number, reason: string): void {
    // Codes that stand for the absence of one may not be sent.
    if (code === 1005 || code === 1006 || code === 1015) this.#port?.end()
    else this.#port?.end(code, reason)
  }

  // What follows is called by the listener's side.

  opened(port: SocketPort): void {
    this.#port = port
  }

  received(message: ArrayBuffer, isBinary: boolean): void {
    const data = new Uint8Array(message.slice(0))
    if (this.#listener === undefined) this.#early.push({ data, isBinary })
    else this.#attempt(() => this.#listener?.message(data, isBinary))
  }

  drained(): void {
    if (this.#port !== undefined && this.#port.getBufferedAmount() < HIGH_WATER_BYTES)
      this.#attempt(() => this.#listener?.drain())
  }

  closed(code: number, reason: ArrayBuffer): void {
    this.#port = undefined
    this.#closed = { code, reason: Buffer.from(reason).toString() }
    const { reason: text } = this.#closed
    this.#attempt(() => this.#listener?.close(code, text))
    this.#attempt(this.#onEnd)
  }

  /** uWebSockets.js calls this side, and an exception that reaches it ends the process. */
  #attempt(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#onFailure(error)
    }
  }
}
