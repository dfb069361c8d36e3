/**
 * Thread: main. The parts that every step of composition needs. They are opened first: none of them is a thread, and none waits but for
 * the server that this one stands behind.
 */
import type { KubeObject } from '../../api/object.js'
import { type Clock, systemClock } from '../../lib/clock.js'
import type { Lifecycle } from '../../lib/lifecycle.js'
import type { Logger } from '../../lib/logger.js'
import { Metrics } from '../../metrics/metrics.js'
import { ThreadProbe } from '../../metrics/thread-probe.js'
import type { ServerCredentials } from '../../protocol/server-credentials.js'
import { Served } from '../../workers/scheme/served.js'
import { ThreadInspector } from '../../workers/thread-inspector.js'
import { ClusterTrust } from '../certificates/cluster-trust.js'
import { CredentialSource } from '../certificates/credential-source.js'
import type { Config } from '../flags/config.js'
import { chooseEngine, sharesPort } from '../http/engine-choice.js'
import type { EngineChoice } from '../http/http-engine.js'
import { ControllersHealth } from '../threads/controllers-health.js'
import { InspectedThreads } from '../threads/inspected-threads.js'
import { recordProcess } from '../threads/process-metrics.js'

export interface ComposeOptions {
  readonly config: Config
  readonly logger: Logger
  /** Called when the process cannot go on. */
  readonly onFatal: (error: Error) => void
  /** Definitions of custom resources that are to be served when the server is ready. */
  readonly definitions?: readonly KubeObject[]
}

export interface ProcessParts extends ComposeOptions {
  /** Closes what the steps have opened, in reverse order. */
  readonly lifecycle: Lifecycle
  /** What speaks HTTP in every front end. */
  readonly engine: EngineChoice
  readonly clock: Clock
  readonly startedMs: number
  readonly credentialSource: CredentialSource
  readonly credentials: ServerCredentials
  /** Follows whom the server before this one trusts; undefined when there is none, or it is not asked. */
  readonly clusterTrust: ClusterTrust | undefined
  readonly served: Served
  readonly metrics: Metrics
  /** The threads that can be looked into at /debug. */
  readonly threads: InspectedThreads
  readonly controllersHealth: ControllersHealth
}

export async function openProcessParts(options: ComposeOptions, lifecycle: Lifecycle): Promise<ProcessParts> {
  const { logger } = options
  const engine = engineFor(options.config, logger)
  const config = servable(options, engine)
  const clock = systemClock
  const startedMs = clock.now()
  const credentialSource = new CredentialSource(config.security, () => clock.now())
  const clusterTrust = await openClusterTrust(config, lifecycle, clock, logger)
  if (clusterTrust !== undefined) credentialSource.trust(clusterTrust.current)
  const credentials = credentialSource.open()
  const served = new Served(config)
  const metrics = new Metrics(config.disabledMetrics)
  metrics.start()
  recordProcess(metrics.recorder)
  const threads = new InspectedThreads()
  new ThreadInspector('main', clock).open(threads.add)
  const probe = new ThreadProbe('main', metrics.recorder, clock)
  probe.start()
  lifecycle.own('probe', { close: () => probe.stop() })
  return {
    ...options,
    config,
    lifecycle,
    engine,
    clock,
    startedMs,
    credentialSource,
    credentials,
    clusterTrust,
    served,
    metrics,
    threads,
    controllersHealth: new ControllersHealth(clock),
  }
}

async function openClusterTrust(
  { security: { clusterTrust: config } }: Config,
  lifecycle: Lifecycle,
  clock: Clock,
  logger: Logger,
): Promise<ClusterTrust | undefined> {
  if (config === undefined) return undefined
  const clusterTrust = new ClusterTrust({ config, clock, logger })
  lifecycle.own('trust of the server before this one', clusterTrust)
  await clusterTrust.read()
  return clusterTrust
}

/**
 * Where a proxy names the users in headers, Node's engine, unless told otherwise: uWebSockets.js takes bytes that are no ASCII for
 * blanks at both ends of a header's value, so that `adminé` would be `admin`.
 */
function engineFor({ httpEngine, security }: Config, logger: Logger): EngineChoice {
  const say = (line: string): void => logger.warn({}, line)
  const believesHeaders = security.frontProxy !== undefined || security.clusterTrust?.wantsFrontProxy === true
  if (!believesHeaders || httpEngine === 'node') return chooseEngine(httpEngine, say)
  if (httpEngine === 'auto') {
    logger.info(
      {},
      'HTTP is served by Node’s own modules, because a front proxy names users: they read every name as it is',
    )
    return chooseEngine('node', say)
  }
  say(
    '--http-engine=uws: names that a front proxy sends must begin and end with ASCII, because uWebSockets.js cuts off what does not; --http-engine=node does not',
  )
  return chooseEngine('uws', say)
}

/** With as many front ends as the engine can have. */
function servable({ config, logger }: ComposeOptions, engine: EngineChoice): Config {
  if (config.http2.goawayChance > 0 && engine.name !== 'node')
    logger.warn({}, '--goaway-chance does nothing here: uWebSockets.js speaks no HTTP/2, --http-engine=node does')
  if (config.permitPortSharing && !sharesPort(engine))
    logger.warn(
      {},
      '--permit-port-sharing does nothing here: a port is shared on Linux only, by uWebSockets.js or by Node 22.12 and newer',
    )
  if (config.frontEnds === 1 || sharesPort(engine)) return config
  logger.warn(
    {},
    '--front-ends: one, because threads share a port on Linux only, by uWebSockets.js or by Node 22.12 and newer',
  )
  return { ...config, frontEnds: 1 }
}
