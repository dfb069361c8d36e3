/** Thread: main. The filter that asks whether the user may do what the request is for. */
import { AuthorizationFailed, newForbiddenRequest } from '../../../auth/forbidden.js'
import type { Attributes, Authorizer, Verdict } from '../../../auth/interface.js'
import type { ApiRequest } from '../api-request.js'
import { holdBody, type RequestHandler } from './filter.js'

/** Without an authorizer everybody may do everything. */
export function withAuthorization(next: RequestHandler, authorizer: Authorizer | undefined): RequestHandler {
  if (authorizer === undefined) return next
  const decided = (request: ApiRequest, attributes: Attributes, verdict: Verdict): Promise<void> | undefined => {
    request.verdict = verdict
    if (verdict.decision === 'allow') return request.exchange.answered ? undefined : next(request)
    if (verdict.error !== undefined && verdict.error !== '') throw new AuthorizationFailed(verdict.error)
    throw newForbiddenRequest(attributes, verdict.reason)
  }
  return (request) => {
    const attributes = request.attributes()
    const verdict = authorizer.authorize(attributes)
    if (!(verdict instanceof Promise)) return decided(request, attributes, verdict)
    holdBody(request)
    return verdict.then((given) => decided(request, attributes, given))
  }
}
