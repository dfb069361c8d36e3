/**
 * Thread: main. A WebSocket passed on: messages as they come. Towards the client no faster than it takes them; towards the
 * kubelet up to a limit, because uWebSockets.js cannot stop reading.
 */
import { WebSocket } from 'ws'
import { newInternalError } from '../../api/status.js'
import type { ConnectPlan } from '../../protocol/main-pool.js'
import type { Exchange } from '../http/exchange.js'
import type { ServerSocket } from '../http/server-socket.js'
import { relayAnswer } from './http-relay.js'
import type { Trust } from './trust.js'
import { hostOf } from './upstream-request.js'

/** What waits for a kubelet that does not read; beyond it the connection is closed (1013: try again later). */
export const MAX_WAITING_BYTES = 64 * 1024 * 1024
const TRY_AGAIN_LATER = 1013
/** The same but for one message: the end of a channel, which the older one cannot say. */
const [NEWER, OLDER] = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const END_OF_CHANNEL = 255

export interface WebSocketRelayOptions {
  readonly exchange: Exchange
  readonly plan: ConnectPlan
  readonly path: string
  readonly protocols: readonly string[]
  readonly headers: Record<string, string | string[]>
  readonly trust: Trust
}

/** Resolves when the client has its WebSocket, or the answer of a kubelet that refused it. */
export function relayWebSocket(options: WebSocketRelayOptions): Promise<void> {
  const { exchange, plan, path, protocols, headers, trust } = options
  const url = `${plan.scheme === 'https' ? 'wss' : 'ws'}://${hostOf(plan)}${path}`
  // Kubelets before 1.36 know the older protocol only.
  const offered = protocols.includes(NEWER!) ? [...new Set([...protocols, OLDER!])] : [...protocols]
  const upstream = new WebSocket(url, offered, {
    headers: headers as Record<string, string>,
    perMessageDeflate: false,
    ...(plan.scheme === 'https' ? trust.identity(plan.trust) : {}),
    ...(trust.timeoutMs > 0 ? { handshakeTimeout: trust.timeoutMs } : {}),
  })
  exchange.onAbort(() => upstream.terminate())
  return new Promise((resolve, reject) => {
    upstream.once(
      'unexpected-response',
      exchange.guard((_request, answer) => {
        resolve()
        relayAnswer(answer, exchange, { refusal: true })
      }),
    )
    upstream.on('error', (error) => reject(newInternalError(`error dialing backend: ${error.message}`)))
    upstream.once(
      'open',
      exchange.guard(() => {
        resolve()
        const older = upstream.protocol === OLDER && !protocols.includes(OLDER)
        const socket = exchange.acceptWebSocket(older ? NEWER! : upstream.protocol)
        if (socket === undefined) upstream.terminate()
        else join(exchange, socket, upstream, older)
      }),
    )
  })
}

function join(exchange: Exchange, socket: ServerSocket, upstream: WebSocket, older: boolean): void {
  upstream.on(
    'message',
    exchange.guard((data, isBinary) => {
      if (!socket.send(asBytes(data), isBinary)) upstream.pause()
    }),
  )
  upstream.on(
    'close',
    exchange.guard((code, reason) => socket.close(code, reason.toString())),
  )
  socket.listen({
    message: (data, isBinary) => {
      if (older && data[0] === END_OF_CHANNEL) return
      upstream.send(data, { binary: isBinary })
      if (upstream.bufferedAmount > MAX_WAITING_BYTES) socket.close(TRY_AGAIN_LATER, 'the other side does not read')
    },
    drain: () => upstream.resume(),
    close: (code, reason) => {
      // A socket that stands still would never see the other side's farewell.
      if (upstream.isPaused) upstream.resume()
      if (code === 1005 || code === 1006 || code === 1015) upstream.close()
      else upstream.close(code, reason)
    },
  })
}

const asBytes = (data: Buffer | ArrayBuffer | Buffer[]): Uint8Array =>
  Array.isArray(data) ? Buffer.concat(data) : new Uint8Array(data)
