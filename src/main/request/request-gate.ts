/**
 * Thread: main. Who may go on now: flow control as the front end asks for it. A gate lets a request in, keeps it waiting,
 * or refuses it (429).
 */
import type { RequestInfo } from '../../api/request-info.js'
import type { UserInfo } from '../../api/user-info.js'

/** Gives the place back. Called exactly once. */
export type Leave = () => void

export interface GatedRequest {
  readonly info: RequestInfo
  readonly query: URLSearchParams
  readonly user: UserInfo
  /** Not a read. */
  readonly mutating: boolean
  /** A watch, or a stream: it gives its place back once it has begun. */
  readonly longRunning: boolean
  /**
   * Calls back when nobody waits for the answer any longer (the client went away, the time is up), so that what waits
   * need not wait on. A place that is given after that is given back at once.
   */
  onGone(listener: () => void): void
  /** name, value, …: every answer to it says so, also a refusal. */
  addResponseHeaders(headers: readonly string[]): void
}

/** 429, in plain text as in Kubernetes: a server that has too much to do encodes nothing. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
  readonly retryAfterSeconds: number

  constructor(retryAfterSeconds: number) {
    super('Too many requests, please try again later.')
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export interface RequestGate {
  /** Throws, or rejects with, RequestRefused. Without a Promise the request goes on in its turn. */
  enter(request: GatedRequest): Leave | Promise<Leave>
}
