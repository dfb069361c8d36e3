/**
 * Thread: main. Watches over WebSockets: each event is a message, text for JSON and binary for protobuf. A token
 * may stand among the subprotocols, because a browser can send no header: authentication takes it from there.
 */
import { newBadRequest } from '../../api/status.js'
import type { ServerSocket } from './server-socket.js'

const BEARER = 'base64url.bearer.authorization.k8s.io.'
const NORMAL_CLOSURE = 1000
/** Before each message of a protobuf stream; a WebSocket's messages have a length of their own. */
const LENGTH_BYTES = 4

/** What a client offers to speak. Its token, which may stand among them, is for this server and nobody else. */
export const offeredProtocols = (header: string): string[] =>
  header
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith(BEARER))

/** The subprotocol to answer with: the one that the client offers. Throws BadRequest. */
export function socketProtocol(header: string): string {
  const [protocol = '', ...others] = offeredProtocols(header)
  if (others.length > 0) throw newBadRequest('a watch speaks one WebSocket subprotocol: several were offered')
  return protocol
}

/** A stream of frames as the messages of a socket. */
export class SocketStream {
  readonly separate = true
  readonly #socket: ServerSocket
  readonly #isBinary: boolean
  #onDrain: (() => void) | undefined
  #ended = false

  /** `onGone`: the client closed it. */
  constructor(socket: ServerSocket, isBinary: boolean, onGone: () => void) {
    this.#socket = socket
    this.#isBinary = isBinary
    socket.listen({
      // Nobody has anything to say on a watch.
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

  idle(): void {
    // The head of the answer is out since the connection is a socket.
  }

  cork(callback: () => void): void {
    if (this.#socket.isOpen) callback()
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener
  }

  touch(): void {
    // Pings tell who is gone.
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#socket.close(NORMAL_CLOSURE, '')
  }
}
