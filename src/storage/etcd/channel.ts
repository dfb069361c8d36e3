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
import type net from 'node:net'
import { assert } from '../../lib/assert.js'
import type { Clock, Timer } from '../../lib/clock.js'
import type { Dial } from '../../lib/egress/connect-tunnel.js'
import { GrpcError, GrpcStatus } from '../grpc/grpc-error.js'
import { addressOf, Http2Connection } from './http2/connection.js'
import { encodeHeaders } from './http2/hpack.js'
import type { Http2Stream, StreamHandlers } from './http2/stream.js'
import type { TlsSource } from './tls-options.js'
import { UnaryCall, type UnaryOptions } from './unary-call.js'

/** What the channels of one cluster have in common. */
export interface ChannelSettings {
  readonly tls?: TlsSource | undefined
  /** How a server is connected to, when it is not directly. */
  readonly dial?: Dial | undefined
  readonly clock: Clock
  readonly connectTimeoutMs: number
  readonly keepaliveIntervalMs: number
  readonly keepaliveTimeoutMs: number
}

export interface ChannelOptions extends ChannelSettings {
  readonly url: string
  /** Called once, when no more calls can be started on the channel. */
  readonly onUnusable: (reason: Error) => void
}

/** The most bytes that a stream holds when nobody reads it, and that are under way for a range. */
const STREAM_WINDOW_BYTES = 1024 * 1024
/**
 * The connection's window is never the limit: credit is given back at once, so that a held stream does not hold the
 * others.
 */
const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024

export class GrpcChannel {
  readonly #options: ChannelOptions
  #connection: Http2Connection | undefined
  /** Encoded headers by method and timeout: the same bytes serve every call. */
  readonly #headerBlocks = new Map<string, Buffer>()
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
    const { url, dial, clock, connectTimeoutMs } = this.#options
    return new Promise((resolve, reject) => {
      const refuse = (error: Error): void => {
        timer.cancel()
        this.#end(error)
        reject(new GrpcError(GrpcStatus.unavailable, `${url}: ${this.#reason()}`, { notSent: true }))
      }
      const timer = clock.after(connectTimeoutMs, () => refuse(new Error(`no answer in ${connectTimeoutMs} ms`)))
      const begin = (socket?: net.Socket): void => {
        const ready = (): void => {
          timer.cancel()
          resolve()
        }
        if (this.#state === 'connecting') this.#connection = this.#connectionOver(socket, { ready, refuse })
        else {
          socket?.destroy()
          refuse(this.#closedBy ?? new Error('closed'))
        }
      }
      if (dial === undefined) begin()
      else dial(addressOf(url), connectTimeoutMs).then(begin, refuse)
    })
  }

  #connectionOver(
    socket: net.Socket | undefined,
    { ready, refuse }: { readonly ready: () => void; readonly refuse: (error: Error) => void },
  ): Http2Connection {
    const { url, tls } = this.#options
    return new Http2Connection({
      url,
      tls: tls?.(),
      socket,
      streamWindowBytes: STREAM_WINDOW_BYTES,
      connectionWindowBytes: CONNECTION_WINDOW_BYTES,
      onReady: () => {
        if (this.#state === 'connecting') this.#state = 'open'
        ready()
      },
      onGoAway: (code) => this.#drain(new Error(`the server ends the connection (GOAWAY ${code})`)),
      onClose: refuse,
    })
  }

  /** A call with one request and one reply. `frame` is the request with gRPC's prefix. */
  unary(method: string, frame: Buffer, options: UnaryOptions): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const call = new UnaryCall(options, this.#options.clock, resolve, reject, () => this.#reason())
      try {
        call.send(this.#open(method, call, { timeoutMs: options.timeoutMs }), frame)
      } catch (error) {
        call.fail(error as Error)
      }
    })
  }

  /** Opens a stream in both directions. `requireLeader`: the server ends it when it loses its leader. */
  stream(method: string, requireLeader: boolean, handlers: StreamHandlers): Http2Stream {
    return this.#open(method, handlers, { requireLeader })
  }

  close(): void {
    this.#end(new Error('closed by this process'))
  }

  #open(
    method: string,
    handlers: StreamHandlers,
    options: { readonly timeoutMs?: number; readonly requireLeader?: boolean },
  ): Http2Stream {
    const connection = this.#connection
    if (connection === undefined || this.#state !== 'open' || connection.closed)
      throw new GrpcError(GrpcStatus.unavailable, this.#reason(), { notSent: true })
    this.#calls++
    const stream = connection.request(this.#headerBlock(method, options), {
      onHeaders: (headers) => handlers.onHeaders(headers),
      onData: (chunk) => handlers.onData(chunk),
      onEnd: () => handlers.onEnd(),
      onClose: (error) => {
        handlers.onClose(error)
        this.#onCallEnd()
      },
    })
    if (this.#keepalive === undefined) this.#schedulePing()
    return stream
  }

  #headerBlock(
    method: string,
    { timeoutMs, requireLeader = false }: { readonly timeoutMs?: number; readonly requireLeader?: boolean },
  ): Buffer {
    // The server's deadline need not be as exact as ours: in whole seconds there are few blocks of headers to keep.
    const timeout = timeoutMs === undefined ? '' : `${Math.max(1, Math.ceil(timeoutMs / 1000))}S`
    const name = `${method} ${timeout} ${requireLeader}`
    let block = this.#headerBlocks.get(name)
    if (block === undefined) {
      const { protocol, host } = new URL(this.#options.url)
      block = encodeHeaders({
        ':method': 'POST',
        ':scheme': protocol.slice(0, -1),
        ':path': method,
        ':authority': host,
        te: 'trailers',
        'content-type': 'application/grpc',
        ...(timeout === '' ? {} : { 'grpc-timeout': timeout }),
        ...(requireLeader ? { hasleader: 'true' } : {}),
      })
      this.#headerBlocks.set(name, block)
    }
    return block
  }

  #onCallEnd(): void {
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
    const { clock, keepaliveTimeoutMs } = this.#options
    const deadline = clock.after(keepaliveTimeoutMs, () =>
      this.#end(new Error(`no answer to a ping in ${keepaliveTimeoutMs} ms`)),
    )
    this.#connection?.ping(() => {
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
    this.#connection?.destroy(reason)
    if (wasUsable) this.#options.onUnusable(reason)
  }

  #reason(): string {
    // A stream may learn that the connection is gone before the channel does.
    return (
      this.#closedBy?.message ?? (this.#state === 'open' ? 'the connection broke' : `the connection is ${this.#state}`)
    )
  }
}
