/** Thread: main. The listener: the only importer of uWebSockets.js. Makes an Exchange of each request and hands it on. */

import type * as uws from 'uWebSockets.js'
import { randomUUID } from 'node:crypto'
import { assert } from '../../lib/assert.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { TlsFiles } from '../../protocol/server-credentials.js'
import type { BulkTurns } from './bulk-turns.js'
import { Exchange, type Upgrade } from './exchange.js'
import type { ExchangeFailures } from './exchange-failures.js'
import { headProblem } from './head-check.js'
import { portProblem } from './port-probe.js'
import type { RequestHead } from './request-head.js'
import type { ResponsePort } from './response-port.js'
import type { ServerSocket } from './server-socket.js'

/** Clients of exec send up to 32 KiB a message; tunnels and others more. */
const MAX_FRAME_BYTES = 16 * 1024 * 1024
/** Clients that are gone without a word are found by pings in this time. */
const IDLE_TIMEOUT_SECONDS = 120

export interface HttpServerOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly tls: TlsFiles | undefined
  /** Several threads may listen on one port; the kernel shares connections out. */
  readonly sharePort: boolean
  /** Large answers take turns. */
  readonly turns: BulkTurns
  readonly onRequest: (exchange: Exchange) => void
  readonly failures?: ExchangeFailures | undefined
}

/** There, and not in the types. */
interface Adopting {
  getDescriptor(): unknown
  addChildAppDescriptor(descriptor: unknown): void
  removeChildAppDescriptor(descriptor: unknown): void
}

export class ListenError extends Error {
  override readonly name = 'ListenError'
  readonly code = 'listen'
}

export class HttpServer implements Closable {
  readonly #options: HttpServerOptions
  /** Loaded when it listens: by then the environment says how long headers may be (header-limit.ts). */
  #uws!: typeof uws
  /** Accepts connections. With TLS it hands them to the newest of the apps below, each of which has its certificates. */
  #app: uws.TemplatedApp | undefined
  readonly #tlsApps: uws.TemplatedApp[] = []
  #listenSocket: uws.us_listen_socket | undefined
  #port = 0

  constructor(options: HttpServerOptions) {
    this.#options = options
  }

  get port(): number {
    return this.#port
  }

  async start(): Promise<void> {
    const { tls, host, port, sharePort } = this.#options
    const problem = sharePort || port === 0 ? undefined : await portProblem(host, port)
    if (problem !== undefined) throw new ListenError(`cannot listen on ${host}:${port}: ${problem}`)
    this.#uws = await import('uWebSockets.js')
    const app = tls === undefined ? this.#serve(this.#uws.App()) : this.#tlsApp(tls)
    this.#app = app
    if (tls !== undefined) this.useCertificates(tls)
    await new Promise<void>((resolve, reject) => {
      const listening = (socket: uws.us_listen_socket | false): void => {
        if (socket === false) {
          reject(new ListenError(`cannot listen on ${host}:${port}: the address is in use or not allowed`))
          return
        }
        this.#listenSocket = socket
        this.#port = this.#uws.us_socket_local_port(socket)
        resolve()
      }
      app.listen(host, port, listening)
    })
  }

  /**
   * New connections get these certificates; those that are open go on. Measured under 8 clients that connect without pause:
   * none of 3,000 connections is lost in 39 changes. A second listener on the port loses those in the first one's queue.
   */
  useCertificates(tls: TlsFiles): void {
    const acceptor = this.#app as (uws.TemplatedApp & Adopting) | undefined
    if (acceptor === undefined) return
    const next = this.#tlsApp(tls) as uws.TemplatedApp & Adopting
    const before = this.#tlsApps.at(-1) as (uws.TemplatedApp & Adopting) | undefined
    this.#tlsApps.push(next)
    acceptor.addChildAppDescriptor(next.getDescriptor())
    if (before !== undefined) acceptor.removeChildAppDescriptor(before.getDescriptor())
  }

  #tlsApp({ certFile, keyFile, caFile, ciphers }: TlsFiles): uws.TemplatedApp {
    const app = this.#uws.SSLApp({
      cert_file_name: certFile,
      key_file_name: keyFile,
      ...(caFile === '' ? {} : { ca_file_name: caFile }),
      ...(ciphers === '' ? {} : { ssl_ciphers: ciphers }),
    })
    return this.#serve(app)
  }

  #serve(app: uws.TemplatedApp): uws.TemplatedApp {
    app.ws<{ readonly socket: ServerSocket }>('/*', {
      maxPayloadLength: MAX_FRAME_BYTES,
      // What is sent is never dropped: who sends waits for the drain.
      maxBackpressure: 0,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      upgrade: (response, request, context) => this.#acceptUpgrade(response, request, context),
      open: (socket) => socket.getUserData().socket.opened(socket),
      message: (socket, message, isBinary) => socket.getUserData().socket.received(message, isBinary),
      drain: (socket) => socket.getUserData().socket.drained(),
      close: (socket, code, reason) => socket.getUserData().socket.closed(code, reason),
    })
    return app.any('/*', (response, request) => this.#accept(response, request))
  }

  #accept(response: uws.HttpResponse, request: uws.HttpRequest): void {
    const head = new UwsRequestHead(request)
    const { turns, failures } = this.#options
    const exchange = new Exchange(head, response as unknown as ResponsePort, turns, undefined, failures)
    this.#begin(exchange)
    head.turnEnded(exchange.over)
  }

  /** Like other requests until somebody accepts it: then the connection is a WebSocket. */
  #acceptUpgrade(response: uws.HttpResponse, request: uws.HttpRequest, context: uws.us_socket_context_t): void {
    const head = new UwsRequestHead(request)
    const key = request.getHeader('sec-websocket-key')
    head.keepHeaders()
    const upgrade: Upgrade = (protocol, socket) => response.upgrade({ socket }, key, protocol, '', context)
    const port = response as unknown as ResponsePort
    const { turns, failures } = this.#options
    this.#begin(new Exchange(head, port, turns, upgrade, failures))
    head.turnEnded(false)
  }

  #begin(exchange: Exchange): void {
    const problem = headProblem(exchange.head)
    if (problem !== undefined) {
      exchange.respondAndClose(
        { status: 400, contentType: 'text/plain; charset=utf-8' },
        `400 Bad Request: ${problem}\n`,
      )
      return
    }
    try {
      this.#options.onRequest(exchange)
    } catch (error) {
      exchange.fail(error)
    }
  }

  /** No new connections; those that are open go on. */
  stopListening(): void {
    if (this.#listenSocket !== undefined) this.#uws.us_listen_socket_close(this.#listenSocket)
    this.#listenSocket = undefined
  }

  /** Closes what is still open. A thread that ends without this aborts the process. */
  close(): void {
    this.#listenSocket = undefined
    this.#app?.close()
    this.#app = undefined
    for (const app of this.#tlsApps.splice(0)) app.close()
  }
}

/**
 * uWebSockets.js shows a request only in the turn in which it came. Each header that is read costs a call out of
 * JavaScript and a string, so they are read when they are asked for, and the rest at the end of the turn, by requests that
 * outlive it.
 */
class UwsRequestHead implements RequestHead {
  readonly method: string
  readonly rawPath: string
  readonly query: string
  readonly authorization: string
  readonly auditId: string
  #accept: string | undefined
  #acceptEncoding: string | undefined
  #ifNoneMatch: string | undefined
  #contentType: string | undefined
  #contentLength: string | undefined
  #userAgent: string | undefined
  #request: uws.HttpRequest | undefined
  #headers: [name: string, value: string][] | undefined

  constructor(request: uws.HttpRequest) {
    this.method = request.getCaseSensitiveMethod()
    this.rawPath = request.getUrl()
    // Undefined without one, whatever its type says.
    this.query = (request.getQuery() as string | undefined) ?? ''
    this.authorization = request.getHeader('authorization')
    this.auditId = request.getHeader('audit-id') || randomUUID()
    this.#request = request
  }

  get accept(): string {
    this.#accept ??= this.#read('accept')
    return this.#accept
  }

  get acceptEncoding(): string {
    this.#acceptEncoding ??= this.#read('accept-encoding')
    return this.#acceptEncoding
  }

  get ifNoneMatch(): string {
    this.#ifNoneMatch ??= this.#read('if-none-match')
    return this.#ifNoneMatch
  }

  get contentType(): string {
    this.#contentType ??= this.#read('content-type')
    return this.#contentType
  }

  get contentLength(): string {
    this.#contentLength ??= this.#read('content-length')
    return this.#contentLength
  }

  get userAgent(): string {
    this.#userAgent ??= this.#read('user-agent')
    return this.#userAgent
  }

  #read(name: string): string {
    assert(this.#request !== undefined, 'what was not asked for in the turn of the request was kept at its end')
    return this.#request.getHeader(name)
  }

  header(name: string): string {
    // Most that are asked for are absent, which getHeader() says without making anything.
    if (this.#headers === undefined && this.#request?.getHeader(name) === '') return ''
    let joined: string | undefined
    for (const [key, value] of this.#all())
      if (key === name) joined = joined === undefined ? value : `${joined},${value}`
    return joined ?? ''
  }

  forEachHeader(visit: (name: string, value: string) => void): void {
    // Nothing is made of them for one who only looks.
    if (this.#headers === undefined && this.#request !== undefined) this.#request.forEach(visit)
    else for (const [name, value] of this.#all()) visit(name, value)
  }

  keepHeaders(): void {
    this.#all()
  }

  /** `over`: nobody will ask for anything any more. */
  turnEnded(over: boolean): void {
    if (!over) {
      this.#accept ??= this.#read('accept')
      this.#acceptEncoding ??= this.#read('accept-encoding')
      this.#ifNoneMatch ??= this.#read('if-none-match')
      this.#contentType ??= this.#read('content-type')
      this.#contentLength ??= this.#read('content-length')
      this.#userAgent ??= this.#read('user-agent')
    }
    this.#request = undefined
  }

  #all(): readonly [name: string, value: string][] {
    if (this.#headers !== undefined) return this.#headers
    assert(this.#request !== undefined, 'headers are read in the turn in which they came, or kept in it')
    const headers: [name: string, value: string][] = []
    this.#request.forEach((name, value) => void headers.push([name, value]))
    this.#headers = headers
    return headers
  }
}
