/**
 * Thread: main, or a front end's own. The filter that sends clients away while the server finishes what it has begun, with
 * --shutdown-send-retry-after. Their connections are closed, so that they come to another server when they come again.
 */
import type { RequestHandler } from './filter.js'

/** kube-apiserver asks for as much. */
const RETRY_AFTER_SECONDS = 5
/** Who looks after the server still may ask how it is. */
const HEALTH = /^\/(healthz|livez|readyz)(\/|$)/

export function withStopping(next: RequestHandler, isRefusing: (() => boolean) | undefined): RequestHandler {
  if (isRefusing === undefined) return next
  return (request) => {
    if (!isRefusing() || HEALTH.test(request.info.path)) return next(request)
    const headers = ['Retry-After', String(RETRY_AFTER_SECONDS), 'X-Content-Type-Options', 'nosniff']
    const head = { status: 429, contentType: 'text/plain; charset=utf-8', headers }
    request.exchange.respondAndClose(head, 'the server is shutting down, please try again later\n')
    return undefined
  }
}
