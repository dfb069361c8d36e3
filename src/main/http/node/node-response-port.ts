/**
 * Thread: main, or a front end's own. What the response ports of HTTP/1.1 and HTTP/2 share: receiving the request's
 * body, waiting for a slow client, and noticing one that has gone.
 */
import type { Readable } from 'node:stream'
import type { ResponseHead } from '../response-head.js'
import type { ResponsePort } from '../response-port.js'
import type { NodeConnection } from './node-connection.js'
import { flatHeaders } from './node-headers.js'
import type { Stalls, Waiting } from './stalls.js'

const NOTHING = new Uint8Array(0)
/**
 * A writer is told to wait when this many bytes wait in memory for its client, and may go on when fewer than
 * LOW_WATER_BYTES do.
 */
export const HIGH_WATER_BYTES = 64 * 1024
export const LOW_WATER_BYTES = 16 * 1024

export abstract class NodeResponsePort implements ResponsePort, Waiting {
  readonly needsNudge = false
  protected readonly stalls: Stalls
  protected readonly connection: NodeConnection
  protected status = 200
  /** The headers as name, value, name, value, …; empty before writeHead(). */
  protected headers: string[] = []
  /** True when the answer has ended or the client is gone: no handler is called after that. */
  protected over = false
  /** How many bytes of a body of known size were taken. */
  protected offset = 0
  protected blocked = false
  readonly #request: Readable
  readonly #body: Waiting = { giveUp: () => this.close() }
  #onAborted: (() => void) | undefined
  #onWritable: ((offset: number) => boolean) | undefined

  constructor(request: Readable, connection: NodeConnection, stalls: Stalls) {
    this.#request = request
    this.connection = connection
    this.stalls = stalls
  }

  writeHead(head: ResponseHead, auditId: string, extraHeaders: readonly string[]): void {
    this.status = head.status
    this.headers = flatHeaders(head, auditId, extraHeaders)
  }

  abstract flushHead(): boolean
  abstract write(chunk: Uint8Array | string): boolean
  abstract end(body?: Uint8Array | string, closeConnection?: boolean): void
  abstract tryEnd(chunk: Uint8Array, totalSize: number): [ok: boolean, done: boolean]
  abstract cork(callback: () => void): void
  /** Whether no byte of the answer, which has ended, waits in memory for the client. */
  protected abstract isSent(): boolean
  /** Whether the request's body has been received to its end, or there is none. */
  protected abstract isRequestWhole(): boolean
  /** Ends the connection, or the stream of it that carries this answer. */
  protected abstract destroy(): void

  /** Notes that the client takes nothing more for now; the writer waits for onWritable. */
  protected block(): void {
    this.blocked = true
    this.stalls.wait(this)
  }

  /** Notes that the client has taken enough, and tells the writer. */
  protected unblock(): void {
    if (!this.blocked || this.over) return
    this.blocked = false
    this.stalls.over(this)
    this.#onWritable?.(this.offset)
  }

  onWritable(handler: (offset: number) => boolean): void {
    this.#onWritable = handler
  }

  onAborted(handler: () => void): void {
    this.#onAborted = handler
  }

  /** Notes that the answer is complete. A client that does not take the bytes that are still unsent is given up. */
  protected finish(): void {
    this.over = true
    if (this.isSent()) this.stalls.over(this)
    else this.stalls.wait(this)
    if (this.isRequestWhole()) return
    // The rest of the request's body is still received, and dropped, for as long as one stall may take: who sends it a byte at a time
    // would have the connection for ever, whoever they are.
    this.stalls.wait(this.#body)
    this.#request.once('close', () => this.stalls.over(this.#body))
  }

  /** Notes that no byte of the answer waits any more. */
  protected sent(): void {
    this.stalls.over(this)
  }

  /** Notes that the client is gone, or that its connection was ended here. */
  protected abort(): void {
    this.stalls.over(this.#body)
    this.stalls.over(this)
    if (this.over) return
    this.over = true
    this.#onAborted?.()
  }

  /** Lets go of the connection, which is a WebSocket from now on. */
  leave(): void {
    this.over = true
    this.stalls.over(this)
    this.stalls.over(this.#body)
  }

  close(): void {
    this.destroy()
    this.abort()
  }

  giveUp(): void {
    this.close()
  }

  onData(handler: (chunk: Uint8Array, isLast: boolean) => void): void {
    if (!this.isRequestWhole()) this.stalls.wait(this.#body)
    this.#request.on('data', (chunk: Uint8Array) => {
      if (!this.over) this.stalls.touch(this.#body)
      handler(chunk, false)
    })
    this.#request.once('end', () => {
      this.stalls.over(this.#body)
      handler(NOTHING, true)
    })
  }

  pause(): void {
    this.#request.pause()
    this.stalls.over(this.#body)
  }

  resume(): void {
    this.#request.resume()
    if (!this.isRequestWhole()) this.stalls.wait(this.#body)
  }

  touch(): void {
    this.stalls.touch(this)
  }

  getWriteOffset(): number {
    return this.offset
  }

  remoteAddress(): string {
    return this.connection.remoteAddress
  }

  clientCertificate(): string {
    return this.connection.clientCertificate()
  }
}
