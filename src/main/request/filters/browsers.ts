/**
 * Thread: main, or a front end's own. The filter that tells browsers which pages may use the server (CORS). It comes before
 * authentication: a browser asks first (OPTIONS), without credentials, and shows an answer to its page only with these headers.
 */
import { RE2JS } from 're2js'
import type { RequestHandler } from './filter.js'

/** The words are those of kube-apiserver's answers. */
const ALLOWED = [
  ...['Access-Control-Allow-Methods', 'POST, GET, OPTIONS, PUT, DELETE, PATCH'],
  ...[
    'Access-Control-Allow-Headers',
    'Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since',
  ],
  ...['Access-Control-Expose-Headers', 'Date'],
  ...['Access-Control-Allow-Credentials', 'true'],
]

/** `allowedOrigins`: regular expressions, which were checked before. They may match anywhere in the header. */
export function withBrowsers(next: RequestHandler, allowedOrigins: readonly string[]): RequestHandler {
  if (allowedOrigins.length === 0) return next
  const patterns = allowedOrigins.map((text) => RE2JS.compile(text))
  return (request) => {
    const { exchange } = request
    const origin = exchange.header('origin')
    if (origin === '' || !patterns.some((pattern) => pattern.test(origin))) return next(request)
    exchange.standingHeaders = [...exchange.standingHeaders, 'Access-Control-Allow-Origin', origin, ...ALLOWED]
    if (exchange.head.method !== 'OPTIONS') return next(request)
    exchange.respond({ status: 204, contentType: '' }, '')
    return undefined
  }
}
