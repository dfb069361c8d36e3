/** Thread: main. The filter that tells the observers, audit among them, who asks for what before anything is decided. */
import { newInternalError } from '../../../api/status.js'
import type { RequestObserver } from '../request-observer.js'
import { holdBody, type RequestHandler } from './filter.js'

export function withAudit(next: RequestHandler, observer: RequestObserver | undefined): RequestHandler {
  if (observer?.onRequest === undefined) return next
  return (request) => {
    const noted = observer.onRequest?.(request)
    if (!(noted instanceof Promise)) return next(request)
    holdBody(request)
    return noted.then((recorded) => {
      if (!recorded) throw newInternalError('failed to store audit event')
      return request.exchange.answered ? undefined : next(request)
    })
  }
}
