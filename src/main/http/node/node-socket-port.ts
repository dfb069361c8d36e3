/** Thread: main, or a front end's own. A WebSocket of the package `ws` as a port. */
import type { WebSocket } from 'ws'
import type { ServerSocket, SocketPort } from '../server-socket.js'

/**
 * Whether a close code may be sent: the defined ones and the free ones (3000 to 4999), but not 1004 to 1006, which are
 * reserved or stand for the absence of a code.
 */
const mayBeSent = (code: number): boolean =>
  (code >= 1000 && code <= 1014 && (code < 1004 || code > 1006)) || (code >= 3000 && code <= 4999)
/** The longest reason of a close frame, by RFC 6455. */
const MAX_REASON_BYTES = 123

export class NodeSocketPort implements SocketPort {
  readonly #webSocket: WebSocket
  readonly #socket: ServerSocket
  #closed = false
  /** Whether anything was received since the last look(). */
  isAlive = true

  constructor(webSocket: WebSocket, socket: ServerSocket) {
    this.#webSocket = webSocket
    this.#socket = socket
  }

  /** Passes the WebSocket's events on to the server socket, and calls its `opened`. */
  open(onClose: () => void): void {
    const webSocket = this.#webSocket
    webSocket.binaryType = 'nodebuffer'
    webSocket.on('message', (data, isBinary) => {
      this.isAlive = true
      if (!this.#closed) this.#socket.received(data as Buffer, isBinary)
    })
    webSocket.on('pong', () => {
      this.isAlive = true
    })
    webSocket.on('ping', () => {
      this.isAlive = true
    })
    // A frame broke the protocol. `ws` closes the connection after this event, and `close` does the rest.
    webSocket.on('error', () => undefined)
    webSocket.on('close', (code, reason) => {
      onClose()
      this.#close(code, reason.toString())
    })
    this.#socket.opened(this)
  }

  drained(): void {
    if (!this.#closed) this.#socket.drained()
  }

  /** The message is copied, because the caller may reuse its memory once this method returns. */
  send(message: Uint8Array | string, isBinary: boolean): number {
    const own = typeof message === 'string' ? message : Buffer.from(message)
    this.#webSocket.send(own, { binary: isBinary }, this.#sent)
    return this.getBufferedAmount() === 0 ? 1 : 0
  }

  /**
   * Called when a message is sent or has failed. It fails only for a client that is gone, which the `close` event
   * reports.
   */
  readonly #sent = (): void => this.drained()

  /**
   * Closes the socket. As with uWebSockets.js, it counts as closed when this returns, whatever the client still sends.
   */
  end(code?: number, reason = ''): void {
    if (code === undefined || !mayBeSent(code)) this.#webSocket.close()
    else this.#webSocket.close(code, Buffer.from(reason).subarray(0, MAX_REASON_BYTES))
    this.#close(code ?? 1005, reason)
  }

  getBufferedAmount(): number {
    return this.#webSocket.bufferedAmount
  }

  /** Sends a ping; ends a connection on which nothing was received since the last one. */
  look(): void {
    if (!this.isAlive) {
      this.terminate()
      return
    }
    this.isAlive = false
    this.#webSocket.ping()
  }

  terminate(): void {
    this.#webSocket.terminate()
  }

  #close(code: number, reason: string): void {
    if (this.#closed) return
    this.#closed = true
    this.#socket.closed(code, reason)
  }
}
