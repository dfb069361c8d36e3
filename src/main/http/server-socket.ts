/**
 * Thread: main. A WebSocket to a client, over a connection that may be slow or go away.
 *
 *   opening ──opened()──▶ open ──close() or the client──▶ closed
 *
 * A listener must take every message that comes: no engine can stop reading from a WebSocket (uWebSockets.js offers no
 * way).
 */

/** A WebSocket as an engine offers it. The caller may reuse the memory of a message once send() has returned. */
export interface SocketPort {
  /**
   * Gives 1 when the message was sent, 0 when it waits in memory, and 2 when it was dropped, which happens only with a
   * limit of backpressure; none is set here.
   */
  send(message: Uint8Array | string, isBinary: boolean): number
  end(code?: number, reason?: string): unknown
  getBufferedAmount(): number
}

export interface SocketListener {
  /** Called with each message; the listener owns the bytes. */
  message(data: Uint8Array, isBinary: boolean): void
  drain(): void
  close(code: number, reason: string): void
}

/** When a client has not taken so many bytes, a sender should wait. */
const HIGH_WATER_BYTES = 256 * 1024

export class ServerSocket {
  readonly #onSent: (bytes: number) => void
  readonly #onEnd: () => void
  readonly #onFailure: (error: unknown) => void
  #port: SocketPort | undefined
  #listener: SocketListener | undefined
  #closed: { readonly code: number; readonly reason: string } | undefined
  #early: { readonly data: Uint8Array; readonly isBinary: boolean }[] = []

  /** `onFailure` is told of an exception in a listener. */
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

  /**
   * Sends a message. False when the client does not keep up: the message is sent all the same, and the caller should
   * wait for `drain`.
   */
  send(data: Uint8Array | string, isBinary: boolean): boolean {
    if (this.#port === undefined) return true
    this.#onSent(data.length)
    this.#port.send(data, isBinary)
    // The port is looked at again, because sending may have found that the client is gone.
    return this.#port === undefined || this.#port.getBufferedAmount() < HIGH_WATER_BYTES
  }

  close(code: number, reason: string): void {
    // These codes say that there was no code, or no TLS; they must not be sent.
    if (code === 1005 || code === 1006 || code === 1015) this.#port?.end()
    else this.#port?.end(code, reason)
  }

  // The engine calls the methods below.

  opened(port: SocketPort): void {
    this.#port = port
  }

  /** The message is copied, because the engine reuses its memory once this method returns. */
  received(message: Uint8Array, isBinary: boolean): void {
    const data = new Uint8Array(message)
    if (this.#listener === undefined) this.#early.push({ data, isBinary })
    else this.#attempt(() => this.#listener?.message(data, isBinary))
  }

  drained(): void {
    if (this.#port !== undefined && this.#port.getBufferedAmount() < HIGH_WATER_BYTES)
      this.#attempt(() => this.#listener?.drain())
  }

  closed(code: number, reason: string): void {
    this.#port = undefined
    this.#closed = { code, reason }
    this.#attempt(() => this.#listener?.close(code, reason))
    this.#attempt(this.#onEnd)
  }

  /** Runs a listener. Its exceptions must not reach the engine that called, where they would end the process. */
  #attempt(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.#onFailure(error)
    }
  }
}
