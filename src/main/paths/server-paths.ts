/** Thread: main. The paths that are no resources, as a front end serves them. */
import { DiscoveryDocuments } from '../../api/discovery.js'
import type { Clock } from '../../lib/clock.js'
import type { Recorder } from '../../metrics/recorder.js'
import type { HealthProbe, OwnerHealth } from '../../protocol/main-owner.js'
import type { Served } from '../../workers/scheme/served.js'
import type { FrontEndAggregation } from '../aggregation/front-end-aggregation.js'
import type { Config } from '../flags/config.js'
import type { FrontEndState } from '../threads/front-end-state.js'
import type { PoolRunner } from '../threads/pool.js'
import { type DebugLine, type DebugPathsOptions, installDebugPaths } from './debug-paths.js'
import { installDocuments } from './documents.js'
import { type HealthCheck, HealthEndpoint } from './health.js'
import type { NonResourcePaths } from './non-resource-paths.js'
import { installOpenApi } from './openapi-paths.js'
import { SERVER_VERSION } from './server-version.js'
import { installStatusPaths } from './status-paths.js'
import { installUi } from './ui-paths.js'

const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores'

/** What the process has once, and every front end asks for. */
export interface ProcessLine extends DebugLine {
  /** When the process started: wall time in milliseconds. */
  readonly startedMs: number
  /** Whether some pool thread answers: without one, nothing can be written. */
  poolAnswers(): Promise<boolean>
  /** What is wrong with the controllers inside; '' when nothing is. */
  controllerProblems(): Promise<string>
  /** The text of /metrics. */
  metrics(): Promise<string>
}

export interface ServerPathsOptions {
  readonly served: Served
  readonly aggregation: Pick<FrontEndAggregation, 'merged' | 'openapi' | 'openapiPaths' | 'swagger'>
  readonly pool: PoolRunner
  readonly line: ProcessLine
  readonly state: FrontEndState
  /** The address of the server, host:port, for clients that ask where it is. */
  readonly address: () => string
  /** Whether everything that decisions of access rest on is in memory. */
  readonly accessReady: () => boolean
  readonly config: Pick<Config, 'features' | 'flags' | 'profiling'>
  readonly window: DebugPathsOptions['window']
  readonly clock: Clock
  readonly recorder: Recorder
}

export function installServerPaths(paths: NonResourcePaths, options: ServerPathsOptions): void {
  const { served, aggregation, pool, line, state, address, accessReady, config, window, clock, recorder } = options
  const documents = new DiscoveryDocuments(served.catalogue)
  installDocuments(paths, {
    documents: () => documents,
    merged: () => aggregation.merged(documents),
    version: SERVER_VERSION,
    address,
  })
  paths.exact('/metrics', async (exchange) => {
    exchange.respond({ status: 200, contentType: METRICS_TYPE }, await line.metrics())
  })
  installOpenApi(paths, pool, aggregation)
  installUi(paths)
  installDebugPaths(paths, { line, profiling: config.profiling, window })
  installStatusPaths(paths, { features: config.features, flags: config.flags, startedMs: line.startedMs, clock })
  const ping: HealthCheck = { name: 'ping', check: () => undefined }
  // Nothing here waits for a log to be written, so that none can hold a request up.
  const log: HealthCheck = { name: 'log', check: () => undefined }
  const etcd: HealthCheck = { name: 'etcd', check: () => storageHealth(line, 'health') }
  const etcdReady: HealthCheck = { name: 'etcd', check: () => storageHealth(line, 'ready') }
  const writes: HealthCheck = { name: 'storage-writes', check: () => storageWrites(line, () => true) }
  // A process that cannot write again before it is started again is to be started again; one whose disk is full is not.
  const final: HealthCheck = {
    name: 'storage-writes',
    check: () => storageWrites(line, ({ writesEnded }) => writesEnded),
  }
  const shutdown: HealthCheck = {
    name: 'shutdown',
    check: () => {
      if (!state.ready) throw new Error('the server is starting or stopping')
    },
  }
  const access: HealthCheck = {
    name: 'authorization',
    check: () => {
      if (!accessReady()) throw new Error('roles and bindings are not in memory')
    },
  }
  const writers: HealthCheck = {
    name: 'pool',
    check: async () => {
      if (!(await line.poolAnswers())) throw new Error('no pool thread answers')
    },
  }
  // The same check by the name that probes know.
  const informers: HealthCheck = { ...access, name: 'informer-sync' }
  const controllers: HealthCheck = {
    name: 'controllers',
    isAlone: true,
    check: async () => {
      const problems = await line.controllerProblems()
      if (problems !== '') throw new Error(problems)
    },
  }
  new HealthEndpoint('/healthz', [ping, log, etcd, controllers], recorder).install(paths)
  new HealthEndpoint('/livez', [ping, log, etcd, final], recorder).install(paths)
  new HealthEndpoint('/readyz', [ping, log, etcdReady, writes, informers, access, writers, shutdown], recorder).install(
    paths,
  )
}

async function storageWrites(
  line: ProcessLine,
  counts: (cluster: OwnerHealth['clusters'][number]) => boolean | undefined,
): Promise<void> {
  const { clusters } = await line.health('health')
  const failing = clusters.find((cluster) => cluster.writeError !== undefined && counts(cluster))
  if (failing?.writeError !== undefined) throw new Error(failing.writeError)
}

async function storageHealth(line: ProcessLine, probe: HealthProbe): Promise<void> {
  const { clusters } = await line.health(probe)
  const lost = clusters.findIndex((cluster) => !cluster.following || cluster.storeError !== undefined)
  if (lost >= 0) throw new Error(`storage cluster ${lost} does not answer`)
}
