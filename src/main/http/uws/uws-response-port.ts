/**
 * Thread: main, or a front end's own. uWebSockets.js' response as a port. It sends what it can at once and copies the
 * rest. Most requests are answered in the turn in which they came; for those, calls out of JavaScript are left out that only
 * later answers need: in that turn the connection is corked already, and cannot be noticed to be gone.
 */
import type * as uws from 'uws-newest'
import { headLines, type ResponseHead, statusLine } from '../response-head.js'
import type { ResponsePort } from '../response-port.js'

/** What the types do not declare. */
interface Undeclared {
  getX509Certificate?(): string
}

const OK = 200

export class UwsResponsePort implements ResponsePort {
  readonly needsNudge = true
  readonly #response: uws.HttpResponse & Undeclared
  /** True until turnEnded(): uWebSockets.js is still in the call in which it showed the request. */
  #inTurn: boolean
  #ended = false
  #onAborted: (() => void) | undefined
  #isWatched = false

  constructor(response: uws.HttpResponse, inTurn = false) {
    this.#response = response
    this.#inTurn = inTurn
  }

  /** Called once at the end of the turn in which the request came. */
  turnEnded(): void {
    this.#inTurn = false
    if (!this.#ended) this.#watchAborts()
  }

  /** Has uWebSockets.js tell of a client that is gone; it wants as much of every response that is not ended at once. */
  #watchAborts(): void {
    if (this.#isWatched || this.#onAborted === undefined) return
    this.#isWatched = true
    this.#response.onAborted(this.#onAborted)
  }

  /** All headers are written in one call, because each call crosses from JavaScript into C++; 200 is written by itself. */
  writeHead(head: ResponseHead, auditId: string, extraHeaders: readonly string[]): void {
    if (head.status !== OK) this.#response.writeStatus(statusLine(head.status))
    this.#response.writeHeader('Audit-Id', headLines(head, auditId, extraHeaders))
  }

  /**
   * The head goes out with the first bytes of the body. beginWrite(), which newer versions have, would send it alone, but v20.69
   * then writes an empty line before the length of the first chunk, and clients that read chunks strictly, as Node does, break off.
   */
  flushHead(): boolean {
    return false
  }

  write(chunk: Uint8Array | string): boolean {
    this.#watchAborts()
    return this.#response.write(chunk)
  }

  end(body?: Uint8Array | string, closeConnection?: boolean): void {
    this.#ended = true
    this.#response.end(body, closeConnection)
  }

  tryEnd(chunk: Uint8Array, totalSize: number): [ok: boolean, done: boolean] {
    this.#watchAborts()
    const written = this.#response.tryEnd(chunk, totalSize)
    if (written[1]) this.#ended = true
    return written
  }

  onWritable(handler: (offset: number) => boolean): void {
    this.#response.onWritable(handler)
  }

  onAborted(handler: () => void): void {
    this.#onAborted = handler
    if (!this.#inTurn) this.#watchAborts()
  }

  onData(handler: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.#response.onData((chunk, isLast) => handler(new Uint8Array(chunk), isLast))
  }

  getWriteOffset(): number {
    return this.#response.getWriteOffset()
  }

  cork(callback: () => void): void {
    if (this.#inTurn) callback()
    else this.#response.cork(callback)
  }

  close(): void {
    this.#watchAborts()
    this.#ended = true
    this.#response.close()
  }

  pause(): void {
    this.#response.pause()
  }

  resume(): void {
    this.#response.resume()
  }

  /** pause() and resume() together start the time anew in which a write must make progress. */
  touch(): void {
    this.#response.pause()
    this.#response.resume()
  }

  remoteAddress(): string {
    return Buffer.from(this.#response.getRemoteAddressAsText()).toString('latin1')
  }

  /** Takes 17 µs when the client has sent a certificate. */
  clientCertificate(): string {
    return this.#response.getX509Certificate?.() ?? ''
  }
}
