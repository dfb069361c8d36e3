/**
 * Thread: main. Who may go on now: flow control as the front end asks for it. A gate lets a request in, keeps it waiting,
 * or refuses it (429).
 */
import type { RequestInfo } from '../../api/request-info.js'
import type { UserInfo } from '../../api/user-info.js'

/** Gives the place of a request back to the gate. Must be called exactly once. */
export type Leave = () => void

export interface GatedRequest {
  readonly info: RequestInfo
  readonly query: URLSearchParams
  readonly user: UserInfo
  /** The request is not a read; gates count reads and writes apart. */
  readonly mutating: boolean
  /** A watch, or a stream: it gives its place back once it has begun. */
  readonly longRunning: boolean
  /**
   * Calls back when nobody waits for the answer any longer (the client went away, the time is up), so that what waits
   * need not wait on. A place that is given after that is given back at once.
   */
  onGone(listener: () => void): void
  /** Takes name, value, name, value, …: headers for every answer to the request, also for a refusal. */
  addResponseHeaders(headers: readonly string[]): void
}

/** Answered with 429 in plain text, as in Kubernetes: a server that has too much to do encodes no Status. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
  readonly retryAfterSeconds: number

  constructor(retryAfterSeconds: number) {
    super('Too many requests, please try again later.')
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export interface RequestGate {
  /**
   * Throws, or rejects with, RequestRefused. Gives no Promise when there is a place at once: the request then goes on in
   * the same turn.
   */
  enter(request: GatedRequest): Leave | Promise<Leave>
}
