/**
 * Thread: main, or a front end's own. One front end, put together from plain configuration, a line to the owner and a line
 * to the process: so it runs in the main thread or in any number of others.
 *
 *   open() ──listen()──▶ listening ──stopListening()──▶ draining ──drain()──▶ ──close()──▶ closed
 */
import type { Authentication } from '../../auth/authn/authentication.js'
import { type Closable, Lifecycle } from '../../lib/lifecycle.js'
import type { ResourceChange } from '../../protocol/resource-change.js'
import type { RenewedCredentials, ServerCredentials, TlsFiles } from '../../protocol/server-credentials.js'
import type { Served } from '../../workers/scheme/served.js'
import type { Config } from '../flags/config.js'
import { BulkTurns } from '../http/bulk-turns.js'
import { type ExchangeFailures, loggedFailures } from '../http/exchange-failures.js'
import { HttpServer } from '../http/http-server.js'
import { NonResourcePaths } from '../paths/non-resource-paths.js'
import type { FrontEnd } from '../request/front-end.js'
import { ServedResource } from '../verbs/served-resource.js'
import { type FrontEndAssemblyOptions, installPaths, openAccess, openFrontEnd } from './front-end-parts.js'

interface AssemblyParts {
  readonly served: Served
  readonly config: Config
  readonly credentials: ServerCredentials
  readonly authentication: Authentication
  readonly frontEnd: FrontEnd
  readonly turns: BulkTurns
  readonly lifecycle: Lifecycle
  readonly failures: ExchangeFailures
}

export class FrontEndAssembly implements Closable {
  readonly #config: Config
  readonly #authentication: Authentication
  #tls: TlsFiles | undefined
  readonly #turns: BulkTurns
  readonly #served: Served
  readonly #frontEnd: FrontEnd
  readonly #lifecycle: Lifecycle
  readonly #failures: ExchangeFailures
  #http: HttpServer | undefined

  private constructor({
    config,
    served,
    credentials,
    authentication,
    frontEnd,
    turns,
    lifecycle,
    failures,
  }: AssemblyParts) {
    this.#failures = failures
    this.#config = config
    this.#served = served
    this.#tls = credentials.tls
    this.#authentication = authentication
    this.#frontEnd = frontEnd
    this.#turns = turns
    this.#lifecycle = lifecycle
  }

  static async open(options: FrontEndAssemblyOptions): Promise<FrontEndAssembly> {
    const { config, served, credentials } = options
    const lifecycle = new Lifecycle()
    const access = await openAccess(options, lifecycle)
    const { authentication } = access
    const turns = new BulkTurns()
    const paths = new NonResourcePaths()
    const frontEnd = openFrontEnd(options, access, turns, paths, lifecycle)
    const assembly = new FrontEndAssembly({
      config,
      served,
      credentials,
      authentication,
      frontEnd,
      turns,
      lifecycle,
      failures: loggedFailures(options.logger, options.recorder),
    })
    assembly.#serve()
    installPaths(options, access, paths, () => `${config.host}:${assembly.port}`)
    return assembly
  }

  /** 0 before it listens. */
  get port(): number {
    return this.#http?.port ?? 0
  }

  /** `sharePort`: another front end of this process listens there already. */
  async listen(port: number, sharePort: boolean): Promise<number> {
    const { host } = this.#config
    const tls = this.#tls
    const http = new HttpServer({
      host,
      port,
      tls,
      sharePort,
      turns: this.#turns,
      onRequest: this.#frontEnd.handle,
      failures: this.#failures,
    })
    await http.start()
    this.#http = http
    this.#lifecycle.own('http', http)
    return http.port
  }

  /** A defined resource came, changed or went. */
  change(change: ResourceChange): void {
    this.#served.apply(change)
    this.#serve()
  }

  /** Connections that are open keep their certificates; who their clients are is judged by the new authorities. */
  renewCredentials({ tls, clientCa, frontProxyCa }: RenewedCredentials): void {
    this.#tls = tls
    this.#authentication.replaceAuthorities(clientCa, frontProxyCa)
    this.#http?.useCertificates(tls)
  }

  /** No new connections; those that are open go on. */
  stopListening(): void {
    this.#http?.stopListening()
  }

  /** Ends every watch and resolves when no request is under way. */
  drain(): Promise<void> {
    return this.#frontEnd.drain()
  }

  close(): Promise<void> {
    return this.#lifecycle.close()
  }

  #serve(): void {
    this.#frontEnd.serve(this.#served.resources().map((resource) => new ServedResource(resource)))
  }
}
