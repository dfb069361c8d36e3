/**
 * Thread: main, or a front end's own. uWebSockets.js' response as a port. It sends what it can at once and copies the
 * rest.
 */
import type * as uws from 'uws-newest'
import { headLines, type ResponseHead, statusLine } from '../response-head.js'
import type { ResponsePort } from '../response-port.js'

/** What the types do not declare. */
interface Undeclared {
  getX509Certificate?(): string
}

export class UwsResponsePort implements ResponsePort {
  readonly needsNudge = true
  readonly #response: uws.HttpResponse & Undeclared

  constructor(response: uws.HttpResponse) {
    this.#response = response
  }

  /** All headers are written in one call, because each call crosses from JavaScript into C++. */
  writeHead(head: ResponseHead, auditId: string, extraHeaders: readonly string[]): void {
    this.#response.writeStatus(statusLine(head.status))
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
    return this.#response.write(chunk)
  }

  end(body?: Uint8Array | string, closeConnection?: boolean): void {
    this.#response.end(body, closeConnection)
  }

  tryEnd(chunk: Uint8Array, totalSize: number): [ok: boolean, done: boolean] {
    return this.#response.tryEnd(chunk, totalSize)
  }

  onWritable(handler: (offset: number) => boolean): void {
    this.#response.onWritable(handler)
  }

  onAborted(handler: () => void): void {
    this.#response.onAborted(handler)
  }

  onData(handler: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.#response.onData((chunk, isLast) => handler(new Uint8Array(chunk), isLast))
  }

  getWriteOffset(): number {
    return this.#response.getWriteOffset()
  }

  cork(callback: () => void): void {
    this.#response.cork(callback)
  }

  close(): void {
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
