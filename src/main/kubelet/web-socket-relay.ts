/**
 * Thread: main. A WebSocket passed on: messages as they come. Towards the client no faster than it takes them; towards the
 * kubelet up to a limit, because uWebSockets.js cannot stop reading.
 */
import type { Agent } from 'node:http'
import type { ConnectionOptions } from 'node:tls'
import { WebSocket } from 'ws'
import { newBadRequest, newInternalError } from '../../api/status.js'
import type { ConnectPlan } from '../../protocol/main-pool.js'
import type { Exchange } from '../http/exchange.js'
import type { ServerSocket } from '../http/server-socket.js'
import { relayAnswer } from './http-relay.js'
import { hostOf } from './upstream-request.js'
import { NOT_TAKEN, TRY_AGAIN_LATER, type WaitingBytes, type WaitingSession } from './waiting-bytes.js'

/** The two protocols differ in one message: the end of a channel, which the older one cannot tell. */
const [NEWER, OLDER] = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const END_OF_CHANNEL = 255
/** A subprotocol is a token of HTTP: no other server could be asked for anything else. */
const TOKEN = /^[!#$%&'*+\-.^_`|~\dA-Za-z]+$/

export interface WebSocketRelayOptions {
  readonly exchange: Exchange
  readonly plan: Pick<ConnectPlan, 'scheme' | 'host' | 'port'>
  readonly path: string
  readonly protocols: readonly string[]
  readonly headers: Record<string, string | string[]>
  /** What TLS shows and trusts; not looked at without TLS. */
  readonly tls: ConnectionOptions
  /** Who connects, when it is not directly. */
  readonly agent?: Agent | undefined
  /** The limit of the handshake; with 0 there is none. */
  readonly timeoutMs: number
  readonly waiting: WaitingBytes
}

/** Resolves when the client has its WebSocket, or the answer of a kubelet that refused it. */
export async function relayWebSocket(options: WebSocketRelayOptions): Promise<void> {
  const { exchange, plan, path, protocols, headers, tls, agent, timeoutMs, waiting } = options
  if (new Set(protocols).size < protocols.length || !protocols.every((protocol) => TOKEN.test(protocol)))
    throw newBadRequest('the WebSocket subprotocols that were offered are not tokens that differ')
  const url = `${plan.scheme === 'https' ? 'wss' : 'ws'}://${hostOf(plan)}${path}`
  // Kubelets before 1.36 know the older protocol only.
  const offered = protocols.includes(NEWER!) ? [...new Set([...protocols, OLDER!])] : [...protocols]
  const upstream = new WebSocket(url, offered, {
    headers: headers as Record<string, string>,
    perMessageDeflate: false,
    ...(plan.scheme === 'https' ? tls : {}),
    ...(agent === undefined ? {} : { agent }),
    ...(timeoutMs > 0 ? { handshakeTimeout: timeoutMs } : {}),
  })
  exchange.onAbort(() => upstream.terminate())
  await new Promise<void>((resolve, reject) => {
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
      const taken = exchange.guard(() => waiting.taken(data.byteLength))
      if (waiting.add(data.byteLength)) upstream.send(data, { binary: isBinary }, taken)
      else {
        socket.close(TRY_AGAIN_LATER, NOT_TAKEN)
        // A close frame would wait behind everything that was not read, and keep it in memory.
        upstream.terminate()
      }
    },
    drain: () => upstream.resume(),
    close: (code, reason) => {
      // A paused socket would never see the close frame of the other side.
      if (upstream.isPaused) upstream.resume()
      if (code === 1005 || code === 1006 || code === 1015) upstream.close()
      else upstream.close(code, reason)
    },
  })
}

const asBytes = (data: Buffer | ArrayBuffer | Buffer[]): Uint8Array =>
  Array.isArray(data) ? Buffer.concat(data) : new Uint8Array(data)
