/**
 * Thread: any. One request and its answer on an HTTP/2 connection.
 *
 *   waiting ── the server allows one more ──▶ open ── both sides have ended ──▶ closed
 *      └───────── close(), reset, GOAWAY, the connection is lost ────────────────▲
 */
import { ErrorCode } from './frames.js'
import type { Headers } from './hpack.js'

export interface StreamHandlers {
  /** The answer's, then its trailers. */
  onHeaders(headers: Headers): void
  onData(chunk: Buffer): void
  /** The server will send nothing more. */
  onEnd(): void
  /** Called once, last. `error`: the connection's; undefined when the stream ended by itself or by a reset. */
  onClose(error: Error | undefined): void
}

/** What a stream asks of its connection. */
export interface StreamCarrier {
  /** There is something to send. */
  wants(stream: Http2Stream): void
  /** So many bytes were taken: the server may send as many again. */
  consumed(stream: Http2Stream, bytes: number): void
  reset(stream: Http2Stream, code: number): void
  /** It is over. */
  forget(stream: Http2Stream): void
}

export class Http2Stream {
  readonly headerBlock: Buffer
  /** 0 until the connection has sent its headers. */
  id = 0
  /** What the server allows to be sent now. */
  sendWindow = 0
  /** Taken and not yet given back. */
  uncredited = 0
  /** Why it was reset, by the server or by us. */
  rstCode: number = ErrorCode.noError
  readonly #carrier: StreamCarrier
  readonly #handlers: StreamHandlers
  #pending: Buffer[] = []
  #localEnd: 'open' | 'ending' | 'ended' = 'open'
  #remoteEnded = false
  #closed = false
  #paused = false
  /** What came while it was paused, at most a window. */
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

  /** There is something to send, now or later. */
  get hasMore(): boolean {
    return this.#pending.length > 0
  }

  /** The bytes are the stream's from here on. */
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

  /** Nothing more is shown; the server may fill the window and then has to wait. */
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

  /** For the connection: nothing more will come of it. */
  finish(error: Error | undefined): void {
    if (this.#closed) return
    this.#closed = true
    this.#pending = []
    this.#held = []
    this.#carrier.forget(this)
    this.#handlers.onClose(error)
  }

  /** For the connection: the next bytes to send, at most so many; undefined when there is nothing that may go. */
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
