/** Thread: main. A request to a kubelet, a pod or a service: its address and its headers. */
import http from 'node:http'
import https from 'node:https'
import { headerBytes } from '../../lib/header-text.js'
import type { ClientMetrics } from '../../metrics/client-metrics.js'
import type { ConnectPlan } from '../../protocol/main-pool.js'
import type { FrontProxyHeaders } from '../../protocol/server-credentials.js'
import type { Exchange } from '../http/exchange.js'
import type { Trust } from './trust.js'

/** These belong to one connection, or to this server; they are not passed on. */
const NOT_PASSED_ON: ReadonlySet<string> = new Set([
  'authorization',
  'connection',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/** Headers of a WebSocket's handshake, which the other side gets anew. */
const isHandshake = (name: string): boolean => name.startsWith('sec-websocket-')
const isImpersonation = (name: string): boolean => name.startsWith('impersonate-')
/** Servers that hand headers on as variables (CGI, WSGI, Rack) do not tell `_` from `-`, so both spell the same name here. */
const withHyphens = (name: string): string => (name.includes('_') ? name.replaceAll('_', '-') : name)

/** Whether a header, its name in lower case, is one in which a front proxy names users: what it says is for this server alone. */
export function namesUsers(headers: FrontProxyHeaders | undefined): (name: string) => boolean {
  if (headers === undefined) return () => false
  const lower = (names: readonly string[]): string[] => names.map((name) => withHyphens(name.trim().toLowerCase()))
  const exact = new Set(lower([...headers.username, ...headers.uid, ...headers.group]))
  const prefixes = lower(headers.extraPrefixes)
  return (name) => {
    const same = withHyphens(name)
    return exact.has(same) || prefixes.some((prefix) => same.startsWith(prefix))
  }
}

export function passedHeaders(
  exchange: Exchange,
  isHidden: (name: string) => boolean,
): Record<string, string | string[]> {
  // The object has no prototype, because a client may name a header `__proto__`.
  const headers: Record<string, string[]> = Object.create(null) as Record<string, string[]>
  const dropped = new Set(
    exchange
      .header('connection')
      .split(',')
      .map((name) => name.trim().toLowerCase()),
  )
  exchange.forEachHeader((name, value) => {
    if (
      NOT_PASSED_ON.has(name) ||
      dropped.has(name) ||
      isHandshake(name) ||
      isImpersonation(withHyphens(name)) ||
      isHidden(name)
    )
      return
    headers[name] ??= []
    headers[name].push(headerBytes(value))
  })
  const address = exchange.remoteAddress()
  headers['x-forwarded-for'] = [...(headers['x-forwarded-for'] ?? []), ...(address === '' ? [] : [address])]
  return headers
}

export interface UpstreamOptions {
  readonly plan: ConnectPlan
  readonly trust: Trust
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string | string[]>
  /** The connection is upgraded, so it ends with this request. */
  readonly ownConnection?: boolean
  readonly metrics?: ClientMetrics | undefined
}

/** Makes a request, which is sent when something is written or when it is ended. */
export function upstreamRequest(options: UpstreamOptions): http.ClientRequest {
  const { plan, trust, method, path, headers, metrics, ownConnection = false } = options
  const { scheme, host, port } = plan
  const common = {
    host,
    ...(port === 0 ? {} : { port }),
    method,
    path,
    headers,
    agent: ownConnection ? (trust.upgradeAgent(plan) ?? (false as const)) : trust.agent(plan),
    ...(scheme === 'https' ? trust.identity(plan.trust) : {}),
  }
  const request = (scheme === 'https' ? https : http).request(common)
  limitConnecting(request, trust.timeoutMs)
  if (metrics !== undefined) count(request, metrics, method, hostOf(plan))
  return request
}

/** Go's client takes as many answers that are none yet (1xx) before the answer itself. */
const MOST_INFORMATIONAL = 5

/**
 * Whoever says "not yet" for ever would keep this thread busy, and no limit of heads counts it. `tooMany` is told before the
 * answer itself may come, which can stand in the same packet.
 */
export function limitInformation(request: http.ClientRequest, tooMany?: (error: Error) => void): void {
  let count = 0
  request.on('information', () => {
    count++
    if (count <= MOST_INFORMATIONAL) return
    const error = new Error('the other side sent too many 1xx answers')
    tooMany?.(error)
    request.destroy(error)
  })
}

function count(request: http.ClientRequest, metrics: ClientMetrics, method: string, host: string): void {
  request.once('response', ({ statusCode }) => metrics.answered(method, host, statusCode))
  request.once('upgrade', ({ statusCode }) => metrics.answered(method, host, statusCode))
  request.once('error', () => metrics.failed(method, host))
}

/** Limits the time to connect; how long the answer takes is not limited here. */
function limitConnecting(request: http.ClientRequest, timeoutMs: number): void {
  if (timeoutMs <= 0) return
  request.once('socket', (socket) => {
    if (!socket.connecting) return
    const timer = setTimeout(() => request.destroy(new Error('the connection timed out')), timeoutMs)
    const done = (): void => clearTimeout(timer)
    socket.once('connect', done)
    socket.once('close', done)
  })
}

export const hostOf = ({ host, port }: Pick<ConnectPlan, 'host' | 'port'>): string => {
  const name = host.includes(':') ? `[${host}]` : host
  return port === 0 ? name : `${name}:${port}`
}
