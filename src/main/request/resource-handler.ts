/**
 * Thread: main. The end of the filters: the resource that a path names, whether the path and the verb suit it, and who
 * carries the verb out. Reads are answered here from shared memory, writes by the pool, streams by another server.
 */
import type { RequestInfo } from '../../api/request-info.js'
import { newGenericServerResponse } from '../../api/status.js'
import type { Exchange } from '../http/exchange.js'
import type { NonResourcePaths } from '../paths/non-resource-paths.js'
import { takesCustomPath } from '../verbs/custom-shape.js'
import type { PoolRequests } from '../verbs/pool-requests.js'
import type { ReadRequest } from '../verbs/read-context.js'
import type { ReadVerbs } from '../verbs/read-verbs.js'
import { checkLegacyPath, checkShape, ResourceTable } from '../verbs/resource-table.js'
import type { ServedResource } from '../verbs/served-resource.js'
import type { ApiRequest } from './api-request.js'
import type { Connector, Relay } from './connector.js'
import { isMutating } from './inflight.js'
import type { RequestObserver } from './request-observer.js'

export interface ResourceHandlerOptions {
  readonly nonResourcePaths: NonResourcePaths
  readonly reads: ReadVerbs
  readonly pool: PoolRequests
  readonly observer: RequestObserver | undefined
  /** Without one, nothing is passed on to kubelets, pods and services. */
  readonly connector: Connector | undefined
  /** Without one, nothing is passed on to other API servers. */
  readonly relay: Relay | undefined
}

export class ResourceHandler {
  readonly #options: ResourceHandlerOptions
  #resources = new ResourceTable([])

  constructor(options: ResourceHandlerOptions) {
    this.#options = options
  }

  serve(resources: ResourceTable): void {
    this.#resources = resources
  }

  /** The resource that a request names; undefined when this server does not serve it. */
  resource(info: RequestInfo): ServedResource | undefined {
    const found = this.#resources.resolve(info)
    return typeof found === 'string' ? undefined : found
  }

  handle(request: ApiRequest): Promise<void> | undefined {
    const { exchange, info, query } = request
    if (request.remote !== undefined) return this.#relay(request)
    if (!info.isResourceRequest) return this.#options.nonResourcePaths.handle(exchange, info.path, query)
    checkLegacyPath(info, exchange.head.method)
    const resource = this.#resolve(exchange, info)
    if (resource === undefined) return undefined
    if (resource.isCustom && !takesCustomPath(info, resource)) {
      this.#options.nonResourcePaths.notFound(exchange)
      return undefined
    }
    if (resource.headers !== undefined) {
      exchange.extraHeaders = [...exchange.extraHeaders, ...resource.headers]
      this.#options.observer?.onDeprecated?.(request)
    }
    if (!resource.isCustom) checkShape(info, resource, info.parts.length > 1)
    request.resource = resource
    const pending = this.#dispatch(request)
    // A watch or a stream gives its place of flow control back once it has begun.
    return request.longRunning ? pending?.finally(() => request.leave()) : pending
  }

  /** Passes the whole request on to the API server that serves its group and version. */
  #relay(request: ApiRequest): Promise<void> | undefined {
    const { relay } = this.#options
    const { remote, info, exchange } = request
    if (info.isResourceRequest) checkLegacyPath(info, exchange.head.method)
    if (relay === undefined || remote === undefined) throw newGenericServerResponse(404)
    const pending = relay.relay(request, remote)
    return request.longRunning ? pending.finally(() => request.leave()) : pending
  }

  /** Undefined when the request has been answered: a path of an unknown group gets the 404 of a path that is no resource. */
  #resolve(exchange: Exchange, info: RequestInfo): ServedResource | undefined {
    const found = this.#resources.resolve(info)
    if (found === 'no-group') {
      this.#options.nonResourcePaths.notFound(exchange)
      return undefined
    }
    if (found === 'no-resource') throw newGenericServerResponse(404)
    return found
  }

  #dispatch(request: ApiRequest): Promise<void> | undefined {
    const { info, exchange } = request
    if (request.isPassedOn) return this.#passOn(request)
    if (exchange.head.method === 'HEAD' || info.verb === '') throw newGenericServerResponse(405)
    if (isMutating(info.verb)) return this.#options.pool.write(request)
    return this.#options.reads.answer(request)
  }

  /** Passes log, exec and their kin on to the server that answers them. */
  #passOn(request: ReadRequest): Promise<void> {
    const { connector, pool } = this.#options
    if (connector === undefined) throw newGenericServerResponse(404)
    return connector.connect(request, pool.withoutBody(request))
  }
}
