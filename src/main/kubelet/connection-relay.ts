/**
 * Thread: main. A connection passed on after both sides have switched to another protocol (SPDY): bytes as they come, in both
 * directions no faster than the other side takes them. What each direction holds is what a stream of Node holds before it waits.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { newInternalError } from '../../api/status.js'
import type { ClientMetrics } from '../../metrics/client-metrics.js'
import type { ConnectPlan } from '../../protocol/main-pool.js'
import type { Exchange } from '../http/exchange.js'
import { relayAnswer } from './http-relay.js'
import type { Trust } from './trust.js'
import { limitInformation, upstreamRequest } from './upstream-request.js'

export interface ConnectionRelayOptions {
  readonly exchange: Exchange
  readonly plan: ConnectPlan
  readonly headers: Record<string, string | string[]>
  readonly trust: Trust
  readonly metrics?: ClientMetrics | undefined
}

/** Resolves when the client has its connection, or the answer of a kubelet that does not switch. */
export function relayConnection({ exchange, plan, headers, trust, metrics }: ConnectionRelayOptions): Promise<void> {
  // What comes after the head is of the other protocol: no body, whatever a client says of one.
  const { 'content-length': _none, ...passed } = headers
  const request = upstreamRequest({
    plan,
    trust,
    method: exchange.head.method,
    path: plan.path,
    ownConnection: true,
    metrics,
    headers: { ...passed, connection: 'Upgrade', upgrade: exchange.header('upgrade') },
  })
  exchange.onAbort(() => request.destroy())
  limitInformation(request)
  return new Promise((resolve, reject) => {
    request.once(
      'response',
      exchange.guard((answer) => {
        resolve()
        relayAnswer(answer, exchange, { refusal: true })
      }),
    )
    request.on('error', (error) => reject(newInternalError(`error dialing backend: ${error.message}`)))
    request.once(
      'upgrade',
      exchange.guard((answer: IncomingMessage, upstream: Socket, early: Buffer) => {
        resolve()
        join(exchange, answer, upstream, early)
      }),
    )
    request.end()
  })
}

/** The kubelet's answer is the client's too: it says which of the offered protocols was chosen. */
function join(exchange: Exchange, answer: IncomingMessage, upstream: Socket, early: Buffer): void {
  upstream.on('error', () => upstream.destroy())
  const client = exchange.switchProtocols(answer.rawHeaders)
  if (client === undefined) {
    upstream.destroy()
    return
  }
  client.on('error', () => client.destroy())
  client.once('close', () => upstream.destroy())
  // What the kubelet said last is still sent.
  upstream.once('close', () => client.end())
  if (early.byteLength > 0) upstream.unshift(early)
  upstream.pipe(client)
  client.pipe(upstream)
}
