/**
 * Thread: any. One request and its answer on an HTTP/2 connection.
 *
 *   waiting ── the server allows one more ──▶ open ── both sides have ended ──▶ closed
 *      └───────── close(), reset, GOAWAY, the connection is lost ────────────────▲
 */
import { ErrorCode } from './frames.js'
import type { Headers } from './hpack.js'

export interface StreamHandlers {
  /** Called with the headers of the answer, then with its trailers. */
  onHeaders(headers: Headers): void
  onData(chunk: Buffer): void
  /** Called when the server has ended its side. */
  onEnd(): void
  /** Called once, last. `error` is the connection's; undefined when the stream ended by itself or by a reset. */
  onClose(error: Error | undefined): void
}

/** What a stream asks of its connection. */
export interface StreamCarrier {
  /** Says that the stream has something to send. */
  wants(stream: Http2Stream): void
  /** Says that so many bytes were taken: the server may send as many again. */
  consumed(stream: Http2Stream, bytes: number): void
  reset(stream: Http2Stream, code: number): void
  /** Says that the stream is over. */
  forget(stream: Http2Stream): void
}

export class Http2Stream {
  readonly headerBlock: Buffer
  /** The stream's number; 0 until the connection has sent its headers. */
  id = 0
  /** How many bytes the server lets us send now. */
  sendWindow = 0
  /** Bytes that were taken and for which the server has got no credit yet. */
  uncredited = 0
  /** The code with which the stream was reset, by the server or by us. */
  rstCode: number = ErrorCode.noError
  readonly #carrier: StreamCarrier
  readonly #handlers: StreamHandlers
  #pending: Buffer[] = []
  #localEnd: 'open' | 'ending' | 'ended' = 'open'
  #remoteEnded = false
  #closed = false
  #paused = false
  /** Data that came while the stream was paused, at most a window of it. */
  #held: Buffer[] = []
  #heldEnd = false

  constructor(headerBlock: Buffer, carrier: StreamCarrier, handlers: StreamHandlers) {
    this.headerBlock = headerBlock
    this.#carrier = carrier
    this.#handlers = handlers
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Whether there is something to send, now or when the window allows it. */
  get hasMore(): boolean {
    return this.#pending.length > 0
  }

  /** Takes bytes to send; they are the stream's from here on. */
  write(bytes: Buffer): void {
    if (this.#closed || this.#localEnd !== 'open') return
    this.#pending.push(bytes)
    this.#carrier.wants(this)
  }

  end(bytes: Buffer): void {
    if (this.#closed || this.#localEnd !== 'open') return
    this.#pending.push(bytes)
    this.#localEnd = 'ending'
    this.#carrier.wants(this)
  }

  /** Gives the handler nothing more until resume(). The server may fill the window, then it has to wait. */
  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
    while (!this.#paused && !this.#closed && this.#held.length > 0) this.#show(this.#held.shift()!)
    if (!this.#paused && this.#heldEnd && !this.#closed) {
      this.#heldEnd = false
      this.#showEnd()
    }
  }

  close(code: number): void {
    if (this.#closed) return
    this.rstCode = code
    if (this.id !== 0) this.#carrier.reset(this, code)
    this.finish(undefined)
  }

  /** Called by the connection: the stream is over. */
  finish(error: Error | undefined): void {
    if (this.#closed) return
    this.#closed = true
    this.#pending = []
    this.#held = []
    this.#carrier.forget(this)
    this.#handlers.onClose(error)
  }

  /** Called by the connection: the next bytes to send, at most so many; undefined when there is nothing that may go. */
  take(most: number): { readonly bytes: Buffer; readonly last: boolean } | undefined {
    const first = this.#pending[0]
    if (first === undefined) return undefined
    const room = Math.min(most, this.sendWindow)
    if (first.length > 0 && room <= 0) return undefined
    const bytes = first.length <= room ? first : first.subarray(0, room)
    if (bytes === first) this.#pending.shift()
    else this.#pending[0] = first.subarray(room)
    this.sendWindow -= bytes.length
    const last = this.#localEnd === 'ending' && this.#pending.length === 0
    if (last) this.#localEnd = 'ended'
    return { bytes, last }
  }

  receiveHeaders(headers: Headers, isLast: boolean): void {
    if (this.#closed) return
    this.#handlers.onHeaders(headers)
    if (isLast) this.receiveEnd()
  }

  receiveData(chunk: Buffer, isLast: boolean): void {
    if (this.#closed) return
    if (chunk.length > 0) {
      if (this.#paused) this.#held.push(chunk)
      else this.#show(chunk)
    }
    if (isLast) this.receiveEnd()
  }

  receiveEnd(): void {
    if (this.#closed) return
    if (this.#paused) this.#heldEnd = true
    else this.#showEnd()
  }

  #show(chunk: Buffer): void {
    this.#handlers.onData(chunk)
    if (!this.#closed) this.#carrier.consumed(this, chunk.length)
  }

  #showEnd(): void {
    if (this.#remoteEnded) return
    this.#remoteEnded = true
    this.#handlers.onEnd()
    if (this.#localEnd === 'ended') this.finish(undefined)
  }
}
