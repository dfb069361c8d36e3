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
import { NOT_TAKEN, TRY_AGAIN_LATER, type WaitingBytes, type WaitingSession } from './waiting-bytes.js'

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
  readonly waiting: WaitingBytes
}

/** Resolves when the client has its WebSocket, or the answer of a kubelet that refused it. */
export function relayWebSocket(options: WebSocketRelayOptions): Promise<void> {
  const { exchange, plan, path, protocols, headers, trust, waiting } = options
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
        else join(exchange, socket, upstream, { older, waiting: waiting.session() })
      }),
    )
  })
}

interface Joint {
  readonly older: boolean
  readonly waiting: WaitingSession
}

function join(exchange: Exchange, socket: ServerSocket, upstream: WebSocket, { older, waiting }: Joint): void {
  upstream.on(
    'message',
    exchange.guard((data, isBinary) => {
      if (!socket.send(asBytes(data), isBinary)) upstream.pause()
    }),
  )
  upstream.on(
    'close',
    exchange.guard((code, reason) => {
      waiting.end()
      socket.close(code, reason.toString())
    }),
  )
  socket.listen({
    message: (data, isBinary) => {
      if (older && data[0] === END_OF_CHANNEL) return
      if (waiting.add(data.byteLength)) upstream.send(data, { binary: isBinary }, () => waiting.taken(data.byteLength))
      else {
        socket.close(TRY_AGAIN_LATER, NOT_TAKEN)
        // A farewell would wait behind all that was not read, and that with it.
        upstream.terminate()
      }
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
