/** Thread: main. The first filter: what the request asks for and how long it may take. */
import type { RequestInfos } from '../request-infos.js'
import type { RequestObserver } from '../request-observer.js'
import { requestTimeoutMs } from '../request-timeout.js'
import type { RequestHandler } from './filter.js'

export interface RequestInfoOptions {
  readonly infos: RequestInfos
  /** The server's own limit: a client may ask for less. */
  readonly requestTimeoutMs: number
  readonly observer: RequestObserver | undefined
}

export function withRequestInfo(next: RequestHandler, options: RequestInfoOptions): RequestHandler {
  const { infos, requestTimeoutMs: maximumMs, observer } = options
  return (request) => {
    const { head } = request
    const { info, query } = infos.of(head.method, head.rawPath, head.query)
    request.query = query
    request.info = info
    request.timeoutMs =
      head.query === '' || request.longRunning ? maximumMs : requestTimeoutMs(query.get('timeout'), maximumMs)
    observer?.onArrival?.(request)
    return next(request)
  }
}
