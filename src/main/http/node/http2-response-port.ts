/**
 * Thread: main, or a front end's own. An answer in HTTP/2, on one stream of a connection that carries others too. Node
 * keeps the bytes that it is given until they are sent, so all of them are copied. Between a client's RST_STREAM and
 * the event that reports it, calls on the stream throw, and copies for it are made in vain; so every method first looks
 * whether the client is gone, and reports that at once.
 */
import { constants, type ServerHttp2Stream } from 'node:http2'
import type { NodeConnection } from './node-connection.js'
import { headersObject } from './node-headers.js'
import { HIGH_WATER_BYTES, LOW_WATER_BYTES, NodeResponsePort } from './node-response-port.js'
import type { Stalls } from './stalls.js'

export class Http2ResponsePort extends NodeResponsePort {
  readonly #stream: ServerHttp2Stream
  readonly #isHead: boolean
  #headOut = false
  #broken = false
  #corked: Buffer[] | undefined
  #corkedBytes = 0
  readonly #written = (): void => {
    this.stalls.touch(this)
    if (this.blocked && this.#stream.writableLength < LOW_WATER_BYTES) this.unblock()
  }

  constructor(stream: ServerHttp2Stream, isHead: boolean, connection: NodeConnection, stalls: Stalls) {
    super(stream, connection, stalls)
    this.#stream = stream
    this.#isHead = isHead
    stream.once('finish', () => this.sent())
    stream.once('close', () => this.abort())
    // An error needs no handling here: Node closes the stream after it, and the `close` event does the rest.
    stream.on('error', () => undefined)
  }

  flushHead(): boolean {
    this.#sendHead('stream')
    return true
  }

  write(chunk: Uint8Array | string): boolean {
    if (this.#isGone()) {
      this.abort()
      return false
    }
    this.#sendHead('stream')
    const own = Buffer.from(chunk as Uint8Array)
    if (this.#corked === undefined) this.#send(own)
    else {
      this.#corked.push(own)
      this.#corkedBytes += own.byteLength
    }
    if (this.#stream.writableLength + this.#corkedBytes < HIGH_WATER_BYTES) return true
    this.block()
    return false
  }

  end(body?: Uint8Array | string, closeConnection = false): void {
    if (this.#isGone()) {
      this.abort()
      return
    }
    this.#uncork()
    const bytes = body === undefined ? undefined : Buffer.from(body as Uint8Array)
    const isEmpty = bytes === undefined || bytes.byteLength === 0
    if (!this.#headOut) {
      if (this.status !== 204 && this.status !== 304)
        this.headers.push('content-length', String(bytes?.byteLength ?? 0))
      this.#sendHead(isEmpty || this.#isHead ? 'whole' : 'sized')
    }
    // The rest of the request's body is not wanted: closing the stream tells the client not to send it.
    if (closeConnection) this.#stream.once('finish', () => this.#stream.close(constants.NGHTTP2_NO_ERROR))
    this.#stream.end(bytes)
    this.finish()
  }

  tryEnd(chunk: Uint8Array, totalSize: number): [ok: boolean, done: boolean] {
    if (this.#isGone()) {
      this.abort()
      return [false, false]
    }
    if (this.#stream.writableLength >= HIGH_WATER_BYTES) {
      this.block()
      return [false, false]
    }
    if (!this.#headOut) {
      this.headers.push('content-length', String(totalSize))
      this.#sendHead('sized')
    }
    this.offset += chunk.byteLength
    const isDone = this.offset >= totalSize
    const own = Buffer.from(chunk)
    if (!isDone) this.#send(own)
    else {
      this.#stream.end(own)
      this.finish()
    }
    return [true, isDone]
  }

  /** Joins the writes that the callback makes into one, because each crosses from JavaScript into C++. */
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
    if (corked === undefined || corked.length === 0) return
    this.#send(corked.length === 1 ? corked[0]! : Buffer.concat(corked))
  }

  #send(bytes: Buffer): void {
    if (!this.#isGone()) this.#stream.write(bytes, this.#written)
  }

  /** Whether the stream was reset or has ended, although the event that says so may be still to come. */
  #isGone(): boolean {
    const { aborted, closed, destroyed } = this.#stream
    return aborted || closed || destroyed
  }

  /**
   * Sends the head. After `whole` no body follows. A `sized` body has a stated length, by which the client sees when it
   * is cut short. A `stream` has none, and Node would end one that is broken off as if it were complete; so it is made
   * to wait for trailers, which sendTrailers() withholds from a broken stream.
   */
  #sendHead(what: 'whole' | 'sized' | 'stream'): void {
    if (this.#headOut) return
    this.#headOut = true
    if (!this.#isGone())
      this.#stream.respond(headersObject(this.status, this.headers), {
        endStream: what === 'whole',
        waitForTrailers: what === 'stream',
      })
    if (what === 'stream') this.#stream.once('wantTrailers', () => this.#sendTrailers())
  }

  protected isSent(): boolean {
    return this.#stream.writableFinished
  }

  protected isRequestWhole(): boolean {
    return this.#stream.endAfterHeaders || this.#stream.readableEnded
  }

  /** Sends empty trailers, which end the stream as complete. */
  #sendTrailers(): void {
    if (!this.#broken && !this.#isGone()) this.#stream.sendTrailers({})
  }

  /**
   * Resets the stream, by which the client learns that the answer is incomplete; the connection's other streams go on.
   */
  protected destroy(): void {
    this.#broken = true
    this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  }
}
