/** Thread: main. The first filter: what the request asks for and how long it may take. */
import type { RequestInfo } from '../../../api/request-info.js'
import type { ServedResource } from '../../verbs/served-resource.js'
import { isPassedOn } from '../connector.js'
import type { RequestInfos } from '../request-infos.js'
import type { RequestObserver } from '../request-observer.js'
import { requestTimeoutMs } from '../request-timeout.js'
import type { RequestHandler } from './filter.js'

export interface RequestInfoOptions {
  readonly infos: RequestInfos
  /** What a request is for, if anything here serves it. */
  readonly resource: (info: RequestInfo) => ServedResource | undefined
  /** The server's own limit: a client may ask for less. */
  readonly requestTimeoutMs: number
  readonly observer: RequestObserver | undefined
}

export function withRequestInfo(next: RequestHandler, options: RequestInfoOptions): RequestHandler {
  const { infos, resource, requestTimeoutMs: maximumMs, observer } = options
  return (request) => {
    const { head } = request
    const { info, query } = infos.of(head.method, head.rawPath, head.query)
    request.query = query
    request.info = info
    if (info.subresource !== '') request.isPassedOn = isPassedOn(info, resource(info))
    request.timeoutMs =
      head.query === '' || request.longRunning ? maximumMs : requestTimeoutMs(query.get('timeout'), maximumMs)
    observer?.onArrival?.(request)
    return next(request)
  }
}
