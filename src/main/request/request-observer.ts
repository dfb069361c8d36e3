/** Thread: main. What metrics, audit and logs are told of every request. */
import type { RequestInfo } from '../../api/request-info.js'
import type { TraceContext } from '../../api/trace-context.js'
import type { UserInfo } from '../../api/user-info.js'
import type { Credentials, Verdict } from '../../auth/interface.js'
import type { ExchangeTap } from '../http/exchange-services.js'
import type { RequestHead } from '../http/request-head.js'

/** Where a request reaches: one object, a namespace, everything; '' when it is for no resource. */
export type RequestScope = 'resource' | 'namespace' | 'cluster' | ''

/** A request is the same object in every call, so that an observer may key what it keeps by it. */
export interface ObservedRequest {
  readonly head: RequestHead
  /** Headers and addresses. Headers can be read in onRequest; later only of requests that waited for who makes them. */
  readonly credentials: Credentials
  readonly info: RequestInfo
  readonly query: URLSearchParams
  readonly scope: RequestScope
  readonly dryRun: boolean
  readonly longRunning: boolean
  /** A user without a name: authentication has refused the request. */
  readonly user: UserInfo | undefined
  /** What authorization said; undefined when it was not asked. */
  readonly verdict: Verdict | undefined
  /** Who impersonates `user`; undefined when nobody does. */
  readonly requestor?: UserInfo | undefined
  /** The server failed in a way that is a bug: an exception that nothing expected. */
  readonly panicked: boolean
  /** When the request came, by the monotonic clock. */
  readonly startedMs: number
  /** How long the request stood in the queues of flow control. */
  readonly waitedMs: number
  /** The size of the request's body; undefined when it has not been read. */
  readonly bodyBytes: number | undefined
  /** The span of the request, set by the observer that traces; undefined when it is not recorded. */
  trace: TraceContext | undefined
  /** Shows the bodies as they pass, until the request ends. */
  tap(tap: ExchangeTap): void
}

export interface RequestOutcome {
  /** The HTTP status of the answer; 0 when the client went away before there was one. */
  readonly status: number
  /** The size of the answer's body, before TLS. */
  readonly bytes: number
  readonly durationMs: number
}

export interface RequestObserver {
  /** Called when it is known what is asked for, and not yet by whom: addresses and headers can be read. */
  onArrival?(request: ObservedRequest): void
  /**
   * Called when it is known who asks for what, before anything is decided; not for requests that authentication refuses.
   * A request whose observer returns a Promise waits for it, and fails when the Promise gives false.
   */
  onRequest?(request: ObservedRequest): Promise<boolean> | undefined
  /** Called for requests for a deprecated version of a resource. */
  onDeprecated?(request: ObservedRequest): void
  /** Called when flow control puts the request into a queue; onWaited() when it comes out, to go on or to be refused. */
  onWaiting?(request: ObservedRequest): void
  onWaited?(request: ObservedRequest): void
  /** Called once for every request, when its answer is out or its client gone. */
  onFinished(request: ObservedRequest, outcome: RequestOutcome): void
}

/** Passes every call on to several observers. */
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
