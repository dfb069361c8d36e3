import type { RequestHead } from '#keelson/main/http/request-head.js'
import { headLines, type ResponseHead, statusLine } from '#keelson/main/http/response-head.js'
import type { ResponsePort } from '#keelson/main/http/response-port.js'

/** The other side of an exchange: keeps what was written and takes no more than it is told to. */
export class FakePort implements ResponsePort {
  status = ''
  readonly headers: [name: string, value: string][] = []
  body = ''
  ended = false
  closed = false
  paused = false
  /** How many bytes the client takes before it must be drained. */
  room = Number.POSITIVE_INFINITY
  corks = 0
  touches = 0
  /** As engines differ: whether a head goes out without a body, and whether what waits needs another write. */
  flushesHead = false
  headFlushed = false
  needsNudge = true
  #offset = 0
  #onWritable: ((offset: number) => boolean) | undefined
  #onAborted: (() => void) | undefined
  #onData: ((chunk: Uint8Array, isLast: boolean) => void) | undefined

  /** As they are on the wire: a value may hold further lines. */
  writeHead(head: ResponseHead, auditId: string, extraHeaders: readonly string[]): void {
    this.#check()
    this.status = statusLine(head.status)
    for (const line of `Audit-Id: ${headLines(head, auditId, extraHeaders)}`.split('\r\n')) {
      const colon = line.indexOf(': ')
      this.headers.push([line.slice(0, colon), line.slice(colon + 2)])
    }
  }

  flushHead(): boolean {
    this.#check()
    this.headFlushed = this.flushesHead
    return this.flushesHead
  }

  write(chunk: Uint8Array | string): boolean {
    this.#check()
    const bytes = Buffer.from(chunk)
    this.body += bytes.toString()
    this.room -= bytes.byteLength
    return this.room >= 0
  }

  end(body: Uint8Array | string = '', closeConnection = false): void {
    this.#check()
    this.body += Buffer.from(body).toString()
    this.ended = true
    this.closed = closeConnection
  }

  tryEnd(chunk: Uint8Array, totalSize: number): [ok: boolean, done: boolean] {
    this.#check()
    const taken = Math.min(chunk.byteLength, this.room)
    this.body += Buffer.from(chunk.subarray(0, taken)).toString()
    this.room -= taken
    this.#offset += taken
    this.ended = this.#offset === totalSize
    return [taken === chunk.byteLength, this.ended]
  }

  onWritable(handler: (offset: number) => boolean): void {
    this.#onWritable = handler
  }

  onAborted(handler: () => void): void {
    this.#onAborted = handler
  }

  onData(handler: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.#onData = handler
  }

  getWriteOffset(): number {
    this.#check()
    return this.#offset
  }

  cork(callback: () => void): void {
    this.#check()
    this.corks++
    callback()
  }

  close(): void {
    this.#check()
    this.closed = true
    this.abort()
  }

  pause(): void {
    this.#check()
    this.paused = true
  }

  resume(): void {
    this.#check()
    this.paused = false
  }

  touch(): void {
    this.#check()
    this.touches++
  }

  remoteAddress(): string {
    this.#check()
    return '192.0.2.7'
  }

  clientCertificate(): string {
    this.#check()
    return ''
  }

  /** The client takes so many bytes more. */
  drain(bytes: number): boolean {
    this.room = bytes
    return this.#onWritable?.(this.#offset) ?? true
  }

  abort(): void {
    this.ended = true
    this.#onAborted?.()
  }

  send(text: string, isLast: boolean): void {
    const bytes = Buffer.from(text)
    this.#onData?.(bytes, isLast)
    // As the real one: whoever wants it later has copied it.
    bytes.fill(0)
  }

  /** As the real one: whoever touches it after its end is wrong. */
  #check(): void {
    if (this.ended) throw new Error('the response was used after its end')
  }
}

export const requestHead = (head: Partial<RequestHead> = {}): RequestHead => ({
  method: 'GET',
  rawPath: '/',
  query: '',
  accept: '',
  acceptEncoding: '',
  authorization: '',
  ifNoneMatch: '',
  contentType: '',
  contentLength: '',
  userAgent: '',
  auditId: 'audit',
  header: () => '',
  mayHaveBody: () => false,
  forEachHeader: () => undefined,
  ...head,
})
