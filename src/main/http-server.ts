/** Thread: main. The listener: the only importer of uWebSockets.js. Makes an Exchange of each request and hands it on. */

import * as uws from 'uWebSockets.js'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import type { Closable } from '../lib/lifecycle.js'
import { Exchange, type ResponsePort } from './exchange.js'

export interface HttpServerOptions {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly tls: { readonly certFile: string; readonly keyFile: string } | undefined
  /** Several threads may listen on one port; the kernel shares connections out. */
  readonly sharePort: boolean
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
    if (!sharePort && port !== 0 && !(await isFree(host, port))) throw new ListenError(taken(host, port))
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
    const head = {
      method: request.getCaseSensitiveMethod(),
      rawPath: request.getUrl(),
      query: request.getQuery(),
      accept: request.getHeader('accept'),
      acceptEncoding: request.getHeader('accept-encoding'),
      authorization: request.getHeader('authorization'),
      ifNoneMatch: request.getHeader('if-none-match'),
      contentType: request.getHeader('content-type'),
      contentLength: request.getHeader('content-length'),
      userAgent: request.getHeader('user-agent'),
      auditId: request.getHeader('audit-id') || randomUUID(),
    }
    this.#options.onRequest(new Exchange(head, response as unknown as ResponsePort))
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

const taken = (host: string, port: number): string =>
  `cannot listen on ${host}:${port}: the address is in use or not allowed`

/**
 * uWebSockets.js lets a second process share a port unnoticed. Its exclusive way of listening is no help: it refuses a
 * port for a minute after a restart, while connections of the last process are still remembered.
 */
function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(true)))
  })
}
