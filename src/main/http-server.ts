/** Thread: main. The listener: the only importer of uWebSockets.js. Makes an Exchange of each request and hands it on. */

import * as uws from 'uWebSockets.js'
import { randomUUID } from 'node:crypto'
import { assert } from '../lib/assert.js'
import type { Closable } from '../lib/lifecycle.js'
import type { BulkTurns } from './bulk-turns.js'
import { Exchange, type RequestHead, type ResponsePort } from './exchange.js'
import { isPortFree } from './port-probe.js'

export interface HttpServerOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined
  /** Several threads may listen on one port; the kernel shares connections out. */
  readonly sharePort: boolean
  /** Large answers take turns. */
  readonly turns: BulkTurns
  readonly onRequest: (exchange: Exchange) => void
}

export class ListenError extends Error {
  override readonly name = 'ListenError'
}

export class HttpServer implements Closable {
  readonly #options: HttpServerOptions
  #app: uws.TemplatedApp | undefined
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
    if (!sharePort && port !== 0 && !(await isPortFree(host, port))) throw new ListenError(taken(host, port))
    const app = tls === undefined ? uws.App() : uws.SSLApp({ cert_file_name: tls.certFile, key_file_name: tls.keyFile })
    this.#app = app
    app.any('/*', (response, request) => this.#accept(response, request))
    await new Promise<void>((resolve, reject) => {
      const listening = (socket: uws.us_listen_socket | false): void => {
        if (socket === false) {
          reject(new ListenError(taken(host, port)))
          return
        }
        this.#listenSocket = socket
        this.#port = uws.us_socket_local_port(socket)
        resolve()
      }
      app.listen(host, port, listening)
    })
  }

  #accept(response: uws.HttpResponse, request: uws.HttpRequest): void {
    const head = new UwsRequestHead(request)
    this.#options.onRequest(new Exchange(head, response as unknown as ResponsePort, this.#options.turns))
    head.turnEnded()
  }

  /** No new connections; those that are open go on. */
  stopListening(): void {
    if (this.#listenSocket !== undefined) uws.us_listen_socket_close(this.#listenSocket)
    this.#listenSocket = undefined
  }

  /** Closes what is still open. A thread that ends without this aborts the process. */
  close(): void {
    this.#listenSocket = undefined
    this.#app?.close()
    this.#app = undefined
  }
}

/** uWebSockets.js shows a request only in the turn in which it came. */
class UwsRequestHead implements RequestHead {
  readonly method: string
  readonly rawPath: string
  readonly query: string
  readonly accept: string
  readonly acceptEncoding: string
  readonly authorization: string
  readonly ifNoneMatch: string
  readonly contentType: string
  readonly contentLength: string
  readonly userAgent: string
  readonly auditId: string
  #request: uws.HttpRequest | undefined
  #headers: [name: string, value: string][] | undefined

  constructor(request: uws.HttpRequest) {
    this.method = request.getCaseSensitiveMethod()
    this.rawPath = request.getUrl()
    this.query = request.getQuery()
    this.accept = request.getHeader('accept')
    this.acceptEncoding = request.getHeader('accept-encoding')
    this.authorization = request.getHeader('authorization')
    this.ifNoneMatch = request.getHeader('if-none-match')
    this.contentType = request.getHeader('content-type')
    this.contentLength = request.getHeader('content-length')
    this.userAgent = request.getHeader('user-agent')
    this.auditId = request.getHeader('audit-id') || randomUUID()
    this.#request = request
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
    for (const [name, value] of this.#all()) visit(name, value)
  }

  keepHeaders(): void {
    this.#all()
  }

  turnEnded(): void {
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

const taken = (host: string, port: number): string =>
  `cannot listen on ${host}:${port}: the address is in use or not allowed`
