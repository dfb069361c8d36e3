/**
 * Thread: main, or a front end's own. An answer in HTTP/1.1. Node writes the head and knows when the connection may
 * take its next request. The pieces of a body go to the socket directly, each in one buffer with the head of its chunk:
 * Node's own way makes four writes of a piece.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { NodeConnection } from './node-connection.js'
import { HIGH_WATER_BYTES, LOW_WATER_BYTES, NodeResponsePort } from './node-response-port.js'
import type { Stalls } from './stalls.js'

const EMPTY = Buffer.alloc(0)
/** The most bytes that frame a chunk: eight digits of its length and two line ends. */
const CHUNK_FRAME_BYTES = 12

export interface Http1PortOptions {
  /** True while the engine shuts down: each connection is then closed after its answer. */
  readonly isClosing: () => boolean
  /** Whether the request has a body. */
  readonly hasBody: boolean
}

export class Http1ResponsePort extends NodeResponsePort {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  /**
   * False for clients of HTTP/1.0, who know no chunks and read a body without stated length until the connection ends.
   */
  readonly #isChunked: boolean
  readonly #isClosing: () => boolean
  readonly #hasBody: boolean
  #headOut = false
  #corked: Buffer[] | undefined
  #corkedBytes = 0
  readonly #written = (): void => {
    this.stalls.touch(this)
    if (this.blocked && this.#waiting() < LOW_WATER_BYTES) this.unblock()
  }

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    connection: NodeConnection,
    stalls: Stalls,
    { isClosing, hasBody }: Http1PortOptions,
  ) {
    super(request, connection, stalls)
    this.#hasBody = hasBody
    this.#request = request
    this.#response = response
    this.#isChunked = request.httpVersion !== '1.0'
    this.#isClosing = isClosing
    response.once('finish', () => this.sent())
    // A response closes when it is sent, too; the rest of the request's body is then still to come.
    response.once('close', () => {
      if (!response.writableFinished) this.abort()
    })
  }

  flushHead(): boolean {
    this.#beginStream()
    return true
  }

  write(chunk: Uint8Array | string): boolean {
    this.#beginStream()
    const framed = this.#framed(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    if (this.#corked === undefined) this.#send(framed)
    else {
      this.#corked.push(framed)
      this.#corkedBytes += framed.byteLength
    }
    if (this.#waiting() + this.#corkedBytes < HIGH_WATER_BYTES) return true
    this.block()
    return false
  }

  end(body?: Uint8Array | string, closeConnection = false): void {
    this.#uncork()
    if (closeConnection) this.#response.shouldKeepAlive = false
    if (this.#headOut) this.#response.end(body)
    else {
      // The body is copied, because the part that the socket does not take at once waits in memory. A string becomes
      // bytes here: Node would join it to the head and write both as UTF-8, but the head's characters stand for bytes
      // (node-headers.ts).
      const own = body === undefined ? EMPTY : Buffer.from(body as Uint8Array)
      this.#sendHead('Content-Length', String(own.byteLength))
      this.#response.end(own)
    }
    this.finish()
  }

  /**
   * Takes a piece only when nothing is waiting in the socket. Over TLS a piece needs no copy, because it is encrypted
   * by the time write() returns.
   */
  tryEnd(chunk: Uint8Array, totalSize: number): [ok: boolean, done: boolean] {
    const { socket } = this.#response
    if (this.#waiting() > 0) {
      this.block()
      return [false, false]
    }
    const isFirst = !this.#headOut
    // Without a socket this answer stands behind that to an earlier request of the connection (pipelining), and Node
    // keeps the piece until that one is sent; so it is copied.
    const own = this.connection.isEncrypted && socket !== null ? chunk : Buffer.from(chunk)
    if (isFirst) {
      socket?.cork()
      this.#sendHead('Content-Length', String(totalSize))
      this.#flushHead()
    }
    this.#send(own)
    if (isFirst) socket?.uncork()
    this.offset += chunk.byteLength
    const isDone = this.offset >= totalSize
    if (isDone) {
      this.#response.end()
      this.finish()
    }
    return [true, isDone]
  }

  /** Joins the writes that the callback makes into one. */
  cork(callback: () => void): void {
    if (this.#corked !== undefined) {
      callback()
      return
    }
    this.#corked = []
    try {
      callback()
    } finally {
      this.#uncork()
    }
  }

  #uncork(): void {
    const corked = this.#corked
    this.#corked = undefined
    this.#corkedBytes = 0
    if (corked === undefined || corked.length === 0 || this.#response.destroyed) return
    this.#send(corked.length === 1 ? corked[0]! : Buffer.concat(corked))
  }

  #waiting(): number {
    const { socket } = this.#response
    return socket === null ? this.#response.writableLength : socket.writableLength
  }

  #send(bytes: Uint8Array): void {
    const { socket } = this.#response
    if (socket === null) this.#response.write(bytes, this.#written)
    else socket.write(bytes, this.#written)
  }

  #beginStream(): void {
    if (this.#headOut) return
    if (this.#isChunked) this.#sendHead('Transfer-Encoding', 'chunked')
    else this.#sendHead('Connection', 'close')
    this.#flushHead()
  }

  #sendHead(name: string, value: string): void {
    this.#headOut = true
    const { headers, status } = this
    if (status !== 204 && status !== 304) headers.push(name, value)
    if (!this.#response.shouldKeepAlive || this.#isClosing()) headers.push('Connection', 'close')
    this.#response.writeHead(status, headers)
  }

  /**
   * Sends the head before the body. Node's flushHeaders() writes it as UTF-8, although its characters stand for bytes (node-headers.ts);
   * a write of no bytes has it written as they are. An answer without a body takes no writes.
   */
  #flushHead(): void {
    const { status } = this
    if (this.#request.method === 'HEAD' || status === 204 || status === 304) this.#response.flushHeaders()
    else this.#response.write(EMPTY)
  }

  /** Copies a chunk into the form that it has on the wire. */
  #framed(chunk: Uint8Array): Buffer {
    // Without a socket the chunk goes through Node's own write(), which frames it.
    if (!this.#isChunked || this.#response.socket === null) return Buffer.from(chunk)
    const size = chunk.byteLength.toString(16)
    const framed = Buffer.allocUnsafe(chunk.byteLength + CHUNK_FRAME_BYTES)
    let at = framed.write(`${size}\r\n`, 'latin1')
    framed.set(chunk, at)
    at += chunk.byteLength
    at += framed.write('\r\n', at, 'latin1')
    return framed.subarray(0, at)
  }

  protected isSent(): boolean {
    return this.#waiting() === 0
  }

  /** An answer that stands behind that to an earlier request (pipelining) waits for that one, not for the client. */
  override giveUp(): void {
    if (this.#response.socket === null && !this.#response.destroyed) this.stalls.wait(this)
    else super.giveUp()
  }

  protected isRequestWhole(): boolean {
    return !this.#hasBody || this.#request.complete
  }

  protected destroy(): void {
    this.#response.destroy()
    this.connection.socket.destroy()
  }
}
