/**
 * Thread: any. gRPC over one HTTP/2 connection to one etcd server.
 *
 *   new ── connect() ──▶ connecting ── server's SETTINGS ──▶ open ── GOAWAY ──▶ draining ──▶ closed
 *                            └── refused, timeout ──▶ closed ◀── socket lost, ping unanswered, close() ──┘
 *
 * A channel never reconnects: endpoints.ts makes a new one. It counts as open only after the server's SETTINGS have
 * come: a stopped process still accepts TCP connections. While calls are under way it pings, and a ping without an
 * answer ends the connection; without calls it is silent, because etcd closes connections that ping without a reason.
 */
import http2 from 'node:http2'
import { assert } from '../../lib/assert.js'
import type { Clock, Timer } from '../../lib/clock.js'
import { GrpcError, GrpcStatus } from './grpc-error.js'
import { UnaryCall, type UnaryOptions } from './unary-call.js'

export interface TlsOptions {
  readonly ca?: string | Buffer
  readonly cert?: string | Buffer
  readonly key?: string | Buffer
  /** The name in the server's certificate, when it is not the host of the URL. */
  readonly serverName?: string
}

export interface ChannelOptions {
  readonly url: string
  readonly tls?: TlsOptions | undefined
  readonly clock: Clock
  readonly connectTimeoutMs: number
  readonly keepaliveIntervalMs: number
  readonly keepaliveTimeoutMs: number
  /** Called once, when no more calls can be started on it. */
  readonly onUnusable: (reason: Error) => void
}

/** What a stream that nobody reads may hold; also the most that is under way for a range. */
const STREAM_WINDOW_BYTES = 1024 * 1024
/** Never the limit: Node gives connection credit back at once, so that a held stream does not hold the others. */
const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024

export class GrpcChannel {
  readonly #options: ChannelOptions
  #session: http2.ClientHttp2Session | undefined
  #state: 'new' | 'connecting' | 'open' | 'draining' | 'closed' = 'new'
  #calls = 0
  #keepalive: Timer | undefined
  #closedBy: Error | undefined

  constructor(options: ChannelOptions) {
    this.#options = options
  }

  get url(): string {
    return this.#options.url
  }

  get usable(): boolean {
    return this.#state === 'open'
  }

  connect(): Promise<void> {
    assert(this.#state === 'new', 'a channel connects once')
    this.#state = 'connecting'
    const { url, tls, clock, connectTimeoutMs } = this.#options
    const session = http2.connect(url, {
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
      ...(tls?.ca !== undefined && { ca: tls.ca }),
      ...(tls?.cert !== undefined && { cert: tls.cert }),
      ...(tls?.key !== undefined && { key: tls.key }),
      ...(tls?.serverName !== undefined && { servername: tls.serverName }),
    })
    this.#session = session
    return new Promise((resolve, reject) => {
      const timer = clock.after(connectTimeoutMs, () => this.#end(new Error(`no answer in ${connectTimeoutMs} ms`)))
      session.once('connect', () => session.setLocalWindowSize(CONNECTION_WINDOW_BYTES))
      session.once('remoteSettings', () => {
        timer.cancel()
        if (this.#state === 'connecting') this.#state = 'open'
        resolve()
      })
      session.on('error', (error) => this.#end(error))
      session.on('goaway', (code) => this.#drain(new Error(`the server ends the connection (GOAWAY ${code})`)))
      session.on('close', () => {
        timer.cancel()
        this.#end(new Error('the connection was closed'))
        reject(new GrpcError(GrpcStatus.unavailable, `${url}: ${this.#reason()}`, { notSent: true }))
      })
    })
  }

  /** One request, one reply. `frame` is the request with gRPC's prefix. */
  unary(method: string, frame: Buffer, options: UnaryOptions): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let stream: http2.ClientHttp2Stream
      try {
        stream = this.#open(method, options.timeoutMs)
      } catch (error) {
        reject(error)
        return
      }
      new UnaryCall(stream, options, this.#options.clock, resolve, reject, () => this.#reason()).send(frame)
    })
  }

  /** A stream in both directions; `requireLeader`: the server ends it when it loses its leader. */
  stream(method: string, requireLeader: boolean): http2.ClientHttp2Stream {
    return this.#open(method, undefined, requireLeader)
  }

  close(): void {
    this.#end(new Error('closed by this process'))
  }

  #open(method: string, timeoutMs: number | undefined, requireLeader = false): http2.ClientHttp2Stream {
    const session = this.#session
    if (session === undefined || this.#state !== 'open' || session.closed || session.destroyed)
      throw new GrpcError(GrpcStatus.unavailable, this.#reason(), { notSent: true })
    const headers: http2.OutgoingHttpHeaders = {
      ':method': 'POST',
      ':path': method,
      te: 'trailers',
      'content-type': 'application/grpc',
    }
    if (timeoutMs !== undefined) headers['grpc-timeout'] = `${Math.max(1, Math.ceil(timeoutMs))}m`
    if (requireLeader) headers['hasleader'] = 'true'
    const stream = session.request(headers)
    this.#calls++
    stream.once('close', this.#onCallEnd)
    if (this.#keepalive === undefined) this.#schedulePing()
    return stream
  }

  readonly #onCallEnd = (): void => {
    this.#calls--
    if (this.#calls === 0 && this.#state === 'draining') this.#end(this.#closedBy ?? new Error('drained'))
  }

  #schedulePing(): void {
    this.#keepalive = this.#options.clock.after(this.#options.keepaliveIntervalMs, () => {
      this.#keepalive = undefined
      if (this.#calls > 0) this.#ping()
    })
  }

  #ping(): void {
    const session = this.#session
    if (session === undefined || session.destroyed) return
    const { clock, keepaliveTimeoutMs } = this.#options
    const deadline = clock.after(keepaliveTimeoutMs, () =>
      this.#end(new Error(`no answer to a ping in ${keepaliveTimeoutMs} ms`)),
    )
    // False: the session is going down or too many pings are out; the deadline or 'close' settles it either way.
    session.ping((error) => {
      if (error !== null) return
      deadline.cancel()
      if (this.#calls > 0 && this.#keepalive === undefined) this.#schedulePing()
    })
  }

  #drain(reason: Error): void {
    if (this.#state === 'closed' || this.#state === 'draining') return
    this.#state = 'draining'
    this.#closedBy = reason
    this.#options.onUnusable(reason)
    if (this.#calls === 0) this.#end(reason)
  }

  #end(reason: Error): void {
    if (this.#state === 'closed') return
    const wasUsable = this.#state !== 'draining'
    this.#state = 'closed'
    this.#closedBy ??= reason
    this.#keepalive?.cancel()
    this.#session?.destroy()
    if (wasUsable) this.#options.onUnusable(reason)
  }

  #reason(): string {
    // A stream may learn that the connection is gone before the session does.
    return (
      this.#closedBy?.message ?? (this.#state === 'open' ? 'the connection broke' : `the connection is ${this.#state}`)
    )
  }
}
