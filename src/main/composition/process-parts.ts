/** Thread: main. What every step of composition needs, opened first: nothing of it waits, and none of it is a thread. */
import { type Clock, systemClock } from '../../lib/clock.js'
import type { Lifecycle } from '../../lib/lifecycle.js'
import type { Logger } from '../../lib/logger.js'
import { Metrics } from '../../metrics/metrics.js'
import { ThreadProbe } from '../../metrics/thread-probe.js'
import type { ServerCredentials } from '../../protocol/server-credentials.js'
import { Served } from '../../workers/scheme/served.js'
import { ThreadInspector } from '../../workers/thread-inspector.js'
import { CredentialSource } from '../certificates/credential-source.js'
import type { Config } from '../flags/config.js'
import { InspectedThreads } from '../threads/inspected-threads.js'
import { recordProcess } from '../threads/process-metrics.js'

export interface ComposeOptions {
  readonly config: Config
  readonly logger: Logger
  /** The process cannot go on. */
  readonly onFatal: (error: Error) => void
}

export interface ProcessParts extends ComposeOptions {
  /** Whatever a step opens is closed by it, in reverse order. */
  readonly lifecycle: Lifecycle
  readonly clock: Clock
  readonly startedMs: number
  readonly credentialSource: CredentialSource
  readonly credentials: ServerCredentials
  readonly served: Served
  readonly metrics: Metrics
  /** The threads that can be looked into at /debug. */
  readonly threads: InspectedThreads
}

export function openProcessParts(options: ComposeOptions, lifecycle: Lifecycle): ProcessParts {
  const { config } = options
  const clock = systemClock
  const startedMs = clock.now()
  const credentialSource = new CredentialSource(config.security, () => clock.now())
  const credentials = credentialSource.open()
  const served = new Served(config)
  const metrics = new Metrics()
  metrics.start()
  recordProcess(metrics.recorder)
  const threads = new InspectedThreads()
  new ThreadInspector('main', clock).open(threads.add)
  const probe = new ThreadProbe('main', metrics.recorder, clock)
  probe.start()
  lifecycle.own('probe', { close: () => probe.stop() })
  return { ...options, lifecycle, clock, startedMs, credentialSource, credentials, served, metrics, threads }
}
