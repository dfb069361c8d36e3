/**
 * Thread: main, or a front end's own. The span of each recorded request, from the moment when it is known who asks for what to
 * the end of the answer. What the pool does for the request becomes spans below it; other servers are told by a header.
 */
import type { RequestInfo } from '../../api/request-info.js'
import { parseTraceHeader, TRACE_HEADER } from '../../api/trace-context.js'
import type { UserInfo } from '../../api/user-info.js'
import type { Span } from '../../tracing/span.js'
import type { Tracer } from '../../tracing/tracer.js'
import type { ObservedRequest, RequestObserver, RequestOutcome } from './request-observer.js'

/** The groups whose members say whether their traces are recorded. Anybody else could make the server record everything. */
const TRUSTED: ReadonlySet<string> = new Set(['system:masters', 'system:monitoring'])

export class RequestTracing implements RequestObserver {
  readonly #tracer: Tracer
  readonly #spans = new WeakMap<ObservedRequest, Span>()

  constructor(tracer: Tracer) {
    this.#tracer = tracer
  }

  onRequest(request: ObservedRequest): undefined {
    const { head, info, user, credentials } = request
    const header = credentials.header(TRACE_HEADER)
    const context = header === '' ? undefined : parseTraceHeader(header)
    const span = this.#tracer.request(
      spanName(head.method, info),
      { context, isTrusted: isTrusted(user) },
      {
        'http.method': head.method,
        'http.target': head.query === '' ? head.rawPath : `${head.rawPath}?${head.query}`,
        'audit-id': head.auditId,
        'user_agent.original': head.userAgent,
      },
    )
    if (span === undefined) return undefined
    this.#spans.set(request, span)
    request.trace = span.context
    return undefined
  }

  onFinished(request: ObservedRequest, { status, bytes }: RequestOutcome): void {
    const span = this.#spans.get(request)
    if (span === undefined) return
    const error = status === 0 ? 'the client went away' : status >= 500 ? `status ${status}` : undefined
    span.end({ 'http.status_code': status, 'http.response.body.size': bytes }, error)
  }
}

const isTrusted = (user: UserInfo | undefined): boolean => user?.groups.some((group) => TRUSTED.has(group)) === true

/** Names of objects and namespaces are left out, so that requests of one kind have one name. */
function spanName(method: string, info: RequestInfo): string {
  if (!info.isResourceRequest) return method
  const { apiPrefix, apiGroup, apiVersion, namespace, resource, name, subresource } = info
  const segments = [
    apiPrefix,
    apiGroup,
    apiVersion,
    namespace === '' ? '' : 'namespaces/{:namespace}',
    resource,
    name === '' ? '' : '{:name}',
    subresource,
  ]
  return `${method} /${segments.filter((segment) => segment !== '').join('/')}`
}
