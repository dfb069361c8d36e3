/**
 * Thread: main, or a front end's own. Requests for what another server serves, passed on to it: bodies, watches and WebSockets in both
 * directions no faster than the other side takes them. Who asks is said in headers that our certificate vouches for.
 */

import type { RemoteService } from '../../aggregator/api-service.js'
import type { APIServiceIndex } from '../../aggregator/api-service-index.js'
import type { RequestInfo } from '../../api/request-info.js'
import { TRACE_HEADER, type TraceContext, traceHeader } from '../../api/trace-context.js'
import type { UserInfo } from '../../api/user-info.js'
import type { FrontProxyHeaders } from '../../protocol/server-credentials.js'
import type { Exchange } from '../http/exchange.js'
import { offeredProtocols } from '../http/web-socket.js'
import { answerTo, bodyFraming, hasBody, relayAnswer, sendBody } from '../kubelet/http-relay.js'
import { namesUsers, passedHeaders } from '../kubelet/upstream-request.js'
import { WaitingBytes } from '../kubelet/waiting-bytes.js'
import { relayWebSocket } from '../kubelet/web-socket-relay.js'
import { watchFiller } from './relayed-watch.js'
import { hostText, type RemoteConnections, userHeaders } from './remote-connections.js'

/** Headers that name a user are this server's to set, however a client spells them. */
const USER_HEADERS: FrontProxyHeaders = {
  allowedNames: [],
  username: ['x-remote-user'],
  uid: ['x-remote-uid'],
  group: ['x-remote-group'],
  extraPrefixes: ['x-remote-extra-'],
}
/** Whoever asks what is served waits for no server that hangs. */
const DISCOVERY_TIMEOUT_MS = 5_000

export interface RelayedRequest {
  readonly exchange: Exchange
  readonly info: RequestInfo
  readonly query: URLSearchParams
  readonly user: UserInfo
  /** The span of the request; undefined when it is not recorded. */
  readonly trace?: TraceContext | undefined
}

export interface APIServiceRelayOptions {
  readonly index: Pick<APIServiceIndex, 'find'>
  readonly connections: RemoteConnections
  readonly frontProxyHeaders: FrontProxyHeaders | undefined
  /** Redirects of extension servers are answered with an error instead of being passed back. */
  readonly rejectRedirects: boolean
}

export class APIServiceRelay {
  readonly #options: APIServiceRelayOptions
  readonly #waiting = new WaitingBytes()
  readonly #isHidden: (header: string) => boolean

  constructor(options: APIServiceRelayOptions) {
    this.#options = options
    const [own, configured] = [namesUsers(USER_HEADERS), namesUsers(options.frontProxyHeaders)]
    this.#isHidden = (name) => own(name) || configured(name)
  }

  /** The server that a request is for, when it is another one: by the group and version that were authorized. */
  find(info: RequestInfo): RemoteService | undefined {
    if (info.isResourceRequest) return this.#options.index.find(info.apiGroup, info.apiVersion)
    if (!info.path.startsWith('/apis/')) return undefined
    const [, , group = '', version = '', rest = ''] = info.path.split('/')
    return rest === '' ? this.#options.index.find(group, version) : undefined
  }

  async relay({ exchange, info, query, user, trace }: RelayedRequest, remote: RemoteService): Promise<void> {
    if (hasBody(exchange)) exchange.bodyStream()
    // The segments that were authorized, and no empty ones between them. One of dots would mean another path to the other side.
    const segments = info.path.split('/').filter((segment) => segment !== '')
    if (segments.some((segment) => segment === '.' || segment === '..')) {
      plain(exchange, 404, '404 page not found')
      return
    }
    if (!remote.available) {
      plain(exchange, 503, 'service unavailable')
      return
    }
    const path = `/${segments.map(encodeURIComponent).join('/')}${query.size === 0 ? '' : `?${query.toString()}`}`
    const headers = {
      ...passedHeaders(exchange, this.#isHidden),
      ...userHeaders(user),
      'audit-id': exchange.head.auditId,
      ...(trace === undefined ? {} : { [TRACE_HEADER]: traceHeader(trace) }),
    }
    try {
      if (exchange.asksForWebSocket) await this.#webSocket(exchange, remote, path, headers)
      else await this.#http(exchange, remote, { path, headers, info })
    } catch (error) {
      if (exchange.answered) throw error
      const why = error instanceof Error ? error.message : String(error)
      const isKnown = error instanceof Error && 'code' in error && error.code === 'service-unreachable'
      plain(exchange, 503, isKnown ? 'service unavailable' : `error trying to reach service: ${why}`)
    }
  }

  async #webSocket(
    exchange: Exchange,
    remote: RemoteService,
    path: string,
    headers: Record<string, string | string[]>,
  ): Promise<void> {
    const { connections } = this.#options
    const { host, port } = connections.address(remote)
    await relayWebSocket({
      exchange,
      plan: { scheme: 'https', host, port },
      path,
      protocols: offeredProtocols(exchange.header('sec-websocket-protocol')),
      headers: { ...headers, host: hostText({ host, port }) },
      tls: connections.tls(remote),
      agent: connections.upgradeAgent(),
      timeoutMs: DISCOVERY_TIMEOUT_MS * 2,
      waiting: this.#waiting,
    })
  }

  async #http(exchange: Exchange, remote: RemoteService, { path, headers, info }: RelayedHttp): Promise<void> {
    const { connections, rejectRedirects } = this.#options
    const { method } = exchange.head
    const request = connections.request(remote, { method, path, headers: { ...headers, ...bodyFraming(exchange) } })
    const answered = answerTo(request, exchange)
    const timer = info.isResourceRequest
      ? undefined
      : setTimeout(() => request.destroy(new Error('no answer in time')), DISCOVERY_TIMEOUT_MS)
    if (hasBody(exchange)) sendBody(request, exchange)
    else request.end()
    const answer = await answered.finally(() => clearTimeout(timer))
    const status = answer.statusCode ?? 502
    if (rejectRedirects && status >= 300 && status < 400 && answer.headers.location !== undefined) {
      answer.destroy()
      plain(exchange, 502, 'the backend attempted to redirect this request, which is not permitted')
      return
    }
    relayAnswer(answer, exchange, { filler: watchFiller(info, answer.headers) })
  }
}

interface RelayedHttp {
  readonly path: string
  readonly headers: Record<string, string | string[]>
  readonly info: RequestInfo
}

/** Text, as Kubernetes answers for a server that is not there. */
const plain = (exchange: Exchange, status: number, text: string): void =>
  exchange.respond(
    { status, contentType: 'text/plain; charset=utf-8', headers: ['X-Content-Type-Options', 'nosniff'] },
    `${text}\n`,
  )
