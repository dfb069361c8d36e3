/**
 * Thread: main, or a front end's own. HTTP/1.1 and WebSockets by uWebSockets.js: the faster engine, where its binary
 * loads.
 */

import type * as uws from 'uws-newest'
import type { TlsFiles } from '../../../protocol/server-credentials.js'
import {
  type EngineOptions,
  type HttpEngine,
  ListenError,
  MAX_SOCKET_MESSAGE_BYTES,
  SOCKET_IDLE_SECONDS,
  type Upgrade,
} from '../http-engine.js'
import type { ServerSocket } from '../server-socket.js'
import { loadUwsBinary } from './uws-binary.js'
import { UwsRequestHead } from './uws-request-head.js'
import { UwsResponsePort } from './uws-response-port.js'

/** Methods that apps of all our versions have and the types of older versions do not declare. */
interface Adopting {
  getDescriptor(): unknown
  addChildAppDescriptor(descriptor: unknown): void
  removeChildAppDescriptor(descriptor: unknown): void
}
type AdoptingApp = uws.TemplatedApp & Adopting

export class UwsEngine implements HttpEngine {
  readonly #options: EngineOptions
  /** The module, loaded by start(): by then the environment says how long heads may be (header-limit.ts). */
  #uws!: typeof uws
  /**
   * The app that accepts connections. With TLS it hands them to the newest of #tlsApps, each of which has its own
   * certificates.
   */
  #app: uws.TemplatedApp | undefined
  readonly #tlsApps: uws.TemplatedApp[] = []
  #listenSocket: uws.us_listen_socket | undefined
  #port = 0
  /** Connections that are open, WebSockets among them. */
  #connections = 0

  readonly #binary: string

  constructor(options: EngineOptions, binary: string) {
    this.#options = options
    this.#binary = binary
  }

  get port(): number {
    return this.#port
  }

  async start(): Promise<void> {
    const { tls, host, port } = this.#options
    this.#uws = loadUwsBinary(this.#binary) as typeof uws
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
   * Makes an app with the new certificates and hands it the connections from now on. The acceptor keeps listening, so
   * no connection is lost: none of 3,000 in 39 changes, under 8 clients that connect without pause. The rejected way, a
   * second listener on the port, loses the connections in the first one's queue.
   */
  useCertificates(tls: TlsFiles): void {
    const acceptor = this.#app as AdoptingApp | undefined
    if (acceptor === undefined) return
    const next = this.#tlsApp(tls) as AdoptingApp
    const before = this.#tlsApps.at(-1) as AdoptingApp | undefined
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
      maxPayloadLength: MAX_SOCKET_MESSAGE_BYTES,
      // 0 means no limit, so that no message is dropped: senders wait for `drain` instead.
      maxBackpressure: 0,
      idleTimeout: SOCKET_IDLE_SECONDS,
      upgrade: (response, request, context) => this.#acceptUpgrade(response, request, context),
      open: (socket) => socket.getUserData().socket.opened(socket),
      message: (socket, message, isBinary) => socket.getUserData().socket.received(new Uint8Array(message), isBinary),
      drain: (socket) => socket.getUserData().socket.drained(),
      close: (socket, code, reason) => {
        this.#left()
        socket.getUserData().socket.closed(code, Buffer.from(reason).toString())
      },
    })
    app.filter((response, change) => this.#counted(response, Number(change)))
    return app.any('/*', (response, request) => this.#accept(response, request))
  }

  /**
   * Told of each connection that comes (1) and goes (-1). One that has become a WebSocket goes by that one's `close`. A connection that
   * is not taken is closed here: one that could not even be accepted would keep the thread busy with trying.
   */
  #counted(response: uws.HttpResponse, change: number): void {
    const { most, refused } = this.#options.connections
    if (change < 0) {
      this.#left()
      return
    }
    this.#connections++
    if (this.#connections <= most) return
    refused('the limit is reached')
    response.close()
  }

  #left(): void {
    this.#connections = Math.max(0, this.#connections - 1)
  }

  #accept(response: uws.HttpResponse, request: uws.HttpRequest): void {
    const port = new UwsResponsePort(response, true)
    this.#options.accept(new UwsRequestHead(request), port)
    port.turnEnded()
  }

  /** An upgrade is a request like others until it is accepted; then the connection is a WebSocket. */
  #acceptUpgrade(response: uws.HttpResponse, request: uws.HttpRequest, context: uws.us_socket_context_t): void {
    const head = new UwsRequestHead(request)
    const key = request.getHeader('sec-websocket-key')
    const upgrade: Upgrade = (protocol, socket) => response.upgrade({ socket }, key, protocol, '', context)
    this.#options.accept(head, new UwsResponsePort(response), upgrade)
  }

  stopListening(): void {
    if (this.#listenSocket !== undefined) this.#uws.us_listen_socket_close(this.#listenSocket)
    this.#listenSocket = undefined
  }

  /** Closes all apps. It must be called before the thread ends, or uWebSockets.js aborts the process. */
  close(): void {
    this.#listenSocket = undefined
    this.#app?.close()
    this.#app = undefined
    for (const app of this.#tlsApps.splice(0)) app.close()
  }
}
