/** Thread: main. The response as an engine offers it to an exchange. */
import type { ResponseHead } from './response-head.js'

/**
 * The caller may reuse the memory of bytes once the call returns: the port copies those that it cannot send at once.
 * After `onAborted` was called, or after the end, no method may be called.
 */
export interface ResponsePort {
  /**
   * Writes the head; called once, before the body. `extraHeaders` are name, value, name, value, …; many answers share
   * one array.
   */
  writeHead(head: ResponseHead, auditId: string, extraHeaders: readonly string[]): void
  /** Sends the head before there is a body. False when the engine can send it only with the first bytes of the body. */
  flushHead(): boolean
  /**
   * Writes a piece of a body without known end. False when the client does not keep up: the piece is sent all the same,
   * and the caller should wait for onWritable.
   */
  write(chunk: Uint8Array | string): boolean
  /** Writes the whole body, or ends one that was written in pieces. */
  end(body?: Uint8Array | string, closeConnection?: boolean): void
  /**
   * Writes a piece of a body of `totalSize` bytes. When it is not ok, the caller gives the piece again once the port is
   * writable, from where getWriteOffset() stands.
   */
  tryEnd(chunk: Uint8Array, totalSize: number): [ok: boolean, done: boolean]
  /** The handler is told how many bytes of the body are sent or under way. */
  onWritable(handler: (offset: number) => boolean): void
  /** Whether bytes that write() could not send at once are sent only when something more is written. */
  readonly needsNudge: boolean
  onAborted(handler: () => void): void
  /** The engine reuses the memory of a chunk once the handler returns. */
  onData(handler: (chunk: Uint8Array, isLast: boolean) => void): void
  getWriteOffset(): number
  /** Sends what the callback writes together. */
  cork(callback: () => void): void
  close(): void
  /** Stops, and resumes, the receiving of the request's body. */
  pause(): void
  resume(): void
  /**
   * Starts the time anew after which a client that takes nothing is given up: the caller knows a reason to wait longer.
   */
  touch(): void
  remoteAddress(): string
  /** The client's certificate in PEM; '' when it sent none. */
  clientCertificate(): string
}
