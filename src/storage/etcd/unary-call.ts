/** Thread: any. One gRPC call with one reply on an HTTP/2 stream: deadline, cancellation, status. */
import type { CancelSignal } from '../../lib/cancellation.js'
import type { Clock, Timer } from '../../lib/clock.js'
import { GrpcError, GrpcStatus, percentDecoded } from '../grpc/grpc-error.js'
import { GrpcFramer } from '../grpc/grpc-framer.js'
import { ErrorCode } from './http2/frames.js'
import type { Headers } from './http2/hpack.js'
import type { Http2Stream, StreamHandlers } from './http2/stream.js'

export interface UnaryOptions {
  readonly timeoutMs: number
  readonly signal?: CancelSignal | undefined
  /** A larger reply is refused as soon as its length is known, before it is received. */
  readonly maxReplyBytes?: number
}

export class UnaryCall implements StreamHandlers {
  #stream: Http2Stream | undefined
  readonly #resolve: (reply: Buffer) => void
  readonly #reject: (error: Error) => void
  readonly #connectionState: () => string
  readonly #signal: CancelSignal | undefined
  readonly #timer: Timer
  readonly #framer: GrpcFramer
  #reply: Buffer | undefined
  #status: GrpcError | 'ok' | undefined
  #settled = false

  constructor(
    options: UnaryOptions,
    clock: Clock,
    resolve: (reply: Buffer) => void,
    reject: (error: Error) => void,
    connectionState: () => string,
  ) {
    this.#resolve = resolve
    this.#reject = reject
    this.#connectionState = connectionState
    this.#signal = options.signal
    this.#framer = new GrpcFramer(options.maxReplyBytes)
    this.#timer = clock.after(options.timeoutMs, () =>
      this.#abandon(new GrpcError(GrpcStatus.deadlineExceeded, `no reply in ${Math.round(options.timeoutMs)} ms`)),
    )
    options.signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  send(stream: Http2Stream, frame: Buffer): void {
    this.#stream = stream
    if (this.#signal?.aborted) this.#onAbort()
    else stream.end(frame)
  }

  /** Ends a call that could not be sent. */
  fail(error: Error): void {
    this.#settle(() => this.#reject(error))
  }

  onHeaders(headers: Headers): void {
    this.#status ??= readStatus(headers)
  }

  onData(chunk: Buffer): void {
    try {
      const [message] = this.#framer.push(chunk)
      if (message !== undefined) this.#reply = message
    } catch (error) {
      this.#abandon(error as Error)
    }
  }

  /**
   * Finishes the call, also when the server answered before it had read the whole request, as one that refuses a call
   * may.
   */
  onEnd(): void {
    this.#finish()
    if (this.#stream?.hasMore === true) this.#stream.close(ErrorCode.cancel)
  }

  onClose(error: Error | undefined): void {
    if (error !== undefined)
      this.#status ??= new GrpcError(GrpcStatus.unavailable, error.message, { cause: error, notSent: this.#refused() })
    this.#finish()
  }

  #finish(): void {
    if (this.#status === 'ok' && this.#reply !== undefined) this.#settle(() => this.#resolve(this.#reply!))
    else this.#settle(() => this.#reject(this.#failure()))
  }

  readonly #onAbort = (): void => {
    const cause: unknown = this.#signal?.reason
    this.#abandon(new GrpcError(GrpcStatus.cancelled, 'the caller gave up', { cause }))
  }

  #failure(): GrpcError {
    if (this.#status instanceof GrpcError) return this.#status
    const message = this.#status === 'ok' ? 'a reply without a message' : this.#connectionState()
    return new GrpcError(GrpcStatus.unavailable, message, { notSent: this.#refused() })
  }

  #refused(): boolean {
    return this.#stream?.rstCode === ErrorCode.refusedStream
  }

  #abandon(error: Error): void {
    this.#settle(() => this.#reject(error))
    this.#stream?.close(ErrorCode.cancel)
  }

  #settle(deliver: () => void): void {
    if (this.#settled) return
    this.#settled = true
    this.#timer.cancel()
    this.#signal?.removeEventListener('abort', this.#onAbort)
    deliver()
  }
}

/**
 * The status that the headers tell; undefined when they tell none: it comes with the trailers, or with lone headers.
 */
export function readStatus(headers: Headers): GrpcError | 'ok' | undefined {
  const status = headers.get('grpc-status')
  if (status !== undefined) {
    if (status === '0') return 'ok'
    const message = headers.get('grpc-message')
    return new GrpcError(Number(status), message === undefined ? `status ${status}` : percentDecoded(message))
  }
  const http = headers.get(':status')
  if (http !== undefined && http !== '200') return new GrpcError(GrpcStatus.unavailable, `HTTP status ${http}`)
  return undefined
}
