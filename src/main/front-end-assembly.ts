/**
 * Thread: main, or a front end's own. One front end, put together from plain configuration, a line to the owner and a line
 * to the process: so it runs in the main thread or in any number of others.
 *
 *   open() ──listen()──▶ listening ──stopListening()──▶ draining ──drain()──▶ ──close()──▶ closed
 */
import { readFileSync } from 'node:fs'
import type { MessagePort } from 'node:worker_threads'
import type { UserInfo } from '../api/user-info.js'
import { openAuthorizer } from '../auth/authz/open-authorizer.js'
import type { Authenticator } from '../auth/interface.js'
import { StaticTokens } from '../auth/static-tokens.js'
import { CacheClient } from '../cacher/cache-client.js'
import { systemClock } from '../lib/clock.js'
import { type Closable, Lifecycle } from '../lib/lifecycle.js'
import type { Logger } from '../lib/logger.js'
import type { Recorder } from '../metrics/recorder.js'
import type { ResourceChange } from '../protocol/resource-change.js'
import type { Served } from '../workers/served.js'
import { BulkTurns } from './bulk-turns.js'
import { ClientCacheView } from './cache-view.js'
import type { Config } from './config.js'
import { FlowControl } from './flow-control/flow-control.js'
import { FrontEnd } from './front-end.js'
import type { FrontEndState } from './front-end-state.js'
import { HttpServer } from './http-server.js'
import { Inflight } from './inflight.js'
import { NonResourcePaths } from './non-resource-paths.js'
import type { PoolRunner } from './pool.js'
import { RequestMetrics } from './request-metrics.js'
import { ServedResource } from './served-resource.js'
import { installServerPaths, type ProcessLine } from './server-paths.js'

/** What everybody is on a server without credentials, which listens on loopback only. */
const LOCAL_ADMIN: UserInfo = {
  name: 'system:admin',
  uid: '',
  groups: ['system:masters', 'system:authenticated'],
  extra: {},
}

export interface FrontEndAssemblyOptions {
  readonly config: Config
  readonly served: Served
  /** To the owner. */
  readonly ownerPort: MessagePort
  readonly pool: PoolRunner
  readonly line: ProcessLine
  readonly state: FrontEndState
  readonly logger: Logger
  readonly recorder: Recorder
}

interface AssemblyParts {
  readonly served: Served
  readonly config: Config
  readonly frontEnd: FrontEnd
  readonly turns: BulkTurns
  readonly lifecycle: Lifecycle
}

export class FrontEndAssembly implements Closable {
  readonly #config: Config
  readonly #turns: BulkTurns
  readonly #served: Served
  readonly #frontEnd: FrontEnd
  readonly #lifecycle: Lifecycle
  #http: HttpServer | undefined

  private constructor({ config, served, frontEnd, turns, lifecycle }: AssemblyParts) {
    this.#config = config
    this.#served = served
    this.#frontEnd = frontEnd
    this.#turns = turns
    this.#lifecycle = lifecycle
  }

  static async open(options: FrontEndAssemblyOptions): Promise<FrontEndAssembly> {
    const { config, served, pool, line, state, logger, recorder } = options
    const lifecycle = new Lifecycle()
    const cache = await CacheClient.attach(options.ownerPort)
    lifecycle.own('cache', { close: () => cache.detach() })
    const access = openAuthorizer({
      config: config.authorization,
      cache: (resource) => cache.resource(resource),
      clock: systemClock,
      random: Math.random,
    })
    lifecycle.own('authorizer', access)
    const paths = new NonResourcePaths()
    const view = new ClientCacheView(cache)
    const turns = new BulkTurns()
    const flowControl = config.priorityAndFairness
      ? new FlowControl({
          client: cache,
          view,
          clock: systemClock,
          turns,
          totalSeats: config.inflight.maxRequests + config.inflight.maxMutatingRequests,
          frontEnds: config.frontEnds,
          requestTimeoutMs: config.requestTimeoutMs,
          resolve: (info) => frontEnd.resource(info),
        })
      : undefined
    const frontEnd: FrontEnd = new FrontEnd({
      cache: view,
      pool,
      clock: systemClock,
      random: Math.random,
      logger,
      nonResourcePaths: paths,
      gate: flowControl?.gate ?? new Inflight(config.inflight, state),
      requestTimeoutMs: config.requestTimeoutMs,
      minRequestTimeoutSeconds: config.minRequestTimeoutSeconds,
      authenticator: authenticator(config),
      observer: new RequestMetrics(recorder),
      authorizer: access.authorizer,
    })
    const assembly = new FrontEndAssembly({ config, served, frontEnd, turns, lifecycle })
    assembly.#serve()
    if (flowControl !== undefined) {
      flowControl.start()
      lifecycle.own('flow control', { close: () => flowControl.stop() })
    }
    const address = (): string => `${config.host}:${assembly.port}`
    installServerPaths(paths, { served, pool, line, state, address, accessReady: () => access.ready() })
    return assembly
  }

  /** 0 before it listens. */
  get port(): number {
    return this.#http?.port ?? 0
  }

  /** `sharePort`: another front end of this process listens there already. */
  async listen(port: number, sharePort: boolean): Promise<number> {
    const { host, tls } = this.#config
    const http = new HttpServer({ host, port, tls, sharePort, turns: this.#turns, onRequest: this.#frontEnd.handle })
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

function authenticator({ tokenFile }: Config): Authenticator {
  if (tokenFile === '') return { authenticate: () => ({ user: LOCAL_ADMIN }) }
  const tokens = StaticTokens.parse(readFileSync(tokenFile, 'utf8'))
  return {
    authenticate: ({ authorization }) => {
      const user = authorization.startsWith('Bearer ') ? tokens.find(authorization.slice(7).trim()) : undefined
      return user === undefined ? undefined : { user }
    },
  }
}
