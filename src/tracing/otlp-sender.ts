/**
 * Thread: any. One call of the collector: OTLP over gRPC, over HTTP/2 without TLS, as kube-apiserver speaks it. The connection
 * is opened with the first call, kept, and keeps no process alive.
 */
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { connect as connectSocket } from 'node:net'
import type { Clock } from '../lib/clock.js'
import type { CollectorEndpoint } from '../protocol/tracing-config.js'
import { GrpcError, GrpcStatus, percentDecoded } from '../storage/grpc/grpc-error.js'
import { grpcFrame } from '../storage/grpc/grpc-framer.js'

const EXPORT_PATH = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'

export class OtlpSender {
  readonly #endpoint: CollectorEndpoint
  readonly #clock: Clock
  #session: ClientHttp2Session | undefined

  constructor(endpoint: CollectorEndpoint, clock: Clock) {
    this.#endpoint = endpoint
    this.#clock = clock
  }

  /** Resolves when the collector has taken the message. Rejects with a GrpcError. */
  send(message: Buffer, timeoutMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const session = this.#opened()
      const stream = session.request(
        {
          ':method': 'POST',
          ':path': EXPORT_PATH,
          'content-type': 'application/grpc',
          te: 'trailers',
          'user-agent': 'keelson',
        },
        { endStream: false },
      )
      const failed = (status: number, text: string): void => reject(new GrpcError(status, text))
      const timer = this.#clock.after(timeoutMs, () => {
        failed(GrpcStatus.deadlineExceeded, `the collector did not answer in ${timeoutMs} ms`)
        // A connection over which nothing comes back may be dead: the next call opens another.
        session.destroy()
      })
      let status = ''
      let text = ''
      const look = (headers: Record<string, unknown>): void => {
        if (headers['grpc-status'] !== undefined) status = String(headers['grpc-status'])
        if (headers['grpc-message'] !== undefined) text = percentDecoded(String(headers['grpc-message']))
      }
      stream.on('response', look)
      stream.on('trailers', look)
      stream.on('error', (error) => failed(GrpcStatus.unavailable, error.message))
      stream.on('close', () => {
        timer.cancel()
        if (status === String(GrpcStatus.ok)) resolve()
        else failed(Number(status) || GrpcStatus.unavailable, text === '' ? 'the collector did not answer' : text)
      })
      // What it answers is not looked at: it says how many spans it did not want, and nobody could send better ones.
      stream.resume()
      stream.end(grpcFrame(message))
    })
  }

  close(): void {
    this.#session?.destroy(undefined, constants.NGHTTP2_NO_ERROR)
    this.#session = undefined
  }

  #opened(): ClientHttp2Session {
    const known = this.#session
    if (known !== undefined && !known.closed && !known.destroyed) return known
    const endpoint = this.#endpoint
    const session =
      'path' in endpoint
        ? connect('http://localhost', { createConnection: () => connectSocket(endpoint.path) })
        : connect(`http://${endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host}:${endpoint.port}`)
    // The streams of a session that fails are told too, and tell their callers.
    session.on('error', () => undefined)
    session.on('goaway', () => session.close())
    session.unref()
    this.#session = session
    return session
  }
}
