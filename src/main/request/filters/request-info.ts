/** Thread: main. The first filter: what the request asks for and how long it may take. */
import type { RequestInfo } from '../../../api/request-info.js'
import type { ServedResource } from '../../verbs/served-resource.js'
import { isPassedOn, type Relay } from '../connector.js'
import type { RequestInfoCache } from '../request-info-cache.js'
import type { RequestObserver } from '../request-observer.js'
import { requestTimeoutMs } from '../request-timeout.js'
import type { RequestHandler } from './filter.js'

export interface RequestInfoOptions {
  readonly infoCache: RequestInfoCache
  /** The resource that a request names; undefined when this server does not serve it. */
  readonly resource: (info: RequestInfo) => ServedResource | undefined
  /** Without one, nothing is passed on to other API servers. */
  readonly relay: Pick<Relay, 'find'> | undefined
  /** The server's own limit: a client may ask for less. */
  readonly requestTimeoutMs: number
  readonly observer: RequestObserver | undefined
}

export function withRequestInfo(next: RequestHandler, options: RequestInfoOptions): RequestHandler {
  const { infoCache, resource, relay, requestTimeoutMs: maximumMs, observer } = options
  return (request) => {
    const { head } = request
    const { info, query } = infoCache.of(head.method, head.rawPath, head.query)
    request.query = query
    request.info = info
    if (info.subresource !== '') request.isPassedOn = isPassedOn(info, resource(info))
    request.remote = relay?.find(info)
    if (request.remote !== undefined) request.isPassedOn = true
    request.timeoutMs =
      head.query === '' || request.longRunning ? maximumMs : requestTimeoutMs(query.get('timeout'), maximumMs)
    observer?.onArrival?.(request)
    return next(request)
  }
}
