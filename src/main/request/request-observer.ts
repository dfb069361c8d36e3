/** Thread: main. What metrics, audit and logs are told of every request. */
import type { RequestInfo } from '../../api/request-info.js'
import type { UserInfo } from '../../api/user-info.js'
import type { Credentials, Verdict } from '../../auth/interface.js'
import type { ExchangeTap } from '../http/exchange.js'
import type { RequestHead } from '../http/request-head.js'

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
  /** Who acts as the user; undefined: the user themselves. */
  readonly requestor?: UserInfo | undefined
  /** Something failed that never should. */
  readonly panicked: boolean
  /** Of the monotonic clock. */
  readonly startedMs: number
  /** Of its time, what it spent in the queues of flow control. */
  readonly waitedMs: number
  /** Of its body, when that has been read. */
  readonly bodyBytes: number | undefined
  /** Shows the bodies as they pass, until the request ends. */
  tap(tap: ExchangeTap): void
}

export interface RequestOutcome {
  /** 0: the client went away first. */
  readonly status: number
  /** Of the body, before TLS. */
  readonly bytes: number
  readonly durationMs: number
}

export interface RequestObserver {
  /** It is known what is asked for, and not yet by whom: addresses and headers can be read. */
  onArrival?(request: ObservedRequest): void
  /**
   * It is known who asks for what; nothing has been decided. Not called for requests that authentication refuses.
   * A Promise: the request waits for it, and fails when it gives false.
   */
  onRequest?(request: ObservedRequest): Promise<boolean> | undefined
  /** What it asks for is on its way out. */
  onDeprecated?(request: ObservedRequest): void
  /** Flow control lets it wait; then it goes on, or is refused. */
  onWaiting?(request: ObservedRequest): void
  onWaited?(request: ObservedRequest): void
  /** The answer is out, or the client gone. */
  onFinished(request: ObservedRequest, outcome: RequestOutcome): void
}

/** Several that are told the same. */
export class RequestObservers implements RequestObserver {
  readonly #observers: readonly RequestObserver[]

  constructor(observers: readonly RequestObserver[]) {
    this.#observers = observers
  }

  onArrival(request: ObservedRequest): void {
    for (const observer of this.#observers) observer.onArrival?.(request)
  }

  onRequest(request: ObservedRequest): Promise<boolean> | undefined {
    let waits: Promise<boolean> | undefined
    for (const observer of this.#observers) {
      const wait = observer.onRequest?.(request)
      if (wait instanceof Promise)
        waits = waits === undefined ? wait : waits.then((yes) => wait.then((too) => yes && too))
    }
    return waits
  }

  onDeprecated(request: ObservedRequest): void {
    for (const observer of this.#observers) observer.onDeprecated?.(request)
  }

  onWaiting(request: ObservedRequest): void {
    for (const observer of this.#observers) observer.onWaiting?.(request)
  }

  onWaited(request: ObservedRequest): void {
    for (const observer of this.#observers) observer.onWaited?.(request)
  }

  onFinished(request: ObservedRequest, outcome: RequestOutcome): void {
    for (const observer of this.#observers) observer.onFinished(request, outcome)
  }
}
