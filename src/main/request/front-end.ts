/**
 * Thread: main, or a front end's own. The way of every request through the filters, in this order, to its verb:
 *
 *   request info ─▶ stopping ─▶ browsers ─▶ public paths ─▶ authentication ─▶ audit ─▶ impersonation ─▶ flow control
 *   ─▶ authorization ─▶ resource
 *
 * Each filter is a file in filters/. Here are the way itself, the deadline of each request, and its end.
 */
import type { RequestInfo } from '../../api/request-info.js'
import type { Authenticator, Authorizer } from '../../auth/interface.js'
import type { ResourceViews } from '../../cacher/read/resource-view.js'
import type { Clock } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'
import type { Logger } from '../../lib/logger.js'
import { noRecorder, type Recorder } from '../../metrics/recorder.js'
import type { Exchange } from '../http/exchange.js'
import { writeStatus } from '../http/write-status.js'
import type { NonResourcePaths } from '../paths/non-resource-paths.js'
import type { PoolRunner } from '../threads/pool.js'
import { PoolRequests } from '../verbs/pool-requests.js'
import { ReadVerbs } from '../verbs/read-verbs.js'
import { ResourceTable } from '../verbs/resource-table.js'
import type { ServedResource } from '../verbs/served-resource.js'
import { ApiRequest } from './api-request.js'
import type { Connector, Relay } from './connector.js'
import { withAudit } from './filters/audit.js'
import { withAuthentication, withPublicPaths } from './filters/authentication.js'
import { withAuthorization } from './filters/authorization.js'
import { withBrowsers } from './filters/browsers.js'
import type { RequestHandler } from './filters/filter.js'
import { withFlowControl } from './filters/flow-control.js'
import { withImpersonation } from './filters/impersonation.js'
import { withRequestInfo } from './filters/request-info.js'
import { withStopping } from './filters/stopping.js'
import type { RequestGate } from './request-gate.js'
import { RequestInfoCache } from './request-info-cache.js'
import type { RequestObserver } from './request-observer.js'
import { timedOut } from './request-timeout.js'
import { ResourceHandler } from './resource-handler.js'
import { writeError } from './write-error.js'

export interface FrontEndOptions {
  /** The views through which the resources of shared memory are read. */
  readonly views: ResourceViews
  readonly pool: PoolRunner
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly nonResourcePaths: NonResourcePaths
  readonly requestTimeoutMs: number
  readonly minRequestTimeoutSeconds: number
  readonly authenticator: Authenticator
  /** Without one, everybody may do everything. */
  readonly authorizer?: Authorizer | undefined
  readonly gate: RequestGate
  /** Regular expressions of the origins whose pages may use the server from a browser. */
  readonly allowedOrigins?: readonly string[] | undefined
  /** Whether watches may ask for the state of now as events; true unless said otherwise. */
  readonly watchList?: boolean | undefined
  /** Whether new requests are to come again later, because the server stops. */
  readonly isRefusing?: (() => boolean) | undefined
  readonly observer?: RequestObserver | undefined
  readonly recorder?: Recorder | undefined
  /** Without one, nothing is passed on to kubelets, pods and services. */
  readonly connector?: Connector | undefined
  /** Without one, nothing is passed on to other API servers. */
  readonly relay?: Relay | undefined
}

export class FrontEnd {
  readonly #options: FrontEndOptions
  readonly #reads: ReadVerbs
  #table = new ResourceTable([])
  readonly #resources: ResourceHandler
  readonly #firstFilter: RequestHandler
  #idle: (() => void) | undefined
  #open = 0
  /** Of the open requests, those that last as long as their clients like. */
  readonly #lasting = new Set<ApiRequest>()
  #settled: (() => void) | undefined

  constructor(options: FrontEndOptions) {
    this.#options = options
    const { views, pool, clock, random, minRequestTimeoutSeconds, observer, connector, nonResourcePaths } = options
    const poolRequests = new PoolRequests(pool, clock)
    this.#reads = new ReadVerbs({
      views,
      pool,
      poolRequests,
      clock,
      random,
      minRequestTimeoutSeconds,
      watchList: options.watchList ?? true,
      recorder: options.recorder ?? noRecorder(),
      logger: options.logger,
    })
    this.#resources = new ResourceHandler({
      nonResourcePaths,
      reads: this.#reads,
      pool: poolRequests,
      observer,
      connector,
      relay: options.relay,
    })
    this.#firstFilter = filters(options, this.#resources)
  }

  serve(resources: readonly ServedResource[]): void {
    this.#table = new ResourceTable(resources)
    this.#resources.serve(this.#table)
    this.#reads.endLostWatches(this.#table)
  }

  /** A defined resource came, changed or went. What it costs does not depend on how many others there are. */
  change(name: string, versions: readonly ServedResource[]): void {
    this.#table.change(name, versions)
    this.#reads.endLostWatches(this.#table, name)
  }

  /** The resource that a request names; undefined when this server does not serve it. */
  resource(info: RequestInfo): ServedResource | undefined {
    return this.#resources.resource(info)
  }

  /** Whether the resource that a request names is served, and its subresource when it names one. */
  serves(info: RequestInfo): boolean {
    const found = this.resource(info)
    if (found === undefined || info.subresource === '') return found !== undefined
    return found.info.subresources.some(({ name }) => name === info.subresource)
  }

  readonly handle = (exchange: Exchange): void => {
    const request = new ApiRequest(exchange, this.#options.clock.monotonicMs())
    this.#open++
    exchange.onFinished((status) => this.#finished(request, status))
    try {
      const pending = this.#firstFilter(request)
      pending?.catch((error: unknown) => writeError(exchange, error, this.#options.logger))
    } catch (error) {
      writeError(exchange, error, this.#options.logger)
    }
    // Most requests are answered by now and need no timer for their deadline.
    if (exchange.over) return
    if (request.longRunning) this.#lasting.add(request)
    else this.#watchDeadline(request)
  }

  #watchDeadline(request: ApiRequest): void {
    const { exchange } = request
    const over = exchange.guard(() => {
      if (exchange.answered) exchange.breakOff()
      else writeStatus(exchange, timedOut.status)
    })
    request.deadline = this.#options.clock.after(request.timeoutMs, over)
  }

  #finished(request: ApiRequest, status: number): void {
    request.finished()
    const { observer, clock } = this.#options
    observer?.onFinished(request, {
      status,
      bytes: request.exchange.bytesSent,
      durationMs: clock.monotonicMs() - request.startedMs,
    })
    this.#open--
    this.#lasting.delete(request)
    if (this.#open === 0) this.#idle?.()
    if (this.#settled !== undefined && this.#open === this.#lasting.size) this.#settled()
  }

  /** Resolves when no request is under way but long-running ones. */
  async settle(): Promise<void> {
    if (this.#open === this.#lasting.size) return
    await new Promise<void>((resolve) => {
      this.#settled = resolve
    })
  }

  /** Ends every watch and resolves when no request is under way. */
  async drain(): Promise<void> {
    this.#reads.endAllWatches()
    if (this.#open === 0) return
    await new Promise<void>((resolve) => {
      this.#idle = resolve
    })
  }
}

/** Read from the bottom up: the last one written is the first to see a request. */
function filters(options: FrontEndOptions, resources: ResourceHandler): RequestHandler {
  const { observer, clock, gate, authorizer, authenticator, nonResourcePaths, requestTimeoutMs } = options
  let next = withAuthorization((request) => resources.handle(request), authorizer)
  next = withFlowControl(next, { gate, clock, observer })
  next = withImpersonation(next, authorizer)
  next = withAudit(next, observer)
  next = withAuthentication(next, authenticator)
  next = withPublicPaths(next, nonResourcePaths)
  next = withBrowsers(next, options.allowedOrigins ?? [])
  next = withStopping(next, options.isRefusing)
  return withRequestInfo(next, {
    infoCache: new RequestInfoCache(),
    resource: (info) => resources.resource(info),
    relay: options.relay,
    requestTimeoutMs,
    observer,
  })
}
