/**
 * Thread: main, or a front end's own. One front end, put together from plain configuration, a line to the owner and a line
 * to the process: so it runs in the main thread or in any number of others.
 *
 *   open() ──listen()──▶ listening ──stopListening()──▶ draining ──drain()──▶ ──close()──▶ closed
 */
import type { MessagePort } from 'node:worker_threads'
import type { RequestInfo } from '../../api/request-info.js'
import { Authentication } from '../../auth/authn/authentication.js'
import { MeteredAuthenticator } from '../../auth/authn/metered-authenticator.js'
import { SharedObjects } from '../../auth/authn/object-source.js'
import { MeteredAuthorizer } from '../../auth/authz/metered-authorizer.js'
import { openAuthorizer } from '../../auth/authz/open-authorizer.js'
import { CacheClient } from '../../cacher/read/cache-client.js'
import { systemClock } from '../../lib/clock.js'
import { type Closable, Lifecycle } from '../../lib/lifecycle.js'
import type { Logger } from '../../lib/logger.js'
import { ClientMetrics } from '../../metrics/client-metrics.js'
import { auditFamilies } from '../../metrics/families.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { ResourceChange } from '../../protocol/resource-change.js'
import type { RenewedCredentials, ServerCredentials, TlsFiles } from '../../protocol/server-credentials.js'
import type { Served } from '../../workers/scheme/served.js'
import { AuditLine } from '../audit/audit-line.js'
import { AuditObserver } from '../audit/audit-observer.js'
import { AuditPolicy } from '../audit/audit-policy.js'
import type { Config } from '../flags/config.js'
import { FlowControl } from '../flow-control/flow-control.js'
import { FlowMetrics } from '../flow-control/flow-metrics.js'
import { BulkTurns } from '../http/bulk-turns.js'
import { HttpServer } from '../http/http-server.js'
import { KubeletConnector } from '../kubelet/kubelet-connector.js'
import { NonResourcePaths } from '../paths/non-resource-paths.js'
import { installOpenIdPaths } from '../paths/openid-paths.js'
import { installServerPaths, type ProcessLine } from '../paths/server-paths.js'
import { FrontEnd } from '../request/front-end.js'
import { Inflight } from '../request/inflight.js'
import { objectsOf } from '../request/object-access.js'
import { RequestLog } from '../request/request-log.js'
import { RequestMetrics } from '../request/request-metrics.js'
import { type RequestObserver, RequestObservers } from '../request/request-observer.js'
import { ServedResource } from '../verbs/served-resource.js'
import type { FrontEndState } from './front-end-state.js'
import type { PoolRunner } from './pool.js'

export interface FrontEndAssemblyOptions {
  readonly config: Config
  readonly credentials: ServerCredentials
  readonly served: Served
  /** To the owner. */
  readonly ownerPort: MessagePort
  /** To the audit thread, when there is one. */
  readonly auditPort: MessagePort | undefined
  readonly pool: PoolRunner
  readonly line: ProcessLine
  readonly state: FrontEndState
  readonly logger: Logger
  readonly recorder: Recorder
}

interface AssemblyParts {
  readonly served: Served
  readonly config: Config
  readonly credentials: ServerCredentials
  readonly authentication: Authentication
  readonly frontEnd: FrontEnd
  readonly turns: BulkTurns
  readonly lifecycle: Lifecycle
}

export class FrontEndAssembly implements Closable {
  readonly #config: Config
  readonly #authentication: Authentication
  #tls: TlsFiles | undefined
  readonly #turns: BulkTurns
  readonly #served: Served
  readonly #frontEnd: FrontEnd
  readonly #lifecycle: Lifecycle
  #http: HttpServer | undefined

  private constructor({ config, served, credentials, authentication, frontEnd, turns, lifecycle }: AssemblyParts) {
    this.#config = config
    this.#served = served
    this.#tls = credentials.tls
    this.#authentication = authentication
    this.#frontEnd = frontEnd
    this.#turns = turns
    this.#lifecycle = lifecycle
  }

  static async open(options: FrontEndAssemblyOptions): Promise<FrontEndAssembly> {
    const { config, credentials, served, pool, line, state, logger, recorder } = options
    const lifecycle = new Lifecycle()
    const cache = await CacheClient.attach(options.ownerPort)
    lifecycle.own('cache', { close: () => cache.detach() })
    const access = openAuthorizer({
      config: config.authorization,
      cache: (resource) => cache.resource(resource),
      clock: systemClock,
      random: Math.random,
      recorder,
    })
    lifecycle.own('authorizer', access)
    const objects = new SharedObjects(objectsOf(cache, served, pool))
    const authentication = new Authentication(credentials.authentication, {
      objects,
      clock: systemClock,
      random: Math.random,
      recorder,
    })
    lifecycle.own('authentication', authentication)
    const paths = new NonResourcePaths()
    const turns = new BulkTurns()
    const flowControl = config.priorityAndFairness
      ? new FlowControl({
          client: cache,
          clock: systemClock,
          turns,
          totalSeats: config.inflight.maxRequests + config.inflight.maxMutatingRequests,
          frontEnds: config.frontEnds,
          requestTimeoutMs: config.requestTimeoutMs,
          watchCounts: state.watchCounts,
          resolve: (info) => frontEnd.resource(info),
          recorder: new FlowMetrics(recorder),
        })
      : undefined
    const connector = new KubeletConnector({
      pool,
      trust: config.kubelet,
      authorizer: access.authorizer,
      metrics: new ClientMetrics(recorder),
      frontProxyHeaders: credentials.authentication.frontProxy?.headers,
    })
    lifecycle.own('connections to kubelets', connector)
    const frontEnd: FrontEnd = new FrontEnd({
      connector,
      views: (resource) => cache.resource(resource),
      pool,
      clock: systemClock,
      random: Math.random,
      logger,
      nonResourcePaths: paths,
      gate: flowControl?.gate ?? new Inflight(config.inflight, state),
      requestTimeoutMs: config.requestTimeoutMs,
      minRequestTimeoutSeconds: config.minRequestTimeoutSeconds,
      authenticator: new MeteredAuthenticator(authentication.authenticator, recorder, systemClock),
      observer: openObserver(options, lifecycle, (info) => frontEnd.serves(info)),
      recorder,
      authorizer: new MeteredAuthorizer(access.authorizer, recorder, systemClock),
    })
    const assembly = new FrontEndAssembly({ config, served, credentials, authentication, frontEnd, turns, lifecycle })
    assembly.#serve()
    if (flowControl !== undefined) {
      flowControl.start()
      lifecycle.own('flow control', { close: () => flowControl.stop() })
    }
    const address = (): string => `${config.host}:${assembly.port}`
    installOpenIdPaths(paths, credentials.authentication.serviceAccounts, address)
    installServerPaths(paths, {
      served,
      pool,
      line,
      state,
      address,
      accessReady: () => access.ready(),
      config,
      window: (resource) => {
        const view = cache.resource(resource)
        const arena = view.arena()
        return arena && { oldest: arena.oldestRevision(), newest: view.clock.revision() }
      },
      clock: systemClock,
      recorder,
    })
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

function openObserver(
  { config, recorder, auditPort, logger }: FrontEndAssemblyOptions,
  lifecycle: Lifecycle,
  isServed: (info: RequestInfo) => boolean,
): RequestObserver {
  const observers: RequestObserver[] = [
    new RequestMetrics(recorder, isServed),
    new RequestLog({ logger, slowMs: config.slowRequestMs, everything: config.logLevel === 'debug' }),
  ]
  const { audit } = config
  if (audit === undefined || auditPort === undefined) return new RequestObservers(observers)
  const modes = [audit.log, audit.webhook].flatMap((backend) => (backend === undefined ? [] : [backend.mode]))
  const dropped = recorder.series(auditFamilies.errors, 'buffered')
  const failed = recorder.series(auditFamilies.errors, 'backend')
  const line = new AuditLine({
    port: auditPort,
    bufferSize: Math.max(audit.log?.bufferSize ?? 0, audit.webhook?.bufferSize ?? 0),
    onDropped: (events) => dropped.add(events),
    onFailed: (events) => failed.add(events),
  })
  lifecycle.own('audit', line)
  const made = recorder.series(auditFamilies.events)
  return new RequestObservers([
    ...observers,
    new AuditObserver({
      policy: new AuditPolicy(audit.policy),
      line,
      clock: systemClock,
      blocking: modes.includes('blocking-strict') ? 'strict' : modes.includes('blocking') ? 'yes' : 'no',
      onEvent: () => made.add(1),
      onRejected: () => recorder.series(auditFamilies.rejected).add(1),
      onLevel: (level) => recorder.series(auditFamilies.level, level).add(1),
    }),
  ])
}
