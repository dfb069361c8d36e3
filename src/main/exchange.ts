/**
 * Thread: main. One request and its answer over a connection that may go away or be slow at any moment.
 *
 *   open ──respond()/respondSized()/startStream()──▶ answering ──▶ ended
 *     └───────────────────── the client went away ───────────────▶ aborted
 *
 * After `aborted` nothing may touch the response: every method checks and does nothing.
 */
import { STATUS_CODES } from 'node:http'
import type { Credentials } from '../auth/interface.js'
import { assert } from '../lib/assert.js'
import { BodyReader, ClientGone } from './body-reader.js'
import { BodyStream } from './body-stream.js'
import type { BulkTurns } from './bulk-turns.js'
import { ServerSocket } from './upgrade/server-socket.js'
import { SocketStream, socketProtocol } from './web-socket.js'

/** What is used of uWebSockets.js' HttpResponse. */
export interface ResponsePort {
  writeStatus(status: string): unknown
  writeHeader(name: string, value: string): unknown
  write(chunk: Uint8Array | string): boolean
  end(body?: Uint8Array | string, closeConnection?: boolean): unknown
  tryEnd(chunk: Uint8Array, totalSize: number): [ok: boolean, done: boolean]
  onWritable(handler: (offset: number) => boolean): unknown
  onAborted(handler: () => void): unknown
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): unknown
  getWriteOffset(): number
  cork(callback: () => void): unknown
  close(): unknown
  pause(): void
  resume(): void
  getRemoteAddressAsText(): ArrayBuffer
  /** PEM; empty without one. 17 µs with one. */
  getX509Certificate?(): string
}

/** The part of a request that outlives its first turn. */
export interface RequestHead {
  readonly method: string
  /** Still encoded. */
  readonly rawPath: string
  readonly query: string
  readonly accept: string
  readonly acceptEncoding: string
  readonly authorization: string
  readonly ifNoneMatch: string
  readonly contentType: string
  readonly contentLength: string
  readonly userAgent: string
  readonly auditId: string
  /**
   * Any other header, '' when it is absent, several joined with a comma. Only in the turn in which the request came,
   * unless keepHeaders() was called in it.
   */
  header(name: string): string
  forEachHeader(visit: (name: string, value: string) => void): void
  keepHeaders(): void
}

export interface ResponseHead {
  readonly status: number
  readonly contentType: string
  /** name, value, … */
  readonly headers?: readonly string[]
}

/** Who looks on. Bytes are whoever's they were: they are copied or forgotten before the call returns. */
export interface ExchangeTap {
  readonly requestBody?: (bytes: Uint8Array) => void
  /** `streams`: pieces are not shown. */
  readonly responseHead?: (head: ResponseHead, streams: boolean) => void
  readonly responsePiece?: (bytes: Uint8Array | string) => void
  /** What the pool noted for the audit log; before the head. */
  readonly annotations?: (annotations: Readonly<Record<string, string>>) => void
}

/** Writes frames as they come. `false`: the client does not keep up; wait for onDrain. */
export interface ResponseStream {
  /** Each write is a message of its own: frames are not to be joined. */
  readonly separate: boolean
  write(chunk: Uint8Array): boolean
  /** Nothing more to write for now: the client gets at least the head. */
  idle(): void
  /** Several writes as one: fewer system calls. */
  cork(callback: () => void): void
  onDrain(listener: () => void): void
  /** Nothing is read, and that is no reason to close the connection. */
  touch(): void
  end(): void
}

/** Bodies up to this are taken in while their request waits; larger ones are left in the socket. */
const HELD_BODY_BYTES = 64 * 1024

const statusLines = new Map<number, string>()
function statusLine(status: number): string {
  let line = statusLines.get(status)
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? ''}`
    statusLines.set(status, line)
  }
  return line
}

const oneLine = (text: string): string => (/[\r\n]/.test(text) ? text.replace(/[\r\n]/g, ' ') : text)

function headerLines(headers: readonly string[]): string {
  let lines = ''
  for (let i = 0; i + 1 < headers.length; i += 2) lines += `\r\n${oneLine(headers[i]!)}: ${oneLine(headers[i + 1]!)}`
  return lines
}

/** Of arrays that many answers share: a flow's names. */
const linesOf = new WeakMap<readonly string[], string>()
function knownLines(headers: readonly string[]): string {
  let lines = linesOf.get(headers)
  if (lines === undefined) {
    lines = headerLines(headers)
    linesOf.set(headers, lines)
  }
  return lines
}

/** Answers up to this are written at once: slicing them would cost more than it gives others. */
const AT_ONCE_BYTES = 64 * 1024

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

  /** Without turns, a large answer is written as fast as the client takes it. */
  constructor(head: RequestHead, port: ResponsePort, turns?: BulkTurns, upgrade?: Upgrade) {
    this.#upgrade = upgrade
    this.head = head
    this.#port = port
    this.#turns = turns
    port.onAborted(() => this.#aborted())
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
    if (this.#state === 'aborted' || this.#state === 'ended') return ''
    this.#certificate ??= this.#port.getX509Certificate?.() ?? ''
    return this.#certificate
  }

  remoteAddress(): string {
    if (this.#state === 'aborted' || this.#state === 'ended') return ''
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
    )
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
    for (const listener of this.#abortListeners ?? []) listener()
    this.#finished(0)
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
      port.onData((chunk, isLast) => stream.take(chunk, isLast))
      stream.pause()
    }
    return stream
  }

  #startBody(body: BodyReader): void {
    if (Number(this.head.contentLength) > body.dropLimitBytes) body.refuse()
    this.onAbort(() => body.gone())
    this.#port.onData((chunk, isLast) => body.take(chunk, isLast))
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
    if (this.#state === 'answering') this.#port.close()
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
    let finished = false
    const finish = (): void => {
      if (finished) return
      finished = true
      done()
    }
    this.onAbort(finish)
    let rest: Uint8Array | undefined
    let restOffset = 0
    /** One piece; true: the next one can follow. */
    const slice = (): boolean => {
      if (finished) return false
      const piece = rest ?? next()
      assert(piece !== undefined, 'a sized body must have as many bytes as it said')
      if (rest === undefined) this.tap?.responsePiece?.(piece)
      const offset = this.#port.getWriteOffset()
      const [ok, ended] = this.#port.tryEnd(piece, totalBytes)
      rest = ok || ended ? undefined : piece
      restOffset = offset
      if (!ended) return ok
      finish()
      this.#end()
      return false
    }
    const turns = totalBytes > AT_ONCE_BYTES ? this.#turns : undefined
    let more = false
    const corked = (): void => {
      do more = slice()
      while (more && turns === undefined)
    }
    const job = (): boolean => {
      if (finished) return false
      this.#port.cork(corked)
      return more
    }
    const goOn = (): void => {
      // What a cork held back may fail after its slice: then there is a job already.
      if (more) return
      more = true
      if (turns === undefined) job()
      else turns.add(job)
    }
    this.#port.onWritable((offset) => {
      if (this.aborted || finished) return true
      if (rest !== undefined) rest = rest.subarray(offset - restOffset)
      if (rest?.byteLength === 0) rest = undefined
      goOn()
      return rest === undefined
    })
    this.#port.cork(() => {
      this.#writeHead(head)
      if (slice()) goOn()
    })
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

  /**
   * An answer without known end. Undefined when the client is gone already.
   *
   * uWebSockets.js ends the head with the first bytes of the body, and does not go on by itself with what write() left
   * in its buffer. `filler` is what may stand between two frames without meaning (a space in JSON): it brings both on
   * their way. Without one, the head waits for the first frame, and a drained stream may have a rest before it.
   */
  startStream(head: ResponseHead, filler?: Uint8Array): ResponseStream | undefined {
    if (this.#state !== 'open') return undefined
    if (this.#upgrade !== undefined) return this.#startSocketStream(head)
    this.#state = 'answering'
    this.#status = head.status
    this.tap?.responseHead?.(head, true)
    const port = this.#port
    let onDrain: (() => void) | undefined
    let headOut = false
    let blocked = false
    const write = (chunk: Uint8Array): boolean => {
      if (this.#state !== 'answering') return false
      headOut = true
      this.#bytes += chunk.byteLength
      blocked = !port.write(chunk)
      return !blocked
    }
    port.onWritable(() => {
      if (this.#state !== 'answering') return true
      // Also when no write failed: what is corked fails only after write() has returned. Leaving the cork flushes too.
      blocked = false
      port.cork(() => {
        if (filler !== undefined) write(filler)
      })
      if (!blocked) onDrain?.()
      return true
    })
    port.cork(() => this.#writeHead(head))
    return {
      separate: false,
      write,
      idle: () => {
        if (!headOut && filler !== undefined && this.#state === 'answering') port.cork(() => write(filler))
      },
      cork: (callback) => {
        if (this.#state === 'answering') port.cork(callback)
      },
      onDrain: (listener) => {
        onDrain = listener
      },
      touch: () => {
        if (this.#state !== 'answering') return
        // Starts the time anew in which a write must make progress.
        port.pause()
        port.resume()
      },
      end: () => {
        if (this.#state !== 'answering') return
        port.cork(() => port.end())
        this.#end()
      },
    }
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

  /**
   * All headers in one call: each costs a crossing into uWebSockets.js, which writes a value as it is. Values come from
   * elsewhere too, so nothing in them may end a line.
   */
  #writeHead({ status, contentType, headers }: ResponseHead): void {
    const port = this.#port
    port.writeStatus(statusLine(status))
    // Ours, or one that came in a header: neither can end a line.
    let lines = this.head.auditId
    if (headers?.includes('Cache-Control') !== true) lines += '\r\nCache-Control: no-cache, private'
    if (contentType !== '') lines += `\r\nContent-Type: ${contentType}`
    if (headers !== undefined && headers.length > 0) lines += headerLines(headers)
    if (this.extraHeaders.length > 0) lines += knownLines(this.extraHeaders)
    port.writeHeader('Audit-Id', lines)
  }

  #end(): void {
    if (this.#state === 'answering') this.#state = 'ended'
    this.#abortListeners = undefined
    this.#finished(this.#status)
  }
}
