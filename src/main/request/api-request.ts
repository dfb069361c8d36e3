/** Thread: main. One request on its way through the front end: what is asked for, by whom, and the place it holds. */
import type { RemoteService } from '../../aggregator/api-service.js'
import type { RequestInfo } from '../../api/request-info.js'
import type { TraceContext } from '../../api/trace-context.js'
import type { UserInfo } from '../../api/user-info.js'
import type { Attributes, Credentials, Verdict } from '../../auth/interface.js'
import { requestAttributes } from '../../auth/request-attributes.js'
import type { Timer } from '../../lib/clock.js'
import type { Exchange } from '../http/exchange.js'
import type { ExchangeTap } from '../http/exchange-services.js'
import type { RequestHead } from '../http/request-head.js'
import type { ReadRequest } from '../verbs/read-context.js'
import type { ServedResource } from '../verbs/served-resource.js'
import { isLongRunning, isMutating } from './inflight.js'
import type { GatedRequest, Leave } from './request-gate.js'
import { NO_QUERY, NO_REQUEST_INFO } from './request-info-resolver.js'
import type { ObservedRequest, RequestScope } from './request-observer.js'

const SELECTING_VERBS: ReadonlySet<string> = new Set(['list', 'watch', 'deletecollection'])
/** A profile takes as long as its request asks for, so requests below this path count as long-running. */
const PROFILES = '/debug/pprof/'

const NOBODY: UserInfo = { name: '', uid: '', groups: [], extra: {} }

export class ApiRequest implements GatedRequest, ObservedRequest, ReadRequest {
  readonly exchange: Exchange
  readonly startedMs: number
  /** Nothing, while and when the path is not understood. */
  info: RequestInfo = NO_REQUEST_INFO
  query: URLSearchParams = NO_QUERY
  user: UserInfo = NOBODY
  /** Who impersonates `user`; undefined when nobody does. */
  requestor: UserInfo | undefined
  verdict: Verdict | undefined
  /** The request is passed on to another server (a kubelet, a pod, a service), which answers it. */
  isPassedOn = false
  /** The API server that serves the group and version of the request, when it is not this one. */
  remote: RemoteService | undefined
  /** Set by ResourceHandler once the path has been found to name a resource. */
  resource!: ServedResource
  /** How long the request may take from its start: the server's own limit unless the client asks for less. */
  timeoutMs = 0
  waitedMs = 0
  /** The size of the request's body; undefined until a body has been read. */
  bodyBytes: number | undefined
  trace: TraceContext | undefined
  /** The timer of `timeoutMs`; it runs while an answer is owed. */
  deadline: Timer | undefined
  #leave: Leave | undefined
  #goneListeners: (() => void)[] | undefined

  constructor(exchange: Exchange, startedMs: number) {
    this.exchange = exchange
    this.startedMs = startedMs
  }

  get head(): RequestHead {
    return this.exchange.head
  }

  get panicked(): boolean {
    return this.exchange.panicked
  }

  tap(tap: ExchangeTap): void {
    this.exchange.tap = tap
  }

  get credentials(): Credentials {
    return this.exchange
  }

  get mutating(): boolean {
    return isMutating(this.info.verb)
  }

  get longRunning(): boolean {
    const { verb, subresource, isResourceRequest, path } = this.info
    return isLongRunning(verb, subresource) || (!isResourceRequest && path.startsWith(PROFILES))
  }

  get dryRun(): boolean {
    return this.query.size > 0 && this.query.has('dryRun')
  }

  get scope(): RequestScope {
    const { isResourceRequest, name, namespace, verb } = this.info
    if (!isResourceRequest) return ''
    if (name !== '' || verb === 'create') return 'resource'
    return namespace === '' ? 'cluster' : 'namespace'
  }

  attributes(): Attributes {
    const attributes = requestAttributes(this.user, this.info)
    return this.query.size === 0 ? attributes : { ...attributes, ...this.#selectors() }
  }

  /** True when nobody waits for the answer any longer: it is out, or the client is gone. */
  get gone(): boolean {
    return this.exchange.over
  }

  /** The selectors of a request for a collection: an authorizer may allow only the part that they select. */
  #selectors(): Pick<Attributes, 'fieldSelector' | 'labelSelector'> {
    if (!SELECTING_VERBS.has(this.info.verb)) return {}
    const fieldSelector = this.query.get('fieldSelector') ?? ''
    const labelSelector = this.query.get('labelSelector') ?? ''
    return { ...(fieldSelector === '' ? {} : { fieldSelector }), ...(labelSelector === '' ? {} : { labelSelector }) }
  }

  onGone(listener: () => void): void {
    if (this.exchange.answered) listener()
    else {
      this.#goneListeners ??= []
      this.#goneListeners.push(listener)
    }
  }

  addResponseHeaders(headers: readonly string[]): void {
    this.exchange.extraHeaders = headers
  }

  /** Keeps the place that flow control gave. When nobody waits for the answer any longer, gives it back at once: false. */
  entered(leave: Leave): boolean {
    if (this.exchange.answered) {
      leave()
      return false
    }
    this.#leave = leave
    return true
  }

  /** Gives the place of flow control back; further calls do nothing. */
  leave(): void {
    const leave = this.#leave
    this.#leave = undefined
    leave?.()
  }

  /** Called at the end of the request: its answer is out, or nobody waits for it. */
  finished(): void {
    this.deadline?.cancel()
    this.leave()
    const listeners = this.#goneListeners
    this.#goneListeners = undefined
    if (listeners !== undefined) for (const listener of listeners) listener()
  }
}
