/**
 * Thread: main. What happens to a request: request info, who and whether, then the verb. GET, LIST and WATCH in JSON are
 * answered here from shared memory; everything that must understand an object goes to the pool, once.
 */
import { type AcceptedMediaType, negotiate } from '../../api/media-type.js'
import type { RequestInfo } from '../../api/request-info.js'
import {
  newGenericServerResponse,
  newInternalError,
  newNotAcceptable,
  newTooManyRequests,
  newUnauthorized,
} from '../../api/status.js'
import { Impersonation, wantedUser } from '../../auth/authn/impersonation.js'
import { AuthorizationFailed, newForbiddenRequest } from '../../auth/forbidden.js'
import type { Authenticated, Authenticator, Authorizer, Verdict } from '../../auth/interface.js'
import type { ArenaReader } from '../../cacher/memory/shared-memory.js'
import type { Clock } from '../../lib/clock.js'
import type { Random } from '../../lib/jitter.js'
import type { Logger } from '../../lib/logger.js'
import { noRecorder, type Recorder } from '../../metrics/recorder.js'
import type { PoolRequest } from '../../protocol/main-pool.js'
import type { Exchange } from '../http/exchange.js'
import { respondEncoded } from '../http/respond-encoded.js'
import { MAX_BODY_BYTES, writeError, writeStatus } from '../http/write-status.js'
import type { NonResourcePaths } from '../paths/non-resource-paths.js'
import type { PoolRunner } from '../threads/pool.js'
import { type ConversionForm, Converter, shaped } from '../verbs/converter.js'
import { ConvertingHub } from '../verbs/converting-hub.js'
import { FieldIndexes } from '../verbs/field-indexes.js'
import { getObject } from '../verbs/get.js'
import { listObjects } from '../verbs/list.js'
import { isConvertible, type ObjectForm, objectForm, readShape } from '../verbs/object-form.js'
import type { CacheView, ReadContext, ReadRequest } from '../verbs/read-context.js'
import { ReadMetrics } from '../verbs/read-metrics.js'
import { checkShape, ResourceTable } from '../verbs/resource-table.js'
import type { ServedResource } from '../verbs/served-resource.js'
import { startStorageWatch } from '../verbs/storage-watch.js'
import { startWatch } from '../verbs/watch.js'
import { JSON_FRAMING, PROTOBUF_FRAMING, type WatchFraming } from '../verbs/watch-frames.js'
import { type Hub, WatchHub } from '../verbs/watch-hub.js'
import { ApiRequest } from './api-request.js'
import { type Connector, isPassedOn } from './connector.js'
import { isMutating } from './inflight.js'
import type { Leave, RequestGate } from './request-gate.js'
import { RequestInfos } from './request-infos.js'
import type { RequestObserver } from './request-observer.js'
import { requestTimeoutMs, timedOut } from './request-timeout.js'

const WITHOUT_PROTOBUF = { protobuf: false }
const REPRESENTATIONS = 'application/json, application/yaml, application/vnd.kubernetes.protobuf'
const STREAM_REPRESENTATIONS = ', application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch'

/** Without authorization everybody may act as anybody. */
const EVERYTHING: Authorizer = { authorize: () => ({ decision: 'allow', reason: '' }) }

export interface FrontEndOptions {
  readonly cache: CacheView
  readonly pool: PoolRunner
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly nonResourcePaths: NonResourcePaths
  readonly requestTimeoutMs: number
  readonly minRequestTimeoutSeconds: number
  readonly authenticator: Authenticator
  /** Without one, everybody may do everything. */
  readonly authorizer?: Authorizer | undefined
  readonly gate: RequestGate
  readonly observer?: RequestObserver | undefined
  readonly recorder?: Recorder | undefined
  /** Without one, nothing is passed on to kubelets, pods and services. */
  readonly connector?: Connector | undefined
}

export class FrontEnd {
  readonly #options: FrontEndOptions
  /** By arena, and the form's key when it is not that of memory: it begins with the arena. */
  readonly #infos = new RequestInfos()
  readonly #hubs = new Map<string, Hub>()
  readonly #watches = new Map<
    { end(): void },
    { readonly resource: ServedResource; readonly arena: ArenaReader | undefined }
  >()
  readonly #context: ReadContext
  readonly #impersonation: Impersonation
  #resources = new ResourceTable([])
  #idle: (() => void) | undefined
  #open = 0

  constructor(options: FrontEndOptions) {
    this.#options = options
    const metrics = new ReadMetrics(options.recorder ?? noRecorder())
    this.#impersonation = new Impersonation(options.authorizer ?? EVERYTHING)
    this.#context = {
      cache: options.cache,
      clock: options.clock,
      random: options.random,
      minRequestTimeoutSeconds: options.minRequestTimeoutSeconds,
      answerFromPool: (request) => this.#fromPool(request),
      indexes: new FieldIndexes(),
      converter: new Converter({
        clock: options.clock,
        run: (conversion) => options.pool.run('convert', conversion),
        columns: (table) => options.pool.run('tableColumns', table),
        counter: metrics,
      }),
      metrics,
    }
  }

  serve(resources: readonly ServedResource[]): void {
    this.#resources = new ResourceTable(resources)
    this.#endLostWatches()
  }

  /** Of resources that are not served any more, or whose memory was made anew: their clients list and watch again. */
  #endLostWatches(): void {
    const { cache } = this.#options
    for (const [watch, { resource, arena }] of [...this.#watches]) {
      const served = this.#resources.find(resource.info)
      if (served === undefined || cache.arena(served.arena) !== arena) watch.end()
    }
    for (const [key, hub] of this.#hubs) if (cache.arena(key.split('|', 1)[0]!) !== hub.arena) this.#hubs.delete(key)
    // A version may be shown in another way than before.
    this.#context.converter.forget()
  }

  /** What a request is for, if anything here serves it. */
  resource(info: RequestInfo): ServedResource | undefined {
    const found = this.#resources.resolve(info)
    return typeof found === 'string' ? undefined : found
  }

  /** The resource, and the subresource when one is named. */
  serves(info: RequestInfo): boolean {
    const found = this.resource(info)
    if (found === undefined || info.subresource === '') return found !== undefined
    return found.info.subresources.some(({ name }) => name === info.subresource)
  }

  readonly handle = (exchange: Exchange): void => {
    const request = new ApiRequest(exchange, this.#options.clock.monotonicMs())
    this.#open++
    exchange.onFinished((status) => this.#finished(request, status))
    try {
      const pending = this.#understand(request)
      pending?.catch((error: unknown) => writeError(exchange, error, this.#options.logger))
    } catch (error) {
      writeError(exchange, error, this.#options.logger)
    }
    // Most are answered by now and need no timer.
    if (!exchange.over && !request.longRunning) this.#watchDeadline(request)
  }

  #watchDeadline(request: ApiRequest): void {
    const { exchange } = request
    request.deadline = this.#options.clock.after(request.timeoutMs, () => {
      if (exchange.answered) exchange.breakOff()
      else writeStatus(exchange, timedOut.status)
    })
  }

  #finished(request: ApiRequest, status: number): void {
    request.finished()
    const { observer, clock } = this.#options
    observer?.onFinished(request, {
      status,
      bytes: request.exchange.bytesSent,
      durationMs: clock.monotonicMs() - request.startedMs,
    })
    this.#open--
    if (this.#open === 0) this.#idle?.()
  }

  /** Ends every watch and resolves when no request is under way. */
  async drain(): Promise<void> {
    for (const watch of [...this.#watches.keys()]) watch.end()
    if (this.#open === 0) return
    await new Promise<void>((resolve) => {
      this.#idle = resolve
    })
  }

  // The steps before the verb. Each goes on at once when it can: most requests never leave their turn.

  #understand(request: ApiRequest): Promise<void> | undefined {
    const { exchange } = request
    const { head } = exchange
    const { info, query } = this.#infos.of(head.method, head.rawPath, head.query)
    request.query = query
    request.info = info
    const { requestTimeoutMs: maximumMs } = this.#options
    request.timeoutMs =
      head.query === '' || request.longRunning ? maximumMs : requestTimeoutMs(request.query.get('timeout'), maximumMs)
    this.#options.observer?.onArrival?.(request)
    if (!request.info.isResourceRequest && head.method === 'GET') {
      const open = this.#options.nonResourcePaths.publicHandler(request.info.path)
      if (open !== undefined) return open(exchange, request.query, '')
    }
    const found = this.#options.authenticator.authenticate(exchange)
    if (!(found instanceof Promise)) return this.#identified(request, found)
    head.keepHeaders()
    this.#holdBody(request)
    return found.then((authenticated) => this.#identified(request, authenticated))
  }

  #identified(request: ApiRequest, authenticated: Authenticated | undefined): Promise<void> | undefined {
    if (request.exchange.answered) return undefined
    if (authenticated === undefined) throw newUnauthorized('Unauthorized')
    request.user = authenticated.user
    const noted = this.#options.observer?.onRequest?.(request)
    if (!(noted instanceof Promise)) return this.#noted(request)
    request.exchange.head.keepHeaders()
    this.#holdBody(request)
    return noted.then((recorded) => {
      if (!recorded) throw newInternalError('failed to store audit event')
      return this.#noted(request)
    })
  }

  #noted(request: ApiRequest): Promise<void> | undefined {
    if (request.exchange.answered) return undefined
    const wanted = wantedUser(request.exchange)
    if (wanted === undefined) return this.#admitted(request)
    this.#holdBody(request)
    return this.#impersonation.impersonate(wanted, request.attributes()).then((impersonated) => {
      request.requestor = request.user
      request.user = impersonated.user
      return this.#admitted(request)
    })
  }

  /** Flow control comes first, as in Kubernetes: deciding who may do what is work too. */
  #admitted(request: ApiRequest): Promise<void> | undefined {
    if (request.exchange.answered) return undefined
    const leave = this.#options.gate.enter(request)
    if (!(leave instanceof Promise)) {
      request.entered(leave)
      return this.#entered(request)
    }
    this.#holdBody(request)
    return this.#wait(request, leave).then((given) => (request.entered(given) ? this.#entered(request) : undefined))
  }

  #entered(request: ApiRequest): Promise<void> | undefined {
    const { authorizer } = this.#options
    if (authorizer === undefined) return this.#serve(request)
    const attributes = request.attributes()
    const decided = (verdict: Verdict): Promise<void> | undefined => {
      request.verdict = verdict
      if (verdict.decision === 'allow') return request.exchange.answered ? undefined : this.#serve(request)
      if (verdict.error !== undefined && verdict.error !== '') throw new AuthorizationFailed(verdict.error)
      throw newForbiddenRequest(attributes, verdict.reason)
    }
    const verdict = authorizer.authorize(attributes)
    if (!(verdict instanceof Promise)) return decided(verdict)
    this.#holdBody(request)
    return verdict.then(decided)
  }

  async #wait(request: ApiRequest, leave: Promise<Leave>): Promise<Leave> {
    const { observer, clock } = this.#options
    const startedMs = clock.monotonicMs()
    observer?.onWaiting?.(request)
    try {
      return await leave
    } finally {
      request.waitedMs = clock.monotonicMs() - startedMs
      observer?.onWaited?.(request)
    }
  }

  /** What comes in while a request waits would be lost. */
  #holdBody({ info, exchange }: ApiRequest): void {
    if (isPassedOn(info)) exchange.bodyStream()
    else if (isMutating(info.verb)) exchange.holdBody(MAX_BODY_BYTES)
  }

  #serve(request: ApiRequest): Promise<void> | undefined {
    const { exchange, info, query } = request
    if (!info.isResourceRequest) return this.#options.nonResourcePaths.handle(exchange, info.path, query)
    const resource = this.#resolve(exchange, info)
    if (resource === undefined) return undefined
    if (resource.headers !== undefined) {
      exchange.extraHeaders = [...exchange.extraHeaders, ...resource.headers]
      this.#options.observer?.onDeprecated?.(request)
    }
    checkShape(info, resource, info.parts.length > 1)
    request.resource = resource
    const pending = this.#dispatch(request)
    // A watch that has begun takes nobody's place.
    return request.longRunning ? pending?.finally(() => request.leave()) : pending
  }

  /** Undefined: answered. A group that nobody serves gets what a plain web server would say. */
  #resolve(exchange: Exchange, info: RequestInfo): ServedResource | undefined {
    const found = this.#resources.resolve(info)
    if (found === 'no-group') {
      this.#options.nonResourcePaths.notFound(exchange)
      return undefined
    }
    if (found === 'no-resource') throw newGenericServerResponse(404)
    return found
  }

  #dispatch(request: ReadRequest): Promise<void> | undefined {
    const { info, exchange } = request
    if (isPassedOn(info)) return this.#passOn(request)
    if (exchange.head.method === 'HEAD' || info.verb === '') throw newGenericServerResponse(405)
    if (isMutating(info.verb)) return this.#write(request)
    const { resource, query } = request
    const accepted = this.#accepted(exchange, info.verb !== 'get', resource)
    if (info.subresource !== '' && info.verb === 'get') return this.#fromPool(request)
    if (info.verb === 'watch') return this.#watch(request, accepted)
    const arena = this.#options.cache.arena(resource.arena)
    if (arena === undefined || !arena.ready() || (query.size > 0 && query.has('pretty'))) return this.#fromPool(request)
    const isList = info.verb === 'list'
    let form: ObjectForm | undefined
    if (!isStoredForm(resource, accepted)) {
      if (!isConvertible(accepted, isList)) return this.#fromPool(request)
      form = objectForm(resource, accepted, exchange.head.accept, query, readShape(accepted, isList))
    }
    if (!isList) return getObject(request, arena, this.#context, form)
    return listObjects(request, arena, this.#context, form).then((done) => (done ? undefined : this.#fromPool(request)))
  }

  /** Log, exec and their kin: another server answers. */
  #passOn(request: ReadRequest): Promise<void> {
    const { connector } = this.#options
    if (connector === undefined) throw newGenericServerResponse(404)
    return connector.connect(request, this.#poolRequest(request, new Uint8Array()))
  }

  #accepted(exchange: Exchange, streams: boolean, resource: ServedResource): AcceptedMediaType {
    const accepted = negotiate(exchange.head.accept, resource.itemsCarryKind ? WITHOUT_PROTOBUF : undefined)
    if (accepted === 'unknown') {
      throw newNotAcceptable(
        `406: Not Acceptable\n\nAvailable representations: ${REPRESENTATIONS}${streams ? STREAM_REPRESENTATIONS : ''}`,
      )
    }
    if (accepted === 'unknown-transformation')
      throw newNotAcceptable(`only the following media types are accepted: ${REPRESENTATIONS}`, false)
    return accepted
  }

  async #watch(request: ReadRequest, accepted: AcceptedMediaType): Promise<void> {
    const { resource, exchange } = request
    const { cache } = this.#options
    const arena = cache.arena(resource.arena)
    const framing = accepted.serialization === 'protobuf' ? PROTOBUF_FRAMING : JSON_FRAMING
    if (arena === undefined) {
      if (cache.fallen(resource.arena)) return this.#watchStorage(request, framing)
      throw newTooManyRequests('storage is (re)initializing', 1)
    }
    const form = isStoredForm(resource, { ...accepted, pretty: false })
      ? undefined
      : objectForm(resource, accepted, exchange.head.accept, request.query).form
    const isTable = accepted.transformation?.as === 'Table'
    const watch = await startWatch({
      request,
      arena,
      hub: this.#hub(resource, arena, isTable && form !== undefined ? shaped(form, 'bare') : form, framing),
      context: this.#context,
      form,
      isTable,
      framing,
      onEnd: () => {
        if (watch !== undefined) this.#watches.delete(watch)
      },
    })
    if (watch !== undefined) this.#watches.set(watch, { resource, arena })
  }

  /** What memory does not hold is followed in the storage, by a pool thread. */
  async #watchStorage(request: ReadRequest, framing: WatchFraming): Promise<void> {
    const watch = await startStorageWatch({
      request,
      context: this.#context,
      framing,
      open: (port) =>
        this.#options.pool.run('watch', { request: this.#poolRequest(request, new Uint8Array()), port }, request),
      onEnd: () => {
        if (watch !== undefined) this.#watches.delete(watch)
      },
    })
    if (watch !== undefined) this.#watches.set(watch, { resource: request.resource, arena: undefined })
  }

  /** One for each form in which anybody watches a resource. */
  #hub(resource: ServedResource, arena: ArenaReader, form: ConversionForm | undefined, framing: WatchFraming): Hub {
    const { clock } = this.#options.cache
    const { converter, metrics } = this.#context
    const key = form?.key ?? resource.arena
    let hub = this.#hubs.get(key)
    if (hub?.arena !== arena) {
      hub =
        form === undefined
          ? new WatchHub(arena, clock, metrics.watches(resource))
          : new ConvertingHub({ arena, clock, converter, form, framing, series: metrics.watches(resource) })
      this.#hubs.set(key, hub)
    }
    return hub
  }

  async #fromPool(request: ReadRequest): Promise<void> {
    await respondEncoded(
      request.exchange,
      await this.#options.pool.run('read', this.#poolRequest(request, new Uint8Array()), request),
    )
  }

  async #write(request: ReadRequest): Promise<void> {
    const body = await request.exchange.readBody(MAX_BODY_BYTES)
    request.bodyBytes = body.byteLength
    const response = await this.#options.pool.run('write', this.#poolRequest(request, body), request)
    await respondEncoded(request.exchange, response)
  }

  #poolRequest({ exchange, info, user, timeoutMs }: ReadRequest, body: Uint8Array): PoolRequest {
    const { head } = exchange
    return {
      info,
      method: head.method,
      query: head.query,
      user,
      accept: head.accept,
      contentType: head.contentType,
      userAgent: head.userAgent,
      body,
      auditId: head.auditId,
      deadlineMs: this.#options.clock.now() + timeoutMs,
    }
  }
}

/** As memory holds it. */
const isStoredForm = (
  resource: ServedResource,
  { serialization, pretty, transformation }: AcceptedMediaType,
): boolean => resource.direct && serialization === 'json' && !pretty && transformation === undefined
