/**
 * Thread: main, or a front end's own. The WebSockets of an engine: the handshake, and pings that find out who is gone.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import type { Clock, Timer } from '../../../lib/clock.js'
import { MAX_SOCKET_MESSAGE_BYTES, SOCKET_IDLE_SECONDS } from '../http-engine.js'
import type { ServerSocket } from '../server-socket.js'
import { NodeSocketPort } from './node-socket-port.js'

/**
 * The time between two looks. One look sends a ping and the next one misses its answer, so a client that is gone is
 * found within SOCKET_IDLE_SECONDS.
 */
const LOOK_MS = (SOCKET_IDLE_SECONDS * 1000) / 2
/** The close code of a connection that ended without a close frame. */
const ABNORMAL_CLOSURE = 1006

export const asksForWebSocket = (request: IncomingMessage): boolean =>
  request.headers.upgrade?.toLowerCase() === 'websocket' && request.headers['sec-websocket-key'] !== undefined

export class WebSockets {
  readonly #clock: Clock
  readonly #open = new Set<NodeSocketPort>()
  #timer: Timer | undefined
  /**
   * The subprotocol of the handshake that is under way. A handshake begins and ends within accept(), so there is one at
   * a time.
   */
  #protocol = ''
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_SOCKET_MESSAGE_BYTES,
  })

  constructor(clock: Clock) {
    this.#clock = clock
    this.#server.on('headers', (lines) => {
      if (this.#protocol !== '') lines.push(`Sec-WebSocket-Protocol: ${this.#protocol}`)
    })
  }

  /** Answers the handshake and calls the socket's `opened`, or its `closed` when the client's handshake is invalid. */
  accept(request: IncomingMessage, stream: Duplex, head: Buffer, protocol: string, socket: ServerSocket): void {
    this.#protocol = protocol
    // The header is removed, because `ws` refuses the names of tunnels (SPDY/3.1+portforward.k8s.io). The caller has
    // chosen the subprotocol already.
    delete request.headers['sec-websocket-protocol']
    let isOpen = false
    this.#server.handleUpgrade(request, stream, head, (webSocket) => {
      isOpen = true
      const port = new NodeSocketPort(webSocket, socket)
      this.#open.add(port)
      this.#timer ??= this.#clock.after(LOOK_MS, () => this.#look())
      port.open(() => this.#open.delete(port))
    })
    if (!isOpen) socket.closed(ABNORMAL_CLOSURE, '')
  }

  #look(): void {
    for (const port of this.#open) port.look()
    this.#timer = this.#open.size === 0 ? undefined : this.#clock.after(LOOK_MS, () => this.#look())
  }

  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    for (const port of this.#open) port.terminate()
    this.#open.clear()
  }
}
