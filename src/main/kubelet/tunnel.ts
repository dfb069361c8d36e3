/**
 * Thread: main. Port forwarding as kubectl does it: the client's WebSocket carries the bytes of a SPDY
 * connection, and they are passed on as they are.
 */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { newInternalError } from '../../api/status.js'
import type { ClientMetrics } from '../../metrics/client-metrics.js'
import type { ConnectPlan } from '../../protocol/main-pool.js'
import type { Exchange } from '../http/exchange.js'
import type { ServerSocket } from '../http/server-socket.js'
import { relayAnswer } from './http-relay.js'
import type { Trust } from './trust.js'
import { limitInformation, upstreamRequest } from './upstream-request.js'
import { NOT_TAKEN, TRY_AGAIN_LATER, type WaitingBytes, type WaitingSession } from './waiting-bytes.js'

/** The prefix of the WebSocket's protocol: the name of what is tunnelled, before that of what is spoken inside. */
const PREFIX = 'SPDY/3.1+'
const NORMAL_CLOSURE = 1000

export const tunnelledProtocols = (protocols: readonly string[]): string[] =>
  protocols.filter((protocol) => protocol.startsWith(PREFIX))

export interface TunnelOptions {
  readonly exchange: Exchange
  readonly plan: ConnectPlan
  readonly protocols: readonly string[]
  readonly headers: Record<string, string | string[]>
  readonly trust: Trust
  readonly waiting: WaitingBytes
  readonly metrics?: ClientMetrics | undefined
}

export function relayTunnel(options: TunnelOptions): Promise<void> {
  const { exchange, plan, protocols, headers, trust, waiting, metrics } = options
  const request = upstreamRequest({
    plan,
    trust,
    method: 'POST',
    path: plan.path,
    ownConnection: true,
    metrics,
    headers: {
      ...headers,
      connection: 'Upgrade',
      upgrade: 'SPDY/3.1',
      'x-stream-protocol-version': protocols.map((protocol) => protocol.slice(PREFIX.length)),
    },
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
      exchange.guard((answer: IncomingMessage, upstream: Socket, head: Buffer) => {
        resolve()
        const chosen = answer.headers['x-stream-protocol-version']
        const socket = exchange.acceptWebSocket(`${PREFIX}${typeof chosen === 'string' ? chosen : ''}`)
        if (socket === undefined) upstream.destroy()
        else join(exchange, socket, { upstream, head, waiting: waiting.session() })
      }),
    )
    request.end()
  })
}

interface Upstream {
  readonly upstream: Socket
  /** The bytes that came with the head of the answer. */
  readonly head: Buffer
  readonly waiting: WaitingSession
}

function join(exchange: Exchange, socket: ServerSocket, { upstream, head, waiting }: Upstream): void {
  const send = exchange.guard((chunk: Buffer): void => {
    if (!socket.send(chunk, true)) upstream.pause()
  })
  if (head.byteLength > 0) send(head)
  upstream.on('data', send)
  upstream.once(
    'close',
    exchange.guard(() => socket.close(NORMAL_CLOSURE, '')),
  )
  // `close` follows, and tells the client.
  upstream.on('error', () => upstream.destroy())
  socket.listen({
    message: (data) => {
      const taken = exchange.guard(() => waiting.taken(data.byteLength))
      if (waiting.add(data.byteLength)) upstream.write(data, taken)
      else socket.close(TRY_AGAIN_LATER, NOT_TAKEN)
    },
    drain: () => upstream.resume(),
    close: () => {
      waiting.end()
      upstream.destroy()
    },
  })
}
