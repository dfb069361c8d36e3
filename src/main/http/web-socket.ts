/**
 * Thread: main. Watches over WebSockets: each event is a message, text for JSON and binary for protobuf. A browser
 * cannot set headers on a WebSocket, so its token may stand among the subprotocols, where authentication looks for it.
 */
import { newBadRequest } from '../../api/status.js'
import type { ServerSocket } from './server-socket.js'

const BEARER = 'base64url.bearer.authorization.k8s.io.'
const NORMAL_CLOSURE = 1000
/**
 * The length in front of each frame of a protobuf stream. It is cut off here, because a WebSocket message has a length
 * of its own.
 */
const LENGTH_BYTES = 4

/** The subprotocols that a client offers, without its token, which may stand among them and must not be passed on. */
export const offeredProtocols = (header: string): string[] =>
  header
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith(BEARER))

/**
 * The subprotocol of the answer: the only one that the client offers, or ''. Throws BadRequest when it offers several.
 */
export function socketProtocol(header: string): string {
  const [protocol = '', ...others] = offeredProtocols(header)
  if (others.length > 0) throw newBadRequest('a watch speaks one WebSocket subprotocol: several were offered')
  return protocol
}

/** Writes a stream of frames as the messages of a socket. */
export class SocketStream {
  readonly separate = true
  readonly #socket: ServerSocket
  readonly #isBinary: boolean
  #onDrain: (() => void) | undefined
  #ended = false

  /** `onGone` is called when the client closes the socket. */
  constructor(socket: ServerSocket, isBinary: boolean, onGone: () => void) {
    this.#socket = socket
    this.#isBinary = isBinary
    socket.listen({
      // Messages from the client of a watch have no meaning and are dropped.
      message: () => undefined,
      drain: () => this.#onDrain?.(),
      close: () => {
        if (!this.#ended) onGone()
      },
    })
  }

  write(chunk: Uint8Array): boolean {
    if (!this.#socket.isOpen) return false
    return this.#socket.send(this.#isBinary ? chunk.subarray(LENGTH_BYTES) : chunk, this.#isBinary)
  }

  writeAll(chunks: readonly Uint8Array[]): boolean {
    let writable = true
    for (const chunk of chunks) writable = this.write(chunk)
    return writable
  }

  idle(): void {
    // Nothing to do: the head was sent when the connection became a WebSocket.
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener
  }

  touch(): void {
    // Nothing to do: the engine's pings find out whether the client is gone.
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#socket.close(NORMAL_CLOSURE, '')
  }
}
