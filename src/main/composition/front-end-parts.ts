/** Thread: main, or a front end's own. The parts of one front end, each opened by a step that owns it in the lifecycle. */
import type { MessagePort } from 'node:worker_threads'
import type { RequestInfo } from '../../api/request-info.js'
import { Authentication } from '../../auth/authn/authentication.js'
import { MeteredAuthenticator } from '../../auth/authn/metered-authenticator.js'
import { SharedObjects } from '../../auth/authn/object-source.js'
import { MeteredAuthorizer } from '../../auth/authz/metered-authorizer.js'
import { type OpenedAuthorizer, openAuthorizer } from '../../auth/authz/open-authorizer.js'
import { CacheClient } from '../../cacher/read/cache-client.js'
import { staleFollowers } from '../../cacher/read/stale-followers.js'
import { type Clock, systemClock } from '../../lib/clock.js'
import { guardedClock } from '../../lib/guarded-clock.js'
import type { Lifecycle } from '../../lib/lifecycle.js'
import type { Logger } from '../../lib/logger.js'
import { clientConnections, openFilesLimit } from '../../lib/open-files.js'
import { ClientMetrics } from '../../metrics/client-metrics.js'
import { auditFamilies, cacheFamilies, requestFamilies } from '../../metrics/families.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { ServerCredentials } from '../../protocol/server-credentials.js'
import { openTracer } from '../../tracing/open-tracer.js'
import type { Served } from '../../workers/scheme/served.js'
import { FrontEndAggregation } from '../aggregation/front-end-aggregation.js'
import { AuditLine } from '../audit/audit-line.js'
import { AuditObserver } from '../audit/audit-observer.js'
import { AuditPolicy } from '../audit/audit-policy.js'
import type { Config } from '../flags/config.js'
import { FlowControl } from '../flow-control/flow-control.js'
import { FlowMetrics } from '../flow-control/flow-metrics.js'
import type { BulkTurns } from '../http/bulk-turns.js'
import { type ConnectionLimit, connectionLimit } from '../http/connection-limit.js'
import type { EngineChoice } from '../http/http-engine.js'
import { SLOW_ANSWER_BYTES, SlowAnswers } from '../http/slow-answers.js'
import { KubeletConnector } from '../kubelet/kubelet-connector.js'
import type { NonResourcePaths } from '../paths/non-resource-paths.js'
import { installOpenIdPaths } from '../paths/openid-paths.js'
import { installServerPaths, type ProcessLine } from '../paths/server-paths.js'
import { FrontEnd } from '../request/front-end.js'
import { Inflight } from '../request/inflight.js'
import { objectsOf } from '../request/object-access.js'
import { RequestLog } from '../request/request-log.js'
import { RequestMetrics } from '../request/request-metrics.js'
import { type RequestObserver, RequestObservers } from '../request/request-observer.js'
import { RequestTracing } from '../request/request-tracing.js'
import type { FrontEndState } from '../threads/front-end-state.js'
import type { PoolRunner } from '../threads/pool.js'
import type { ServedResource } from '../verbs/served-resource.js'

export interface FrontEndAssemblyOptions {
  readonly config: Config
  readonly engine: EngineChoice
  readonly credentials: ServerCredentials
  readonly served: Served
  /** The line to the owner. */
  readonly ownerPort: MessagePort
  /** The line to the audit thread, when there is one. */
  readonly auditPort: MessagePort | undefined
  readonly pool: PoolRunner
  readonly line: ProcessLine
  readonly state: FrontEndState
  readonly logger: Logger
  readonly recorder: Recorder
}

/** Shared memory, and who may do what by what it holds. */
export interface AccessParts {
  readonly cache: CacheClient
  readonly access: OpenedAuthorizer
  readonly authentication: Authentication
  readonly aggregation: FrontEndAggregation
}

export async function openAccess(options: FrontEndAssemblyOptions, lifecycle: Lifecycle): Promise<AccessParts> {
  const { config, credentials, served, pool, recorder, logger } = options
  const clock = frontEndClock(options)
  const random = Math.random
  const cache = await attachToOwner(options, lifecycle)
  lifecycle.own('cache', { close: () => cache.detach() })
  const access = openAuthorizer({
    config: config.authorization,
    cache: (resource) => cache.resource(resource),
    clock,
    random,
    recorder,
    logger,
  })
  lifecycle.own('authorizer', access)
  const objects = new SharedObjects(objectsOf(cache, served, pool))
  const authentication = new Authentication(credentials.authentication, { objects, clock, random, recorder })
  lifecycle.own('authentication', authentication)
  const aggregation = new FrontEndAggregation({
    cache,
    served,
    config: config.aggregation,
    egress: config.egress,
    credentials,
    clock,
    recorder,
    logger,
  })
  lifecycle.own('connections to extension servers', aggregation)
  aggregation.start()
  return { cache, access, authentication, aggregation }
}

async function attachToOwner(
  { served, ownerPort, logger, recorder }: FrontEndAssemblyOptions,
  lifecycle: Lifecycle,
): Promise<CacheClient> {
  if (served.clusters.every(({ type }) => type === 'embedded')) return CacheClient.attach(ownerPort)
  // The client of etcd is not loaded where there is none.
  const { openRevisionSources } = await import('../../workers/revision-sources.js')
  const sources = openRevisionSources(served.clusters, logger)
  lifecycle.own('questions to etcd', {
    close: () => {
      for (const source of sources) source?.close()
    },
  })
  const passed = recorder.series(cacheFamilies.fenceWait, 'true')
  return CacheClient.attach(ownerPort, { sources, onPassed: (durationMs) => passed.observe(durationMs / 1000) })
}

/** What a timer of a front end throws is told and counted; it ends no more than what the timer was for. */
function frontEndClock({ logger, recorder }: Pick<FrontEndAssemblyOptions, 'logger' | 'recorder'>): Clock {
  const failures = recorder.series(requestFamilies.exchangeFailures)
  return guardedClock(systemClock, (error) => {
    failures.add(1)
    logger.error({ err: error }, 'a timer failed')
  })
}

/** Each front end bounds its share of what the process may hold for clients that read slowly. */
export function openSlowAnswers({ config, recorder, logger }: FrontEndAssemblyOptions): SlowAnswers {
  const held = recorder.series(requestFamilies.slowAnswerBytes)
  const broken = recorder.series(requestFamilies.slowAnswersBroken)
  return new SlowAnswers({
    clock: frontEndClock({ logger, recorder }),
    limitBytes: SLOW_ANSWER_BYTES / config.frontEnds,
    onLook: (bytes) => held.set(bytes),
    onBreakOff: ({ heldBytes }) => {
      broken.add(1)
      logger.warn(
        { bytes: heldBytes },
        'clients that read slowly hold too many bytes of answers: the answer that was read slowest is broken off',
      )
    },
  })
}

/** Each front end takes its share of the clients for which the process has descriptors. */
export const openConnectionLimit = ({ config, recorder, logger }: FrontEndAssemblyOptions): ConnectionLimit =>
  connectionLimit({
    most: clientConnections(openFilesLimit(), config.frontEnds),
    clock: systemClock,
    logger,
    recorder,
  })

export function openFrontEnd(
  options: FrontEndAssemblyOptions,
  { cache, access, authentication, aggregation }: AccessParts,
  turns: BulkTurns,
  nonResourcePaths: NonResourcePaths,
  lifecycle: Lifecycle,
): FrontEnd {
  const { config, credentials, pool, state, logger, recorder } = options
  const connector = new KubeletConnector({
    pool,
    trust: { ...config.kubelet, egress: config.egress },
    authorizer: access.authorizer,
    metrics: new ClientMetrics(recorder),
    frontProxyHeaders: credentials.authentication.frontProxy?.headers,
  })
  lifecycle.own('connections to kubelets', connector)
  const flowControl = startFlowControl(options, { cache, turns, lifecycle }, (info) => frontEnd.resource(info))
  const frontEnd: FrontEnd = new FrontEnd({
    connector,
    relay: aggregation.relay,
    views: (resource) => cache.resource(resource),
    pool,
    clock: frontEndClock(options),
    random: Math.random,
    logger,
    nonResourcePaths,
    gate: flowControl?.gate ?? new Inflight(config.inflight, state),
    requestTimeoutMs: config.requestTimeoutMs,
    minRequestTimeoutSeconds: config.minRequestTimeoutSeconds,
    allowedOrigins: config.browsers.allowedOrigins,
    watchList: config.features.watchList,
    isRefusing: config.shutdownSendRetryAfter ? () => state.refusing : undefined,
    authenticator: new MeteredAuthenticator(authentication.authenticator, recorder, systemClock),
    observer: openObserver(options, lifecycle, (info) => frontEnd.serves(info)),
    recorder,
    authorizer: new MeteredAuthorizer(access.authorizer, recorder, systemClock),
  })
  return frontEnd
}

function startFlowControl(
  { config, state, recorder, logger }: FrontEndAssemblyOptions,
  parts: {
    readonly cache: CacheClient
    readonly turns: BulkTurns
    readonly lifecycle: Lifecycle
  },
  resolve: (info: RequestInfo) => ServedResource | undefined,
): FlowControl | undefined {
  if (!config.priorityAndFairness) return undefined
  const flowControl = new FlowControl({
    client: parts.cache,
    clock: frontEndClock({ logger, recorder }),
    turns: parts.turns,
    totalSeats: config.inflight.maxRequests + config.inflight.maxMutatingRequests,
    frontEnds: config.frontEnds,
    requestTimeoutMs: config.requestTimeoutMs,
    watchCounts: state.watchCounts,
    resolve,
    recorder: new FlowMetrics(recorder),
    onStale: staleFollowers(logger, recorder),
  })
  parts.lifecycle.own('flow control', { close: () => flowControl.stop() })
  flowControl.start()
  return flowControl
}

/** `address`: where the server listens, once it does. */
export function installPaths(
  { config, credentials, served, pool, line, state, recorder }: FrontEndAssemblyOptions,
  { cache, access, aggregation }: AccessParts,
  paths: NonResourcePaths,
  address: () => string,
): void {
  installOpenIdPaths(paths, credentials.authentication.serviceAccounts, address)
  installServerPaths(paths, {
    served,
    aggregation,
    pool,
    line,
    state,
    address,
    accessReady: () => access.ready(),
    config,
    window: (resource) => {
      const view = cache.resource(resource)
      const arena = view.arena()
      return arena && { oldest: arena.oldestRevision(), newest: view.clock.revision() }
    },
    clock: systemClock,
    recorder,
  })
}

function openObserver(
  { config, recorder, auditPort, logger }: FrontEndAssemblyOptions,
  lifecycle: Lifecycle,
  isServed: (info: RequestInfo) => boolean,
): RequestObserver {
  const observers: RequestObserver[] = [
    new RequestMetrics(recorder, isServed),
    new RequestLog({ logger, slowMs: config.slowRequestMs, everything: config.logLevel === 'debug' }),
  ]
  if (config.tracing !== undefined) {
    const opened = openTracer(config.tracing, { clock: frontEndClock({ logger, recorder }), recorder, logger })
    lifecycle.own('tracer', opened)
    observers.push(new RequestTracing(opened.tracer))
  }
  const { audit } = config
  if (audit === undefined || auditPort === undefined) return new RequestObservers(observers)
  const modes = [audit.log, audit.webhook].flatMap((backend) => (backend === undefined ? [] : [backend.mode]))
  const dropped = recorder.series(auditFamilies.errors, 'buffered')
  const failed = recorder.series(auditFamilies.errors, 'backend')
  const line = new AuditLine({
    port: auditPort,
    bufferSize: Math.max(audit.log?.bufferSize ?? 0, audit.webhook?.bufferSize ?? 0),
    onDropped: (events) => dropped.add(events),
    onFailed: (events) => failed.add(events),
  })
  lifecycle.own('audit', line)
  const made = recorder.series(auditFamilies.events)
  return new RequestObservers([
    ...observers,
    new AuditObserver({
      policy: new AuditPolicy(audit.policy),
      line,
      clock: frontEndClock({ logger, recorder }),
      blocking: modes.includes('blocking-strict') ? 'strict' : modes.includes('blocking') ? 'yes' : 'no',
      onEvent: () => made.add(1),
      onRejected: () => recorder.series(auditFamilies.rejected).add(1),
      onLevel: (level) => recorder.series(auditFamilies.level, level).add(1),
    }),
  ])
}
