/**
 * Thread: main, or a front end's own. One front end, put together from plain configuration, a line to the owner and a line
 * to the process: so it runs in the main thread or in any number of others.
 *
 *   open() ──listen()──▶ listening ──stopListening()──▶ draining ──drain()──▶ ──close()──▶ closed
 */
import { formatGroupResource } from '../../api/group-version.js'
import type { Authentication } from '../../auth/authn/authentication.js'
import type { OpenedAuthorizer } from '../../auth/authz/open-authorizer.js'
import { type Closable, Lifecycle } from '../../lib/lifecycle.js'
import type { ThreadChange } from '../../protocol/resource-change.js'
import type { RenewedCredentials, ServerCredentials, TlsFiles } from '../../protocol/server-credentials.js'
import type { Served } from '../../workers/scheme/served.js'
import type { FrontEndAggregation } from '../aggregation/front-end-aggregation.js'
import type { Config } from '../flags/config.js'
import { BulkTurns } from '../http/bulk-turns.js'
import type { ConnectionLimit } from '../http/connection-limit.js'
import { loggedFailures } from '../http/exchange-failures.js'
import type { ExchangeServices } from '../http/exchange-services.js'
import type { EngineChoice } from '../http/http-engine.js'
import { HttpServer } from '../http/http-server.js'
import { NonResourcePaths } from '../paths/non-resource-paths.js'
import type { FrontEnd } from '../request/front-end.js'
import { ServedResource } from '../verbs/served-resource.js'
import {
  type FrontEndAssemblyOptions,
  installPaths,
  openAccess,
  openConnectionLimit,
  openFrontEnd,
  openSlowAnswers,
} from './front-end-parts.js'

interface AssemblyParts {
  readonly served: Served
  readonly config: Config
  readonly engine: EngineChoice
  readonly credentials: ServerCredentials
  readonly authentication: Authentication
  readonly access: OpenedAuthorizer
  readonly aggregation: FrontEndAggregation
  readonly frontEnd: FrontEnd
  readonly lifecycle: Lifecycle
  readonly services: ExchangeServices
  readonly connections: ConnectionLimit
}

export class FrontEndAssembly implements Closable {
  readonly #config: Config
  readonly #engine: EngineChoice
  readonly #authentication: Authentication
  readonly #access: OpenedAuthorizer
  readonly #aggregation: FrontEndAggregation
  #tls: TlsFiles | undefined
  readonly #served: Served
  readonly #frontEnd: FrontEnd
  readonly #lifecycle: Lifecycle
  readonly #services: ExchangeServices
  readonly #connections: ConnectionLimit
  #http: HttpServer | undefined

  private constructor(parts: AssemblyParts) {
    const { config, engine, served, credentials, authentication, aggregation, frontEnd, lifecycle, services } = parts
    this.#access = parts.access
    this.#engine = engine
    this.#services = services
    this.#connections = parts.connections
    this.#aggregation = aggregation
    this.#config = config
    this.#served = served
    this.#tls = credentials.tls
    this.#authentication = authentication
    this.#frontEnd = frontEnd
    this.#lifecycle = lifecycle
  }

  static async open(options: FrontEndAssemblyOptions): Promise<FrontEndAssembly> {
    const { config, served, credentials } = options
    const lifecycle = new Lifecycle()
    const access = await openAccess(options, lifecycle)
    const { authentication, aggregation } = access
    const turns = new BulkTurns()
    const paths = new NonResourcePaths()
    const frontEnd = openFrontEnd(options, access, turns, paths, lifecycle)
    const assembly = new FrontEndAssembly({
      config,
      engine: options.engine,
      served,
      credentials,
      authentication,
      access: access.access,
      aggregation,
      frontEnd,
      lifecycle,
      services: {
        turns,
        failures: loggedFailures(options.logger, options.recorder),
        slowAnswers: openSlowAnswers(options),
        headers: standingHeaders(config),
        compresses: config.features.responseCompression,
      },
      connections: openConnectionLimit(options),
    })
    assembly.#serve()
    installPaths(options, access, paths, () => `${config.externalHostname || config.host}:${assembly.port}`)
    return assembly
  }

  /** The port that the front end listens on; 0 before it does. */
  get port(): number {
    return this.#http?.port ?? 0
  }

  /** `isTaken`: another front end of this process listens on the port already. */
  async listen(port: number, isTaken: boolean): Promise<number> {
    const { host } = this.#config
    const tls = this.#tls
    const http = new HttpServer({
      host,
      port,
      tls,
      engine: this.#engine,
      http2: this.#config.http2,
      sharePort: this.#config.frontEnds > 1 || this.#config.permitPortSharing,
      isTaken: isTaken || this.#config.permitPortSharing,
      connections: this.#connections,
      services: this.#services,
      onRequest: this.#frontEnd.handle,
    })
    await http.start()
    this.#http = http
    this.#lifecycle.own('http', http)
    return http.port
  }

  /** A defined resource came, changed or went, or it has changed who may do what. */
  change(change: ThreadChange): void {
    if (change.type === 'access') {
      if (change.authentication !== undefined) this.#authentication.change(change.authentication)
      if (change.authorization !== undefined) this.#access.change(change.authorization)
      return
    }
    this.#served.apply(change)
    const groupResource = change.type === 'remove' ? change.groupResource : change.definition
    const versions = this.#served.definedPaths(groupResource).map((path) => new ServedResource(path))
    this.#frontEnd.change(formatGroupResource(groupResource), versions)
  }

  /** Open connections keep their certificates; who their clients are is judged by the new authorities. */
  renewCredentials(renewed: RenewedCredentials): void {
    const { tls } = renewed
    this.#aggregation.renewCredentials(renewed)
    this.#tls = tls
    this.#authentication.replaceAuthorities(renewed)
    this.#http?.useCertificates(tls)
  }

  /** Takes no new connections; those that are open go on. */
  stopListening(): void {
    this.#http?.stopListening()
  }

  /** Resolves when no request is under way but long-running ones. */
  settle(): Promise<void> {
    return this.#frontEnd.settle()
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

function standingHeaders({ browsers }: Config): readonly string[] {
  const { strictTransportSecurity } = browsers
  return strictTransportSecurity === '' ? [] : ['Strict-Transport-Security', strictTransportSecurity]
}
