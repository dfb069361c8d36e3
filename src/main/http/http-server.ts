/**
 * Thread: main, or a front end's own. The listener: it runs an engine and makes an Exchange of each of its requests.
 */

import type { Closable } from '../../lib/lifecycle.js'
import type { TlsFiles } from '../../protocol/server-credentials.js'
import { type ConnectionLimit, NO_LIMIT } from './connection-limit.js'
import { makeEngine } from './engine-choice.js'
import { Exchange } from './exchange.js'
import type { ExchangeServices } from './exchange-services.js'
import { headProblem } from './head-check.js'
import {
  type EngineChoice,
  type Http2Options,
  type HttpEngine,
  ListenError,
  type TakeOver,
  type Upgrade,
} from './http-engine.js'
import { portProblem } from './port-probe.js'
import type { RequestHead } from './request-head.js'
import type { ResponsePort } from './response-port.js'

export interface HttpServerOptions {
  readonly host: string
  /** The port to listen on; 0 stands for any free one. */
  readonly port: number
  readonly tls: TlsFiles | undefined
  readonly engine: EngineChoice
  readonly http2: Http2Options
  /** True when several threads of this process listen on the port. */
  readonly sharePort: boolean
  /**
   * True when another thread of this process listens on the port already. Then the port is not probed: it would seem to
   * be in use.
   */
  readonly isTaken: boolean
  /** Without one, every client is taken. */
  readonly connections?: ConnectionLimit
  readonly services: ExchangeServices
  readonly onRequest: (exchange: Exchange) => void
}

export class HttpServer implements Closable {
  readonly #options: HttpServerOptions
  #engine: HttpEngine | undefined

  constructor(options: HttpServerOptions) {
    this.#options = options
  }

  get port(): number {
    return this.#engine?.port ?? 0
  }

  async start(): Promise<void> {
    const { tls, host, port, sharePort, isTaken, engine: choice, http2, connections = NO_LIMIT } = this.#options
    const problem = isTaken ? undefined : await portProblem(host, port)
    if (problem !== undefined) throw new ListenError(`cannot listen on ${host}:${port}: ${problem}`)
    const accept = this.#accept.bind(this)
    const engine = makeEngine(choice, { host, port, tls, sharePort, http2, connections, accept })
    await engine.start()
    this.#engine = engine
  }

  /** Changes the certificates: new connections get these, open ones keep theirs. */
  useCertificates(tls: TlsFiles): void {
    this.#engine?.useCertificates(tls)
  }

  #accept(head: RequestHead, port: ResponsePort, upgrade?: Upgrade, takeOver?: TakeOver): void {
    const { services, onRequest } = this.#options
    const exchange = new Exchange(head, port, services, upgrade, takeOver)
    const problem = headProblem(head)
    if (problem === undefined) exchange.attempt(() => onRequest(exchange))
    else
      exchange.respondAndClose(
        { status: 400, contentType: 'text/plain; charset=utf-8' },
        `400 Bad Request: ${problem}\n`,
      )
  }

  /** Accepts no new connections; open ones go on. */
  stopListening(): void {
    this.#engine?.stopListening()
  }

  /** Closes the connections that are still open. */
  async close(): Promise<void> {
    await this.#engine?.close()
    this.#engine = undefined
  }
}
