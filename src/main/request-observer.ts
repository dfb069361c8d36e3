/** Thread: main. What metrics, audit and logs are told of every request. */
import type { RequestInfo } from '../api/request-info.js'
import type { UserInfo } from '../api/user-info.js'
import type { Credentials, Verdict } from '../auth/interface.js'
import type { RequestHead } from './exchange.js'

/** Where a request reaches: one object, a namespace, everything; '' when it is for no resource. */
export type RequestScope = 'resource' | 'namespace' | 'cluster' | ''

/** The same object at the start and at the end, so that an observer may key what it keeps by it. */
export interface ObservedRequest {
  readonly head: RequestHead
  /** Headers and addresses. Headers can be read in onRequest; later only of requests that waited for who makes them. */
  readonly credentials: Credentials
  readonly info: RequestInfo
  readonly query: URLSearchParams
  readonly scope: RequestScope
  readonly dryRun: boolean
  readonly longRunning: boolean
  /** Nobody: authentication has refused it. */
  readonly user: UserInfo | undefined
  /** Undefined: nobody was asked. */
  readonly verdict: Verdict | undefined
  /** Of the monotonic clock. */
  readonly startedMs: number
}

export interface RequestOutcome {
  /** 0: the client went away first. */
  readonly status: number
  /** Of the body, before TLS. */
  readonly bytes: number
  readonly durationMs: number
}

export interface RequestObserver {
  /** It is known who asks for what; nothing has been decided. Not called for requests that authentication refuses. */
  onRequest?(request: ObservedRequest): void
  /** The answer is out, or the client gone. */
  onFinished(request: ObservedRequest, outcome: RequestOutcome): void
}
