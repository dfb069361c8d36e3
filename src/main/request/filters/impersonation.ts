/** Thread: main. The filter that lets a user act as another: everything after it sees the other one. */
import { Impersonation, wantedUser } from '../../../auth/authn/impersonation.js'
import type { Authorizer } from '../../../auth/interface.js'
import { holdBody, type RequestHandler } from './filter.js'

/** Without authorization everybody may act as anybody. */
const EVERYTHING: Authorizer = { authorize: () => ({ decision: 'allow', reason: '' }) }

export function withImpersonation(next: RequestHandler, authorizer: Authorizer | undefined): RequestHandler {
  const impersonation = new Impersonation(authorizer ?? EVERYTHING)
  return (request) => {
    const wanted = wantedUser(request.exchange)
    if (wanted === undefined) return next(request)
    holdBody(request)
    return impersonation.impersonate(wanted, request.attributes()).then((impersonated) => {
      request.requestor = request.user
      request.user = impersonated.user
      return request.exchange.answered ? undefined : next(request)
    })
  }
}
