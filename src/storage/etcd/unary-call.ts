/** Thread: any. One gRPC call with one reply on an HTTP/2 stream: deadline, cancellation, status. */
import http2 from 'node:http2'
import type { Clock, Timer } from '../../lib/clock.js'
import { GrpcError, GrpcStatus } from './grpc-error.js'
import { GrpcFramer } from './grpc-framer.js'

export interface UnaryOptions {
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  /** A larger reply is refused as soon as its length is known, before it is received. */
  readonly maxReplyBytes?: number
}

const { NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM } = http2.constants

export class UnaryCall {
  readonly #stream: http2.ClientHttp2Stream
  readonly #resolve: (reply: Buffer) => void
  readonly #reject: (error: Error) => void
  readonly #connectionState: () => string
  readonly #signal: AbortSignal | undefined
  readonly #timer: Timer
  readonly #framer: GrpcFramer
  #reply: Buffer | undefined
  #status: GrpcError | 'ok' | undefined
  #settled = false

  constructor(
    stream: http2.ClientHttp2Stream,
    options: UnaryOptions,
    clock: Clock,
    resolve: (reply: Buffer) => void,
    reject: (error: Error) => void,
    connectionState: () => string,
  ) {
    this.#stream = stream
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

  send(frame: Buffer): void {
    const stream = this.#stream
    stream.on('response', this.#onHeaders)
    stream.on('trailers', this.#onHeaders)
    stream.on('data', this.#onData)
    stream.on('error', this.#onError)
    stream.on('close', this.#onClose)
    if (this.#signal?.aborted) this.#onAbort()
    else stream.end(frame)
  }

  readonly #onHeaders = (headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader): void => {
    this.#status ??= readStatus(headers)
  }

  readonly #onData = (chunk: Buffer): void => {
    try {
      const messages = this.#framer.push(chunk)
      if (messages.length > 0) this.#reply = messages[0]
    } catch (error) {
      this.#abandon(error as Error)
    }
  }

  readonly #onError = (error: Error): void => {
    this.#status ??= new GrpcError(GrpcStatus.unavailable, error.message, { cause: error, notSent: this.#refused() })
  }

  readonly #onClose = (): void => {
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
    return this.#stream.rstCode === NGHTTP2_REFUSED_STREAM
  }

  #abandon(error: Error): void {
    this.#settle(() => this.#reject(error))
    this.#stream.close(NGHTTP2_CANCEL)
  }

  #settle(deliver: () => void): void {
    if (this.#settled) return
    this.#settled = true
    this.#timer.cancel()
    this.#signal?.removeEventListener('abort', this.#onAbort)
    deliver()
  }
}

/** Undefined as long as the headers say nothing: the status comes with the trailers, or with lone headers. */
export function readStatus(
  headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader,
): GrpcError | 'ok' | undefined {
  const status = headers['grpc-status']
  if (status !== undefined) {
    if (status === '0') return 'ok'
    const message = headers['grpc-message']
    return new GrpcError(Number(status), typeof message === 'string' ? percentDecoded(message) : `status ${status}`)
  }
  const http = headers[':status']
  if (http !== undefined && http !== 200) return new GrpcError(GrpcStatus.unavailable, `HTTP status ${http}`)
  return undefined
}

function percentDecoded(message: string): string {
  try {
    return decodeURIComponent(message)
  } catch (error) {
    if (error instanceof URIError) return message
    throw error
  }
}
