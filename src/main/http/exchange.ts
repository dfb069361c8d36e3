/**
 * Thread: main. One request and its answer over a connection that may go away or be slow at any moment.
 *
 *   open ──respond()/respondSized()/startStream()──▶ answering ──▶ ended
 *     └───────────────────── the client went away ───────────────▶ aborted
 *
 * After `aborted` nothing may touch the response: every method checks and does nothing.
 */
import type { Credentials } from '../../auth/interface.js'
import { assert } from '../../lib/assert.js'
import { BodyReader, ClientGone } from './body-reader.js'
import { BodyStream } from './body-stream.js'
import type { BulkTurns } from './bulk-turns.js'
import type { ExchangeFailures } from './exchange-failures.js'
import type { RequestHead } from './request-head.js'
import { type ResponseHead, writeHead } from './response-head.js'
import type { ResponsePort } from './response-port.js'
import { type AnswerState, ChunkedStream, type ResponseStream, type StreamFiller } from './response-stream.js'
import { ServerSocket } from './server-socket.js'
import { SizedAnswer } from './sized-answer.js'
import { SocketStream, socketProtocol } from './web-socket.js'

/** Who looks on. Bytes are whoever's they were: they are copied or forgotten before the call returns. */
export interface ExchangeTap {
  readonly requestBody?: (bytes: Uint8Array) => void
  /** `streams`: pieces are not shown. */
  readonly responseHead?: (head: ResponseHead, streams: boolean) => void
  readonly responsePiece?: (bytes: Uint8Array | string) => void
  /** What the pool noted for the audit log; before the head. */
  readonly annotations?: (annotations: Readonly<Record<string, string>>) => void
}

/** Bodies up to this are taken in while their request waits; larger ones are left in the socket. */
const HELD_BODY_BYTES = 64 * 1024

/** Answers up to this are written at once: slicing them would cost more than it gives others. */
const AT_ONCE_BYTES = 64 * 1024

/** Of a WebSocket: something failed here. */
const INTERNAL_ERROR_CLOSURE = 1011

/** Turns the connection into a WebSocket; calls the socket's `opened` before it returns. */
export type Upgrade = (protocol: string, socket: ServerSocket) => void

export class Exchange implements Credentials {
  readonly head: RequestHead
  /** name, value, …: go with whatever the answer is. */
  extraHeaders: readonly string[] = []
  tap: ExchangeTap | undefined
  /** What failed never should. */
  panicked = false
  readonly #port: ResponsePort
  readonly #turns: BulkTurns | undefined
  #state: 'open' | 'answering' | 'ended' | 'aborted' = 'open'
  #abortListeners: (() => void)[] | undefined
  #onEnd: ((status: number) => void) | undefined
  #status = 0
  #bytes = 0
  #body: BodyReader | BodyStream | undefined
  #certificate: string | undefined
  readonly #upgrade: Upgrade | undefined
  readonly #failures: ExchangeFailures | undefined
  /** Once the connection is a WebSocket: from then on nothing may touch the response. */
  #socket: ServerSocket | undefined

  /** Without turns, a large answer is written as fast as the client takes it. */
  constructor(
    head: RequestHead,
    port: ResponsePort,
    turns?: BulkTurns,
    upgrade?: Upgrade,
    failures?: ExchangeFailures,
  ) {
    this.#upgrade = upgrade
    this.#failures = failures
    this.head = head
    this.#port = port
    this.#turns = turns
    port.onAborted(() => this.#aborted())
  }

  /** For answers that are written piece by piece. */
  #answer(): AnswerState {
    return {
      answering: () => this.#state === 'answering',
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

  /** Nothing more will be written. */
  get over(): boolean {
    return this.#state === 'ended' || this.#state === 'aborted'
  }

  /** Of the answer's body so far. */
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
    if (this.over || this.#socket !== undefined) return this.#certificate ?? ''
    this.#certificate ??= this.#port.getX509Certificate?.() ?? ''
    return this.#certificate
  }

  remoteAddress(): string {
    if (this.over || this.#socket !== undefined) return ''
    return Buffer.from(this.#port.getRemoteAddressAsText()).toString('latin1')
  }

  get asksForWebSocket(): boolean {
    return this.#upgrade !== undefined
  }

  /** The answer is a WebSocket from here on; undefined when the client is gone, or has been answered. */
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
    this.#socket = socket
    this.#port.cork(() => this.#upgrade!(protocol, socket))
    return socket
  }

  /** Called once, when the answer is out or the client is gone (status 0). */
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
   * Called in the turn in which the request came when its body will be asked for only later: what arrives meanwhile would
   * be lost. Bodies that are not small wait in the client's hands.
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
   * The whole body. Rejects with BodyTooLarge beyond `limitBytes`, with ClientGone when it never ends. What is not far
   * beyond is taken in and dropped first: a client that is still writing when the connection closes never reads why.
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

  /** The body as it comes, however long it is. What arrives before it is read waits in the client's hands. */
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
    if (
      body.length > AT_ONCE_BYTES &&
      typeof body !== 'string' &&
      this.#turns !== undefined &&
      this.head.method !== 'HEAD'
    ) {
      this.#respondSliced(head, body)
      return
    }
    this.#state = 'answering'
    this.#status = head.status
    this.#bytes = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength
    this.#resumeBody()
    this.#show(head, body)
    this.#port.cork(() => {
      this.#writeHead(head)
      // endWithoutBody() would close the connection.
      this.#port.end(this.head.method === 'HEAD' ? '' : body)
    })
    this.#end()
  }

  /** Gives up an answer under way: the client learns by the end of its connection that it is not whole. */
  breakOff(): void {
    if (this.#state !== 'answering') return
    if (this.#socket === undefined) this.#port.close()
    else this.#socket.close(INTERNAL_ERROR_CLOSURE, '')
  }

  /** The same callback; what it throws ends this exchange and nothing else. For callbacks of streams and sockets. */
  guard<A extends unknown[]>(callback: (...args: A) => void): (...args: A) => void {
    return (...args) => this.attempt(() => callback(...args))
  }

  /** Calls it; what it throws ends this exchange and nothing else. */
  attempt(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.fail(error)
    }
  }

  /** Ends the exchange because of what should never have failed: with 500 when nothing is out yet, else by breaking off. */
  fail(error: unknown): void {
    this.panicked = true
    this.#failures?.failed(error, this.head)
    try {
      if (this.#state === 'open') this.respondAndClose({ status: 500, contentType: 'text/plain' }, 'internal error\n')
      else this.breakOff()
    } catch (second) {
      // The connection cannot even be closed: it is gone.
      this.#failures?.failed(second, this.head)
      this.#state = 'aborted'
    }
  }

  /** Ends with the connection closed: for a client whose request cannot be read to its end. */
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
   * A body of known size in pieces, no faster than the client takes them. `next` gives undefined at the end; a piece may
   * be reused by the caller as soon as the following one is asked for.
   */
  respondSized(head: ResponseHead, totalBytes: number, next: () => Uint8Array | undefined, done: () => void): void {
    if (this.#state !== 'open') {
      done()
      return
    }
    this.#state = 'answering'
    this.#status = head.status
    this.#bytes = totalBytes
    this.#resumeBody()
    this.tap?.responseHead?.(head, false)
    const turns = totalBytes > AT_ONCE_BYTES ? this.#turns : undefined
    const show = this.tap?.responsePiece
    const answer = new SizedAnswer({ port: this.#port, state: this.#answer(), totalBytes, next, done, turns, show })
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
    this.respondSized(head, body.byteLength, next, () => undefined)
  }

  /** An answer without known end. Undefined when the client is gone already. */
  startStream(head: ResponseHead, filler?: StreamFiller): ResponseStream | undefined {
    if (this.#state !== 'open') return undefined
    return this.#upgrade === undefined ? this.startPlainStream(head, filler) : this.#startSocketStream(head)
  }

  /** In HTTP, also to one who asked for a WebSocket and does not get it. */
  startPlainStream(head: ResponseHead, filler?: StreamFiller): ResponseStream | undefined {
    if (this.#state !== 'open') return undefined
    this.#state = 'answering'
    this.#status = head.status
    this.tap?.responseHead?.(head, true)
    this.#port.cork(() => this.#writeHead(head))
    return new ChunkedStream(this.#port, this.#answer(), filler)
  }

  /** Who asks for a WebSocket gets frames as messages. */
  #startSocketStream({ contentType }: ResponseHead): ResponseStream | undefined {
    const socket = this.acceptWebSocket(socketProtocol(this.head.header('sec-websocket-protocol')))
    if (socket === undefined) return undefined
    return new SocketStream(socket, contentType !== 'application/json', () => this.#aborted())
  }

  /** A connection that waits for its body's rest would never take the next request. */
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
    writeHead(this.#port, head, this.head.auditId, this.extraHeaders)
  }

  #end(): void {
    if (this.#state === 'answering') this.#state = 'ended'
    this.#abortListeners = undefined
    this.#finished(this.#status)
  }
}
