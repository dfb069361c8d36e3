/**
 * Thread: any. Unary gRPC calls over one HTTP/2 connection to a Unix socket; connects when first used and again after
 * the connection is lost. A call waits for the server to come up until its deadline, since plugins start beside us.
 */
import http2 from 'node:http2'
import net from 'node:net'
import type { Clock } from '../../../lib/clock.js'
import { GrpcError, GrpcStatus, percentDecoded, ReplyTooLargeError } from '../../grpc/grpc-error.js'
import { GrpcFramer, grpcFrame } from '../../grpc/grpc-framer.js'

export interface GrpcUnaryClientOptions {
  /** The path of the socket; a leading @ names one in Linux's abstract namespace. */
  readonly socketPath: string
  readonly timeoutMs: number
  readonly clock: Clock
}

/** The most that a client receives by gRPC's own default. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024
const CONNECT_RETRY_MS = 200

/** The codes with which a server that is going away ends calls that it has not looked at. */
const NOT_PROCESSED: readonly number[] = [
  http2.constants.NGHTTP2_NO_ERROR,
  http2.constants.NGHTTP2_REFUSED_STREAM,
  http2.constants.NGHTTP2_CANCEL,
]

/** A call's error with the status in its text, because it is read in logs and health checks. */
const failure = (status: number, detail: string, cause?: unknown): GrpcError =>
  new GrpcError(status, `gRPC status ${status}: ${detail}`, { cause })

/**
 * The failure of a call for which there was no connection, or whose connection ended before any answer. Key services
 * may be asked twice, so the call is tried again.
 */
class NotConnected extends Error {}

export class GrpcUnaryClient {
  readonly #options: GrpcUnaryClientOptions
  #session: http2.ClientHttp2Session | undefined
  #closed = false
  readonly #onClose = new AbortController()

  constructor(options: GrpcUnaryClientOptions) {
    this.#options = options
  }

  async call(path: string, message: Uint8Array): Promise<Uint8Array> {
    const { clock, timeoutMs } = this.#options
    const deadlineMs = clock.monotonicMs() + timeoutMs
    for (;;) {
      if (this.#closed) throw failure(GrpcStatus.unavailable, 'the client is closed')
      const leftMs = deadlineMs - clock.monotonicMs()
      try {
        const session = await this.#connected()
        return await this.#exchange(session, path, message, leftMs)
      } catch (error) {
        if (!(error instanceof NotConnected)) throw error
        if (leftMs <= CONNECT_RETRY_MS) throw failure(GrpcStatus.unavailable, error.message, error.cause)
        await this.#pause(CONNECT_RETRY_MS)
      }
    }
  }

  close(): void {
    this.#closed = true
    this.#onClose.abort()
    this.#session?.destroy()
    this.#session = undefined
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        timer.cancel()
        this.#onClose.signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = this.#options.clock.after(ms, done)
      this.#onClose.signal.addEventListener('abort', done)
    })
  }

  #connected(): Promise<http2.ClientHttp2Session> {
    const existing = this.#session
    if (existing !== undefined && !existing.closed && !existing.destroyed) return Promise.resolve(existing)
    const path = this.#options.socketPath.replace(/^@/, '\0')
    return new Promise((resolve, reject) => {
      const session = http2.connect('http://localhost', { createConnection: () => net.connect(path) })
      const forget = (): void => {
        if (this.#session === session) this.#session = undefined
      }
      session.once('connect', () => {
        if (this.#closed) session.destroy()
        else this.#session = session
        resolve(session)
      })
      session.on('error', (cause: Error) => {
        forget()
        reject(new NotConnected(`cannot connect to ${this.#options.socketPath}: ${cause.message}`, { cause }))
      })
      session.on('goaway', forget)
      session.on('close', () => {
        forget()
        reject(new NotConnected(`the connection to ${this.#options.socketPath} was closed`))
      })
    })
  }

  #exchange(
    session: http2.ClientHttp2Session,
    path: string,
    message: Uint8Array,
    timeoutMs: number,
  ): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (session.destroyed || session.closed) {
        reject(new NotConnected('the connection was closed'))
        return
      }
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
        'grpc-timeout': `${Math.max(1, Math.ceil(timeoutMs))}m`,
      })
      const timer = this.#options.clock.after(timeoutMs, () => {
        fail(failure(GrpcStatus.deadlineExceeded, `no answer within ${Math.round(timeoutMs)} ms`))
      })
      let failed = false
      const fail = (error: Error): void => {
        failed = true
        timer.cancel()
        reject(error)
        stream.close(http2.constants.NGHTTP2_CANCEL)
      }
      const reply = new Reply()
      /** The same callback; what it throws fails this call and nothing else. */
      const guard =
        <A extends unknown[]>(callback: (...args: A) => void) =>
        (...args: A): void => {
          try {
            callback(...args)
          } catch (error) {
            fail(failure(GrpcStatus.internal, `the answer cannot be read: ${String(error)}`))
          }
        }
      stream.on(
        'response',
        guard((headers) => reply.headers(headers)),
      )
      stream.on(
        'trailers',
        guard((trailers) => reply.trailers(trailers)),
      )
      stream.on(
        'data',
        guard((chunk: Buffer) => {
          const unwanted = reply.data(chunk)
          if (unwanted !== undefined) fail(unwanted)
        }),
      )
      let streamError: Error | undefined
      stream.on('error', (error: Error) => {
        streamError = error
      })
      stream.on('close', () => {
        timer.cancel()
        if (failed) return
        const unanswered = session.destroyed || session.closed || NOT_PROCESSED.includes(stream.rstCode ?? 0)
        if (!reply.begun && unanswered && !this.#closed) {
          if (this.#session === session) this.#session = undefined
          session.close()
          reject(new NotConnected('the connection was lost before an answer', { cause: streamError }))
          return
        }
        const outcome = reply.outcome(streamError)
        if (outcome instanceof GrpcError) reject(outcome)
        else resolve(outcome)
      })
      stream.end(grpcFrame(message))
    })
  }
}

/** One answer, as far as it has arrived. */
class Reply {
  #httpStatus: number | undefined
  #status: string | undefined
  #statusMessage = ''
  readonly #framer = new GrpcFramer(MAX_MESSAGE_BYTES)
  #messages: Buffer[] = []

  get begun(): boolean {
    return this.#httpStatus !== undefined
  }

  headers(headers: http2.IncomingHttpHeaders & http2.IncomingHttpStatusHeader): void {
    this.#httpStatus = headers[':status']
    // An answer without a message carries its status in the one header block it has.
    this.trailers(headers)
  }

  trailers(headers: http2.IncomingHttpHeaders): void {
    const status = headers['grpc-status']
    if (typeof status === 'string') this.#status = status
    const message = headers['grpc-message']
    if (typeof message === 'string') this.#statusMessage = percentDecoded(message)
  }

  /** Gives undefined, or the reason why no more of the answer is wanted. */
  data(chunk: Buffer): GrpcError | undefined {
    try {
      this.#messages.push(...this.#framer.push(chunk))
      return undefined
    } catch (error) {
      if (error instanceof ReplyTooLargeError) return failure(GrpcStatus.internal, 'the answer is larger than 4 MiB')
      return failure(GrpcStatus.internal, (error as Error).message)
    }
  }

  outcome(error: Error | undefined): Uint8Array | GrpcError {
    if (error !== undefined) return failure(GrpcStatus.unavailable, error.message, error)
    if (this.#httpStatus === undefined) return failure(GrpcStatus.unavailable, 'the call was cut off before an answer')
    if (this.#status === undefined)
      return failure(GrpcStatus.unknown, `no gRPC status; HTTP status ${this.#httpStatus}`)
    const status = Number.parseInt(this.#status, 10)
    if (status !== GrpcStatus.ok)
      return failure(Number.isNaN(status) ? GrpcStatus.unknown : status, this.#statusMessage)
    const [message, ...more] = this.#messages
    if (message === undefined || more.length > 0 || this.#framer.midway)
      return failure(GrpcStatus.internal, 'the answer is not one whole message')
    return message
  }
}
