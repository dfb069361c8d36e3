/**
 * Thread: main. One request and its answer over a connection that may go away or be slow at any moment.
 *
 *   open ──respond()/respondSized()/startStream()──▶ answering ──▶ ended
 *     └───────────────────── the client went away ───────────────▶ aborted
 *
 * After `aborted` nothing may touch the response: every method checks and does nothing.
 */
import { STATUS_CODES } from 'node:http'
import { assert } from '../lib/assert.js'

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
}

export interface ResponseHead {
  readonly status: number
  readonly contentType: string
  /** name, value, … */
  readonly headers?: readonly string[]
}

/** Writes frames as they come. `false`: the client does not keep up; wait for onDrain. */
export interface ResponseStream {
  write(chunk: Uint8Array): boolean
  /** Nothing more to write for now: the client gets at least the head. */
  idle(): void
  /** Several writes as one: fewer system calls. */
  cork(callback: () => void): void
  onDrain(listener: () => void): void
  end(): void
}

/** A body is taken in up to so many times its limit before the connection is closed on it. */
const DROPPED_BODIES = 4

export class BodyTooLarge extends Error {}
export class ClientGone extends Error {}

const statusLines = new Map<number, string>()
function statusLine(status: number): string {
  let line = statusLines.get(status)
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? ''}`
    statusLines.set(status, line)
  }
  return line
}

export class Exchange {
  readonly head: RequestHead
  readonly #port: ResponsePort
  #state: 'open' | 'answering' | 'ended' | 'aborted' = 'open'
  #abortListeners: (() => void)[] | undefined
  #onEnd: ((status: number) => void) | undefined
  #status = 0

  constructor(head: RequestHead, port: ResponsePort) {
    this.head = head
    this.#port = port
    port.onAborted(() => this.#aborted())
  }

  get aborted(): boolean {
    return this.#state === 'aborted'
  }

  get answered(): boolean {
    return this.#state !== 'open'
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
   * The whole body. Rejects with BodyTooLarge beyond `limitBytes`, with ClientGone when it never ends. What is not far
   * beyond is taken in and dropped first: a client that is still writing when the connection closes never reads why.
   */
  readBody(limitBytes: number): Promise<Uint8Array> {
    const dropLimitBytes = limitBytes * DROPPED_BODIES
    return new Promise((resolve, reject) => {
      const chunks: Uint8Array[] = []
      let size = 0
      if (Number(this.head.contentLength) > dropLimitBytes) reject(new BodyTooLarge())
      this.onAbort(() => reject(new ClientGone()))
      this.#port.onData((chunk, isLast) => {
        size += chunk.byteLength
        if (size > limitBytes) {
          chunks.length = 0
          if (isLast || size > dropLimitBytes) reject(new BodyTooLarge())
          return
        }
        // The memory behind a chunk is reused once this returns.
        if (chunk.byteLength > 0) chunks.push(new Uint8Array(chunk.slice(0)))
        if (isLast) resolve(chunks.length === 1 ? chunks[0]! : concat(chunks, size))
      })
    })
  }

  respond(head: ResponseHead, body: Uint8Array | string): void {
    if (this.#state !== 'open') return
    this.#state = 'answering'
    this.#status = head.status
    this.#port.cork(() => {
      this.#writeHead(head)
      // endWithoutBody() would close the connection.
      this.#port.end(this.head.method === 'HEAD' ? '' : body)
    })
    this.#end()
  }

  /** Ends with the connection closed: for a client whose request cannot be read to its end. */
  respondAndClose(head: ResponseHead, body: Uint8Array | string): void {
    if (this.#state !== 'open') return
    this.#state = 'answering'
    this.#status = head.status
    this.#port.cork(() => {
      this.#writeHead(head)
      this.#port.end(body, true)
    })
    this.#end()
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
    let finished = false
    const finish = (): void => {
      if (finished) return
      finished = true
      done()
    }
    this.onAbort(finish)
    let rest: Uint8Array | undefined
    let restOffset = 0
    const pump = (): boolean => {
      for (;;) {
        const piece = rest ?? next()
        assert(piece !== undefined, 'a sized body must have as many bytes as it said')
        const offset = this.#port.getWriteOffset()
        const [ok, ended] = this.#port.tryEnd(piece, totalBytes)
        if (ended) {
          finish()
          this.#end()
          return true
        }
        if (!ok) {
          rest = piece
          restOffset = offset
          return false
        }
        rest = undefined
      }
    }
    this.#port.onWritable((offset) => {
      if (this.aborted || finished) return true
      if (rest !== undefined) rest = rest.subarray(offset - restOffset)
      if (rest?.byteLength === 0) rest = undefined
      let drained = false
      this.#port.cork(() => {
        drained = pump()
      })
      return drained
    })
    this.#port.cork(() => {
      this.#writeHead(head)
      pump()
    })
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
    this.#state = 'answering'
    this.#status = head.status
    const port = this.#port
    let onDrain: (() => void) | undefined
    let headOut = false
    let blocked = false
    const write = (chunk: Uint8Array): boolean => {
      if (this.#state !== 'answering') return false
      headOut = true
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
      end: () => {
        if (this.#state !== 'answering') return
        port.cork(() => port.end())
        this.#end()
      },
    }
  }

  #writeHead({ status, contentType, headers }: ResponseHead): void {
    const port = this.#port
    port.writeStatus(statusLine(status))
    port.writeHeader('Audit-Id', this.head.auditId)
    port.writeHeader('Cache-Control', 'no-cache, private')
    port.writeHeader('Content-Type', contentType)
    if (headers !== undefined)
      for (let i = 0; i + 1 < headers.length; i += 2) port.writeHeader(headers[i]!, headers[i + 1]!)
  }

  #end(): void {
    if (this.#state === 'answering') this.#state = 'ended'
    this.#abortListeners = undefined
    this.#finished(this.#status)
  }
}

function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}
