/** Thread: main. Passes requests on: the pool says where they go, and the bytes are carried here. */
import type { Agent } from 'node:http'
import type { ProxiedPath } from '../../api/request-info.js'
import {
  newBadRequest,
  newGenericFailure,
  newInternalError,
  newServiceUnavailable,
  type StatusError,
} from '../../api/status.js'
import { newForbiddenRequest } from '../../auth/forbidden.js'
import type { Authorizer } from '../../auth/interface.js'
import { assert } from '../../lib/assert.js'
import type { Closable } from '../../lib/lifecycle.js'
import type { ClientMetrics } from '../../metrics/client-metrics.js'
import type { ConnectPlan, PoolRequest } from '../../protocol/main-pool.js'
import type { FrontProxyHeaders } from '../../protocol/server-credentials.js'
import type { Exchange } from '../http/exchange.js'
import { respondEncoded } from '../http/respond-encoded.js'
import { offeredProtocols } from '../http/web-socket.js'
import type { Connector } from '../request/connector.js'
import type { PoolRunner } from '../threads/pool.js'
import type { ReadRequest } from '../verbs/read-context.js'
import { relayConnection } from './connection-relay.js'
import { answerTo, bodyFraming, hasBody, readText, relayAnswer, sendBody } from './http-relay.js'
import { type LinkScope, pageStreams, proxiedLink } from './proxied-links.js'
import { type TlsIdentity, Trust, type TrustOptions } from './trust.js'
import { relayTunnel, tunnelledProtocols } from './tunnel.js'
import { hostOf, namesUsers, passedHeaders, upstreamRequest } from './upstream-request.js'
import { WaitingBytes } from './waiting-bytes.js'
import { relayWebSocket } from './web-socket-relay.js'

/** The most text of a kubelet's refusal that a client is shown. */
const MAX_ERROR_TEXT = 2048
const SPDY = 'spdy/3.1'
/** Headers that say who may read an answer, which is this server's to say. */
const CORS_HEADERS: ReadonlySet<string> = new Set([
  'access-control-allow-credentials',
  'access-control-allow-headers',
  'access-control-allow-methods',
  'access-control-allow-origin',
])

export interface KubeletConnectorOptions {
  readonly pool: PoolRunner
  readonly trust: TrustOptions
  readonly authorizer?: Authorizer | undefined
  readonly metrics?: ClientMetrics | undefined
  readonly frontProxyHeaders?: FrontProxyHeaders | undefined
}

interface Passage {
  readonly exchange: Exchange
  readonly plan: ConnectPlan
  readonly name: string
  readonly proxied: ProxiedPath | undefined
}

export class KubeletConnector implements Connector, Closable {
  readonly #pool: PoolRunner
  readonly #trust: Trust
  readonly #authorizer: Authorizer | undefined
  readonly #metrics: ClientMetrics | undefined
  readonly #waiting = new WaitingBytes()
  readonly #namesUsers: (header: string) => boolean

  constructor({ pool, trust, authorizer, metrics, frontProxyHeaders }: KubeletConnectorOptions) {
    this.#namesUsers = namesUsers(frontProxyHeaders)
    this.#metrics = metrics
    this.#pool = pool
    this.#trust = new Trust(trust)
    this.#authorizer = authorizer
  }

  async connect(request: ReadRequest, input: PoolRequest): Promise<void> {
    const { exchange, info } = request
    if (hasBody(exchange)) exchange.bodyStream()
    await this.#authorizeCreate(request)
    const answer = await this.#pool.run('connect', input, request)
    if ('response' in answer) {
      await respondEncoded(exchange, answer.response)
      return
    }
    const passage: Passage = { exchange, plan: answer.plan, name: info.name, proxied: info.proxied }
    if (answer.plan.kind === 'log') await this.#log(passage)
    else if (answer.plan.kind === 'upgrade') await this.#upgrade(passage)
    else await this.#proxy(passage)
  }

  close(): void {
    this.#trust.close()
  }

  /** A GET that runs a command is more than a GET: who makes it must be allowed to create too. */
  async #authorizeCreate({ info, user }: ReadRequest): Promise<void> {
    if (info.verb !== 'get' || !['exec', 'attach', 'portforward'].includes(info.subresource)) return
    const attributes = { ...info, user, verb: 'create' }
    const verdict = await this.#authorizer?.authorize(attributes)
    if (verdict !== undefined && verdict.decision !== 'allow') throw newForbiddenRequest(attributes, verdict.reason)
  }

  async #log({ exchange, plan, name }: Passage): Promise<void> {
    const request = upstreamRequest({
      plan,
      trust: this.#trust,
      method: 'GET',
      path: plan.path,
      headers: {},
      metrics: this.#metrics,
    })
    request.end()
    const answer = await reached(answerTo(request, exchange), newInternalError)
    const status = answer.statusCode ?? 500
    if (status < 400 || status > 599) {
      relayAnswer(answer, exchange, { contentType: 'text/plain' })
      return
    }
    const text = await readText(answer, MAX_ERROR_TEXT)
    throw status === 500
      ? newInternalError(text)
      : newGenericFailure(status, { group: '', resource: 'pods/log' }, name, text)
  }

  async #upgrade({ exchange, plan }: Passage): Promise<void> {
    if (!exchange.asksForWebSocket) {
      await this.#spdy(exchange, plan)
      return
    }
    const protocols = protocolsOf(exchange)
    const trust = this.#trust
    const common = {
      exchange,
      plan,
      waiting: this.#waiting,
      headers: passedHeaders(exchange, this.#namesUsers),
    }
    const tunnelled = tunnelledProtocols(protocols)
    // Every kubelet takes SPDY for port forwarding; not every one takes it in a WebSocket.
    if (tunnelled.length > 0) await relayTunnel({ ...common, trust, protocols: tunnelled, metrics: this.#metrics })
    else await relayWebSocket({ ...common, ...socketTrust(trust, plan), path: plan.path, protocols })
  }

  /** Every kubelet speaks SPDY, so its bytes are passed on as they are; they need no understanding here. */
  async #spdy(exchange: Exchange, plan: ConnectPlan): Promise<void> {
    const asked = exchange.header('upgrade')
    if (asked === '') throw newBadRequest('Upgrade request required')
    if (asked.toLowerCase() !== SPDY)
      throw newBadRequest(`${asked} is not spoken here: ask for a WebSocket, as kubectl does from 1.31 on`)
    if (!exchange.canSwitchProtocols)
      throw newBadRequest(
        `${asked} is spoken here with --http-engine=node only: ask for a WebSocket, as kubectl does from 1.31 on`,
      )
    await relayConnection({
      exchange,
      plan,
      headers: passedHeaders(exchange, this.#namesUsers),
      trust: this.#trust,
      metrics: this.#metrics,
    })
  }

  async #proxy({ exchange, plan, proxied }: Passage): Promise<void> {
    const { head } = exchange
    assert(proxied !== undefined, 'what is proxied was read from the path that was authorized')
    const { prefix, rest } = proxied
    const query = head.query === '' ? '' : `?${head.query}`
    if (rest === '' && (head.method === 'GET' || head.method === 'HEAD') && !exchange.asksForWebSocket) {
      // The path gets a slash at its end, which relative links on a page need.
      exchange.respond({ status: 301, contentType: '', headers: ['Location', `${prefix}/${query}`] }, '')
      return
    }
    const path = `${plan.path}${rest || '/'}${query}`
    const host = exchange.header('host')
    const headers: Record<string, string | string[]> = {
      ...passedHeaders(exchange, this.#namesUsers),
      host,
      'x-forwarded-uri': `${prefix}${rest || '/'}`,
    }
    if (exchange.asksForWebSocket) {
      await relayWebSocket({
        exchange,
        plan,
        path,
        protocols: protocolsOf(exchange),
        headers,
        ...socketTrust(this.#trust, plan),
        waiting: this.#waiting,
      })
      return
    }
    const request = upstreamRequest({
      plan,
      trust: this.#trust,
      method: head.method,
      path,
      headers: { ...headers, ...bodyFraming(exchange) },
      metrics: this.#metrics,
    })
    const answered = answerTo(request, exchange)
    if (hasBody(exchange)) sendBody(request, exchange)
    else request.end()
    const answer = await reached(answered, (why) => newServiceUnavailable(`error trying to reach service: ${why}`))
    const scope: LinkScope = { prefix, hosts: [hostOf(plan), host], ownHost: host }
    const { location, 'content-type': contentType = '', 'content-encoding': encoding = '' } = answer.headers
    const isPage = location === undefined && contentType.split(';', 1)[0]!.trim() === 'text/html'
    relayAnswer(answer, exchange, {
      through: isPage ? pageStreams(encoding, scope) : undefined,
      rewrite: (name, value) => {
        if (CORS_HEADERS.has(name)) return undefined
        return name === 'location' ? proxiedLink(value, scope) : value
      },
    })
  }
}

const socketTrust = (
  trust: Trust,
  plan: ConnectPlan,
): { tls: TlsIdentity; agent: Agent | undefined; timeoutMs: number } => ({
  tls: trust.identity(plan.trust),
  agent: trust.upgradeAgent(plan),
  timeoutMs: trust.timeoutMs,
})

const protocolsOf = (exchange: Exchange): string[] => offeredProtocols(exchange.header('sec-websocket-protocol'))

async function reached<T>(answer: Promise<T>, failure: (why: string) => StatusError): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw failure(error instanceof Error ? error.message : String(error))
  }
}
