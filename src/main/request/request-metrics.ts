/** Thread: main, or a front end's own. Requests as metrics: kube-apiserver's names, counted without looking anything up twice. */

import type { RequestInfo } from '../../api/request-info.js'
import { lookupTable } from '../../lib/lookup-table.js'
import { requestFamilies } from '../../metrics/families.js'
import type { Recorder, Series } from '../../metrics/recorder.js'
import type { ObservedRequest, RequestObserver, RequestOutcome } from './request-observer.js'

const COMPONENT = 'apiserver'
/** Statuses by which the server protects itself: it turned a request away (429) or gave it up (504). */
const TERMINATED: ReadonlySet<number> = new Set([429, 504])
const CONNECT_SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'portforward'])
const METRIC_VERBS: Readonly<Record<string, string>> = lookupTable({
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
})

/** The values of the label `verb` of apiserver_request_body_size_bytes. */
const BODY_VERBS: Readonly<Record<string, string>> = lookupTable({
  create: 'create',
  update: 'update',
  patch: 'patch',
  delete: 'delete',
  deletecollection: 'delete_collection',
})

/** All series of one kind of request. */
interface RequestSeries {
  readonly duration: Series
  /** Undefined for watches and streams, which last as long as their clients like. */
  readonly sliDuration: Series | undefined
  /** Undefined for writes. */
  readonly responseSizes: Series | undefined
  /** Undefined for requests without a body. */
  readonly bodySizes: Series | undefined
  readonly longRunning: Series | undefined
  readonly inflight: Series
  readonly inqueue: Series
  readonly byCode: Map<number, readonly Series[]>
  readonly labels: readonly string[]
  readonly dryRun: string
  readonly verb: string
}

/** The labels of requests for resources that are not served. */
const NOWHERE = { apiGroup: '', apiVersion: '', resource: '', subresource: '' }

export class RequestMetrics implements RequestObserver {
  readonly #recorder: Recorder
  readonly #isServed: (info: RequestInfo) => boolean
  readonly #kinds = new Map<string, RequestSeries>()
  #lastInfo: RequestInfo | undefined
  #lastQuery: URLSearchParams | undefined
  #last: RequestSeries | undefined

  /** `isServed`: whether there is such a resource and subresource. */
  constructor(recorder: Recorder, isServed: (info: RequestInfo) => boolean) {
    this.#recorder = recorder
    this.#isServed = isServed
  }

  onRequest(request: ObservedRequest): undefined {
    const series = this.#seriesOf(request)
    if (series.longRunning === undefined) series.inflight.add(1)
    else series.longRunning.add(1)
    return undefined
  }

  onDeprecated({ info }: ObservedRequest): void {
    const { apiGroup, apiVersion, resource, subresource } = info
    // The label removed_release stays empty: no release is announced that removes what is deprecated here.
    this.#recorder.series(requestFamilies.deprecated, apiGroup, apiVersion, resource, subresource, '').set(1)
  }

  onWaiting(request: ObservedRequest): void {
    const { inflight, inqueue, longRunning } = this.#seriesOf(request)
    if (longRunning === undefined) inflight.add(-1)
    inqueue.add(1)
  }

  onWaited(request: ObservedRequest): void {
    const { inflight, inqueue, longRunning } = this.#seriesOf(request)
    if (longRunning === undefined) inflight.add(1)
    inqueue.add(-1)
  }

  onFinished(request: ObservedRequest, { status, bytes, durationMs }: RequestOutcome): void {
    const series = this.#seriesOf(request)
    if (isIdentified(request)) {
      if (series.longRunning === undefined) series.inflight.add(-1)
      else series.longRunning.add(-1)
    }
    series.duration.observe(durationMs / 1000)
    series.sliDuration?.observe((durationMs - request.waitedMs) / 1000)
    series.responseSizes?.observe(bytes)
    if (request.bodyBytes !== undefined) series.bodySizes?.observe(request.bodyBytes)
    for (const counted of this.#codeSeries(series, status)) counted.add(1)
  }

  #seriesOf(request: ObservedRequest): RequestSeries {
    const { info } = request
    // The series are asked for twice for each request, and the next request is often of the same kind.
    if (info === this.#lastInfo && request.query === this.#lastQuery && this.#last !== undefined) return this.#last
    const { scope } = request
    const dryRun = request.dryRun ? 'All' : ''
    const verb = verbOf(request)
    const key = `${verb}\0${info.apiGroup}\0${info.apiVersion}\0${info.resource}\0${info.subresource}\0${scope}${dryRun}`
    const series = this.#kinds.get(key) ?? this.#newKind(key, request, verb, dryRun)
    // RequestInfo and the query decide the series, except for patches, whose content type counts.
    this.#lastInfo = info.verb === 'patch' ? undefined : info
    this.#lastQuery = request.query
    this.#last = series
    return series
  }

  /** Names of resources that are not served are chosen by clients, so all such names share one series. */
  #newKind(key: string, request: ObservedRequest, verb: string, dryRun: string): RequestSeries {
    const { info, scope } = request
    const isKnown = !info.isResourceRequest || this.#isServed(info)
    const place = isKnown ? key : `${verb}\0\0${scope}${dryRun}`
    const known = isKnown ? undefined : this.#kinds.get(place)
    if (known !== undefined) return known
    const series = this.#make(request, verb, dryRun, isKnown ? info : NOWHERE)
    this.#kinds.set(place, series)
    return series
  }

  #make(
    { info, scope, longRunning }: ObservedRequest,
    verb: string,
    dryRun: string,
    { apiGroup, apiVersion, resource, subresource }: typeof NOWHERE,
  ): RequestSeries {
    const recorder = this.#recorder
    const labels = [apiGroup, apiVersion, resource, subresource, scope, COMPONENT]
    const isRead = verb === 'GET' || verb === 'LIST'
    return {
      duration: recorder.series(requestFamilies.duration, verb, dryRun, ...labels),
      sliDuration: longRunning ? undefined : recorder.series(requestFamilies.sliDuration, verb, ...labels),
      responseSizes: isRead ? recorder.series(requestFamilies.responseSizes, verb, ...labels) : undefined,
      bodySizes:
        BODY_VERBS[info.verb] === undefined
          ? undefined
          : recorder.series(requestFamilies.bodySizes, apiGroup, resource, BODY_VERBS[info.verb]!),
      longRunning: longRunning ? recorder.series(requestFamilies.longRunning, verb, ...labels) : undefined,
      inflight: recorder.series(requestFamilies.inflight, isRead ? 'readOnly' : 'mutating'),
      inqueue: recorder.series(requestFamilies.inqueue, isRead ? 'readOnly' : 'mutating'),
      byCode: new Map(),
      labels,
      dryRun,
      verb,
    }
  }

  #codeSeries(series: RequestSeries, status: number): readonly Series[] {
    const known = series.byCode.get(status)
    if (known !== undefined) return known
    const { verb, dryRun, labels } = series
    const code = String(status)
    const made = [this.#recorder.series(requestFamilies.total, verb, dryRun, ...labels, code)]
    if (TERMINATED.has(status)) made.push(this.#recorder.series(requestFamilies.terminations, verb, ...labels, code))
    if (status === 0) made.push(this.#recorder.series(requestFamilies.aborted, verb, ...labels.slice(0, -1)))
    series.byCode.set(status, made)
    return made
  }
}

/** Whether authentication has said who the user is. */
const isIdentified = ({ user }: ObservedRequest): boolean => user !== undefined && user.name !== ''

function verbOf({ info, head }: ObservedRequest): string {
  if (!info.isResourceRequest) return METHODS.has(head.method) ? head.method : 'other'
  if (CONNECT_SUBRESOURCES.has(info.subresource)) return 'CONNECT'
  if (info.verb === 'patch' && head.contentType.startsWith('application/apply-patch')) return 'APPLY'
  return METRIC_VERBS[info.verb] ?? 'other'
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
