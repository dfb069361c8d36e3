/**
 * Thread: main. One request and its answer over a connection that may go away or be slow at any moment.
 *
 *   open ──respond()/respondSized()/startStream()──▶ answering ──▶ ended
 *     └───────────────────── the client went away ───────────────▶ aborted
 *
 * After `aborted` nothing may touch the response: every method checks and does nothing.
 */
import type { Duplex } from 'node:stream'
import type { Credentials } from '../../auth/interface.js'
import { assert } from '../../lib/assert.js'
import { BodyReader, ClientGone } from './body-reader.js'
import { BodyStream } from './body-stream.js'
import type { ExchangeServices, ExchangeTap } from './exchange-services.js'
import { AT_ONCE_BYTES, HELD_BODY_BYTES } from './exchange-sizes.js'
import type { TakeOver, Upgrade } from './http-engine.js'
import type { RequestHead } from './request-head.js'
import { type ResponseHead, servable } from './response-head.js'
import type { ResponsePort } from './response-port.js'
import { type AnswerState, ChunkedStream, type ResponseStream, type StreamFiller } from './response-stream.js'
import { ServerSocket } from './server-socket.js'
import { SizedAnswer, type SizedAnswerOptions } from './sized-answer.js'
import { SocketStream, socketProtocol } from './web-socket.js'

/**
 * The largest body that goes out with its head in one cork: both fit into the 16 KiB that a cork of uWebSockets.js
 * holds. A larger body goes by tryEnd(), which says what was not taken; end() would lose it when the head cannot be
 * sent (see CORK_BYTES in response-stream.ts). Whoever answers with more than this gives the bytes away, because they
 * may have to wait for the client.
 */
export const CORKED_BODY_BYTES = 8 * 1024

/** The WebSocket close code for a failure of this server. */
const INTERNAL_ERROR_CLOSURE = 1011

const NO_HEADERS: readonly string[] = []

export class Exchange implements Credentials {
  readonly head: RequestHead
  /** Headers, as name, value, name, value, …, that are sent with every answer of this exchange, a refusal included. */
  extraHeaders: readonly string[] = []
  /** Further headers of every answer: those of the listener, and what browsers are told. */
  standingHeaders: readonly string[]
  /** Whether an answer may be compressed for a client that asks for it. */
  readonly compresses: boolean
  tap: ExchangeTap | undefined
  /** True after an exception that should never have happened (fail() or report()): the audit log records it. */
  panicked = false
  readonly #port: ResponsePort
  readonly #services: ExchangeServices
  #state: 'open' | 'answering' | 'ended' | 'aborted' = 'open'
  #abortListeners: (() => void)[] | undefined
  #onEnd: ((status: number) => void) | undefined
  #status = 0
  #bytes = 0
  #body: BodyReader | BodyStream | undefined
  #certificate: string | undefined
  readonly #upgrade: Upgrade | undefined
  readonly #takeOver: TakeOver | undefined
  /** How the connection is broken off once it speaks another protocol. From then on nothing may touch the response. */
  #breakSwitched: (() => void) | undefined

  constructor(
    head: RequestHead,
    port: ResponsePort,
    services: ExchangeServices = {},
    upgrade?: Upgrade,
    takeOver?: TakeOver,
  ) {
    this.#upgrade = upgrade
    this.#takeOver = takeOver
    this.#services = services
    this.standingHeaders = services.headers ?? NO_HEADERS
    this.compresses = services.compresses !== false
    this.head = head
    this.#port = port
    port.onAborted(() => this.#aborted())
  }

  /** What an answer that is written piece by piece needs of its exchange. */
  #answer(): AnswerState {
    return {
      answering: () => this.#state === 'answering',
      attempt: (callback) => this.attempt(callback),
      sent: (bytes) => {
        this.#bytes += bytes
      },
      ended: () => this.#end(),
    }
  }

  get aborted(): boolean {
    return this.#state === 'aborted'
  }

  get answered(): boolean {
    return this.#state !== 'open'
  }

  /** True when nothing more will be written, because the answer is complete or the client is gone. */
  get over(): boolean {
    return this.#state === 'ended' || this.#state === 'aborted'
  }

  /** How many bytes of the answer's body were written so far. A body of known size counts in full from its start. */
  get bytesSent(): number {
    return this.#bytes
  }

  get authorization(): string {
    return this.head.authorization
  }

  header(name: string): string {
    return this.head.header(name)
  }

  forEachHeader(visit: (name: string, value: string) => void): void {
    this.head.forEachHeader(visit)
  }

  clientCertificate(): string {
    if (this.over || this.#breakSwitched !== undefined) return this.#certificate ?? ''
    this.#certificate ??= this.#port.clientCertificate()
    return this.#certificate
  }

  remoteAddress(): string {
    if (this.over || this.#breakSwitched !== undefined) return ''
    return this.#port.remoteAddress()
  }

  get asksForWebSocket(): boolean {
    return this.#upgrade !== undefined
  }

  /**
   * Turns the connection into a WebSocket. Gives undefined when the client did not ask for one, is gone, or has been
   * answered.
   */
  acceptWebSocket(protocol: string): ServerSocket | undefined {
    if (this.#state !== 'open' || this.#upgrade === undefined) return undefined
    this.#state = 'answering'
    this.#status = 101
    const socket = new ServerSocket(
      (bytes) => {
        this.#bytes += bytes
      },
      () => this.#end(),
      (error) => this.fail(error),
    )
    this.#breakSwitched = () => socket.close(INTERNAL_ERROR_CLOSURE, '')
    this.#port.cork(() => this.#upgrade!(protocol, socket))
    return socket
  }

  /** True when the client asks for a protocol other than WebSocket and the engine can let go of the connection. */
  get canSwitchProtocols(): boolean {
    return this.#takeOver !== undefined
  }

  /** Answers 101 and gives the connection, to read, write and end; undefined as acceptWebSocket() does. */
  switchProtocols(headers: readonly string[]): Duplex | undefined {
    if (this.#state !== 'open' || this.#takeOver === undefined) return undefined
    this.#state = 'answering'
    this.#status = 101
    const connection = this.#takeOver(headers).once('close', () => this.attempt(() => this.#end()))
    this.#breakSwitched = () => connection.destroy()
    return connection
  }

  /** The listener is called once: with the status when the answer is written, or with 0 when the client has gone. */
  onFinished(listener: (status: number) => void): void {
    this.#onEnd = listener
  }

  onAbort(listener: () => void): void {
    if (this.aborted) listener()
    else {
      this.#abortListeners ??= []
      this.#abortListeners.push(listener)
    }
  }

  #aborted(): void {
    this.#state = 'aborted'
    for (const listener of this.#abortListeners ?? []) this.attempt(listener)
    this.attempt(() => this.#finished(0))
  }

  #finished(status: number): void {
    const listener = this.#onEnd
    this.#onEnd = undefined
    listener?.(status)
  }

  /**
   * Keeps the body for a readBody() that comes later. It must be called in the turn in which the request came, or the
   * chunks that arrive meanwhile would be lost. Only a small body is received now; a larger one stays with the client,
   * which is not read from until readBody().
   */
  holdBody(limitBytes: number): void {
    if (this.#body !== undefined || this.answered) return
    this.#body = new BodyReader(limitBytes)
    const { contentLength } = this.head
    const small = contentLength !== '' && Number(contentLength) <= HELD_BODY_BYTES
    this.#startBody(this.#body)
    if (small) return
    this.#port.pause()
    this.#body.paused = true
  }

  /**
   * Reads the whole body. Rejects with BodyTooLarge when it is longer than `limitBytes`, and with ClientGone when the
   * client goes before its end. A body that is not far too long is received and dropped before the rejection, because a
   * client that is still writing when the connection closes never reads why it was refused.
   */
  readBody(limitBytes: number): Promise<Uint8Array> {
    assert(!(this.#body instanceof BodyStream), 'a body is read as a whole or as a stream')
    if (this.#body === undefined) {
      if (this.aborted) return Promise.reject(new ClientGone())
      this.#body = new BodyReader(limitBytes)
      this.#startBody(this.#body)
    } else if (this.#body.paused && !this.aborted) {
      this.#body.paused = false
      this.#port.resume()
    }
    const { promise } = this.#body
    const show = this.tap?.requestBody
    return show === undefined
      ? promise
      : promise.then((bytes) => {
          show(bytes)
          return bytes
        })
  }

  /** The body as a stream, however long it is. The client is not read from before the stream is. */
  bodyStream(): BodyStream {
    if (this.#body instanceof BodyStream) return this.#body
    assert(this.#body === undefined, 'a body is read as a whole or as a stream')
    const port = this.#port
    const stream = new BodyStream({
      pause: () => {
        if (!this.over) port.pause()
      },
      resume: () => {
        if (!this.over) port.resume()
      },
    })
    this.#body = stream
    if (this.aborted) stream.gone()
    else {
      this.onAbort(() => stream.gone())
      port.onData((chunk, isLast) => this.attempt(() => stream.take(chunk, isLast)))
      stream.pause()
    }
    return stream
  }

  #startBody(body: BodyReader): void {
    if (Number(this.head.contentLength) > body.dropLimitBytes) body.refuse()
    this.onAbort(() => body.gone())
    this.#port.onData((chunk, isLast) => this.attempt(() => body.take(chunk, isLast)))
  }

  respond(head: ResponseHead, body: Uint8Array | string): void {
    if (this.#state !== 'open') return
    if (body.length > CORKED_BODY_BYTES && this.head.method !== 'HEAD') {
      this.#respondSliced(head, typeof body === 'string' ? Buffer.from(body) : body)
      return
    }
    this.#state = 'answering'
    this.#status = head.status
    this.#bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
    this.#resumeBody()
    this.#show(head, body)
    this.#port.cork(() => {
      this.#writeHead(head)
      // An answer to HEAD ends with an empty body, because endWithoutBody() would close the connection.
      this.#port.end(this.head.method === 'HEAD' ? '' : body)
    })
    this.#end()
  }

  /**
   * Breaks off an answer that is under way. The client sees its connection end, and so learns that the answer is
   * incomplete.
   */
  breakOff(): void {
    if (this.#state !== 'answering') return
    if (this.#breakSwitched === undefined) this.#port.close()
    else this.#breakSwitched()
  }

  /** Wraps a callback of a stream or socket, so that an exception in it ends this exchange and nothing else. */
  guard<A extends unknown[]>(callback: (...args: A) => void): (...args: A) => void {
    return (...args) => this.attempt(() => callback(...args))
  }

  /** Runs the callback. An exception in it ends this exchange and nothing else. */
  attempt(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.fail(error)
    }
  }

  /**
   * Reports an exception that should never have happened without ending the exchange: the caller tells the client,
   * within its stream.
   */
  report(error: unknown): void {
    this.panicked = true
    this.#services.failures?.failed(error, this.head)
  }

  /**
   * Ends the exchange after an exception that should never have happened: with status 500 when nothing is written yet,
   * else by breaking the answer off.
   */
  fail(error: unknown): void {
    this.report(error)
    try {
      if (this.#state === 'open') this.respondAndClose({ status: 500, contentType: 'text/plain' }, 'internal error\n')
      else this.breakOff()
    } catch (second) {
      // Closing the connection failed too, so the client is gone.
      this.#services.failures?.failed(second, this.head)
      this.#state = 'aborted'
    }
  }

  /** Answers and closes the connection, for a client whose request cannot be read to its end. */
  respondAndClose(head: ResponseHead, body: Uint8Array | string): void {
    if (this.#state !== 'open') return
    this.#state = 'answering'
    this.#status = head.status
    this.#show(head, body)
    this.#port.cork(() => {
      this.#writeHead(head)
      this.#port.end(body, true)
    })
    this.#end()
  }

  #show(head: ResponseHead, body: Uint8Array | string): void {
    if (this.tap === undefined) return
    this.tap.responseHead?.(head, false)
    this.tap.responsePiece?.(body)
  }

  /**
   * Answers with a body of `totalBytes`, in pieces, no faster than the client takes them. `next` gives the next piece,
   * whose memory the caller may reuse once it is asked for the following one, or undefined when the rest cannot be had:
   * then the connection is closed. `heldBytes` is what the caller keeps in memory for the answer until `done` is
   * called.
   */
  respondSized(
    head: ResponseHead,
    { totalBytes, heldBytes, next, done }: Pick<SizedAnswerOptions, 'totalBytes' | 'heldBytes' | 'next' | 'done'>,
  ): void {
    if (this.#state !== 'open') {
      done()
      return
    }
    this.#state = 'answering'
    this.#status = head.status
    this.#bytes = totalBytes
    this.#resumeBody()
    this.tap?.responseHead?.(head, false)
    const { turns, slowAnswers } = this.#services
    const answer = new SizedAnswer({
      port: this.#port,
      state: this.#answer(),
      totalBytes,
      heldBytes,
      slowAnswers,
      next,
      done,
      turns: totalBytes > AT_ONCE_BYTES ? turns : undefined,
      show: this.tap?.responsePiece,
    })
    this.onAbort(() => answer.finish())
    answer.start(() => this.#writeHead(head))
  }

  #respondSliced(head: ResponseHead, body: Uint8Array): void {
    let at = 0
    const next = (): Uint8Array | undefined => {
      const piece = body.subarray(at, at + AT_ONCE_BYTES)
      at += piece.byteLength
      return piece
    }
    const { byteLength } = body
    this.respondSized(head, { totalBytes: byteLength, heldBytes: byteLength, next, done: () => undefined })
  }

  /**
   * Starts an answer without known end: messages for a client that asked for a WebSocket, chunks for others. Gives
   * undefined when the client is gone or has been answered.
   */
  startStream(head: ResponseHead, filler?: StreamFiller): ResponseStream | undefined {
    if (this.#state !== 'open') return undefined
    return this.#upgrade === undefined ? this.startPlainStream(head, filler) : this.#startSocketStream(head)
  }

  /** Starts such an answer in plain HTTP, also for a client that asked for a WebSocket and does not get one. */
  startPlainStream(head: ResponseHead, filler?: StreamFiller): ResponseStream | undefined {
    if (this.#state !== 'open') return undefined
    this.#state = 'answering'
    this.#status = head.status
    this.tap?.responseHead?.(head, true)
    this.#port.cork(() => this.#writeHead(head))
    return new ChunkedStream(this.#port, this.#answer(), filler)
  }

  /** Starts such an answer over a WebSocket, where each frame is a message. */
  #startSocketStream({ contentType }: ResponseHead): ResponseStream | undefined {
    const socket = this.acceptWebSocket(socketProtocol(this.head.header('sec-websocket-protocol')))
    if (socket === undefined) return undefined
    return new SocketStream(socket, contentType !== 'application/json', () => this.#aborted())
  }

  /** Lets the rest of a paused request body come in: until it is through, the connection takes no further request. */
  #resumeBody(): void {
    if (this.#body?.paused !== true) return
    if (this.#body instanceof BodyStream) {
      this.#body.discard()
      return
    }
    this.#body.paused = false
    this.#port.resume()
  }

  #writeHead(head: ResponseHead): void {
    const { extraHeaders, standingHeaders } = this
    const headers = standingHeaders.length === 0 ? extraHeaders : [...extraHeaders, ...standingHeaders]
    this.#port.writeHead(servable(head), this.head.auditId, headers)
  }

  #end(): void {
    if (this.#state === 'answering') this.#state = 'ended'
    this.#abortListeners = undefined
    this.#finished(this.#status)
  }
}
