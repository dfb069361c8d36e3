/** Thread: main. The filter that finds out who makes a request. Paths that are open to everybody are answered before it. */
import { newUnauthorized } from '../../../api/status.js'
import type { Authenticated, Authenticator } from '../../../auth/interface.js'
import type { NonResourcePaths } from '../../paths/non-resource-paths.js'
import type { ApiRequest } from '../api-request.js'
import { holdBody, type RequestHandler } from './filter.js'

/** GET of these paths is answered without asking who makes the request. */
export function withPublicPaths(next: RequestHandler, paths: Pick<NonResourcePaths, 'publicHandler'>): RequestHandler {
  return (request) => {
    const { info, exchange } = request
    if (!info.isResourceRequest && exchange.head.method === 'GET') {
      const open = paths.publicHandler(info.path)
      if (open !== undefined) return open(exchange, request.query, '')
    }
    return next(request)
  }
}

export function withAuthentication(next: RequestHandler, authenticator: Authenticator): RequestHandler {
  const identified = (request: ApiRequest, found: Authenticated | undefined): Promise<void> | undefined => {
    if (request.exchange.answered) return undefined
    if (found === undefined) throw newUnauthorized('Unauthorized')
    request.user = found.user
    return next(request)
  }
  return (request) => {
    const found = authenticator.authenticate(request.exchange)
    if (!(found instanceof Promise)) return identified(request, found)
    holdBody(request)
    return found.then((authenticated) => identified(request, authenticated))
  }
}
