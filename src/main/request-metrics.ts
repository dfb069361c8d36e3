/** Thread: main, or a front end's own. Requests as metrics: kube-apiserver's names, counted without looking anything up twice. */
import { authFamilies, requestFamilies } from '../metrics/families.js'
import type { Recorder, Series } from '../metrics/recorder.js'
import type { ObservedRequest, RequestObserver, RequestOutcome } from './request-observer.js'

const COMPONENT = 'apiserver'
/** What the server does to protect itself: turning away, giving up. */
const TERMINATED: ReadonlySet<number> = new Set([429, 504])
const CONNECT_SUBRESOURCES: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'portforward'])
const METRIC_VERBS: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
}

/** All series of one kind of request. */
interface RequestSeries {
  readonly duration: Series
  /** Undefined for what lasts as long as its client likes. */
  readonly sliDuration: Series | undefined
  /** Undefined for writes. */
  readonly responseSizes: Series | undefined
  readonly longRunning: Series | undefined
  readonly inflight: Series
  readonly byCode: Map<number, readonly Series[]>
  readonly labels: readonly string[]
  readonly dryRun: string
  readonly verb: string
}

export class RequestMetrics implements RequestObserver {
  readonly #recorder: Recorder
  readonly #kinds = new Map<string, RequestSeries>()
  readonly #attempts: Series
  readonly #failures: Series

  constructor(recorder: Recorder) {
    this.#recorder = recorder
    this.#attempts = recorder.series(authFamilies.attempts, 'success')
    this.#failures = recorder.series(authFamilies.attempts, 'failure')
  }

  onRequest(request: ObservedRequest): undefined {
    this.#attempts.add(1)
    const series = this.#seriesOf(request)
    if (series.longRunning === undefined) series.inflight.add(1)
    else series.longRunning.add(1)
    return undefined
  }

  onFinished(request: ObservedRequest, { status, bytes, durationMs }: RequestOutcome): void {
    const series = this.#seriesOf(request)
    if (isIdentified(request)) {
      if (series.longRunning === undefined) series.inflight.add(-1)
      else series.longRunning.add(-1)
    } else this.#failures.add(1)
    series.duration.observe(durationMs / 1000)
    series.sliDuration?.observe(durationMs / 1000)
    series.responseSizes?.observe(bytes)
    for (const counted of this.#codeSeries(series, status)) counted.add(1)
  }

  #seriesOf(request: ObservedRequest): RequestSeries {
    const { info, scope } = request
    const dryRun = request.dryRun ? 'All' : ''
    const verb = verbOf(request)
    const key = `${verb}\0${info.apiGroup}\0${info.apiVersion}\0${info.resource}\0${info.subresource}\0${scope}${dryRun}`
    let series = this.#kinds.get(key)
    if (series === undefined) {
      series = this.#make(request, verb, dryRun)
      this.#kinds.set(key, series)
    }
    return series
  }

  #make({ info, scope, longRunning }: ObservedRequest, verb: string, dryRun: string): RequestSeries {
    const recorder = this.#recorder
    // Other paths are names that clients choose: one series for all of them.
    const { apiGroup, apiVersion, resource, subresource } = info
    const labels = [apiGroup, apiVersion, resource, subresource, scope, COMPONENT]
    const isRead = verb === 'GET' || verb === 'LIST'
    return {
      duration: recorder.series(requestFamilies.duration, verb, dryRun, ...labels),
      sliDuration: longRunning ? undefined : recorder.series(requestFamilies.sliDuration, verb, ...labels),
      responseSizes: isRead ? recorder.series(requestFamilies.responseSizes, verb, ...labels) : undefined,
      longRunning: longRunning ? recorder.series(requestFamilies.longRunning, verb, ...labels) : undefined,
      inflight: recorder.series(requestFamilies.inflight, isRead ? 'readOnly' : 'mutating'),
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
    if (status === 0) made.push(this.#recorder.series(requestFamilies.aborted, verb, ...labels))
    series.byCode.set(status, made)
    return made
  }
}

/** Authentication has said who it is. */
const isIdentified = ({ user }: ObservedRequest): boolean => user !== undefined && user.name !== ''

function verbOf({ info, head }: ObservedRequest): string {
  if (!info.isResourceRequest) return METHODS.has(head.method) ? head.method : 'other'
  if (CONNECT_SUBRESOURCES.has(info.subresource)) return 'CONNECT'
  if (info.verb === 'patch' && head.contentType.startsWith('application/apply-patch')) return 'APPLY'
  return METRIC_VERBS[info.verb] ?? 'other'
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
