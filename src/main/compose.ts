/** Thread: main. Builds the server in order and closes it in reverse. */

import type { MessagePort } from 'node:worker_threads'
import { CacheClient } from '../cacher/read/cache-client.js'
import { pause, systemClock } from '../lib/clock.js'
import { type Closable, Lifecycle } from '../lib/lifecycle.js'
import type { Logger } from '../lib/logger.js'
import { moduleUrl } from '../lib/module-url.js'
import { processFamilies } from '../metrics/families.js'
import { Metrics } from '../metrics/metrics.js'
import { ThreadProbe } from '../metrics/thread-probe.js'
import type { MainCalls } from '../protocol/main-front-end.js'
import { OwnerClient } from '../workers/owner/owner-client.js'
import { Served } from '../workers/scheme/served.js'
import { ThreadInspector } from '../workers/thread-inspector.js'
import { roleAggregator } from './bootstrap/access.js'
import { Bootstrap } from './bootstrap/bootstrap.js'
import type { TrustedClients } from './bootstrap/bootstrap-authentication-config.js'
import { bootstrapTasks } from './bootstrap/bootstrap-tasks.js'
import { ServerRequests } from './bootstrap/server-requests.js'
import { CredentialSource } from './certificates/credential-source.js'
import { CredentialWatch } from './certificates/credential-watch.js'
import type { Config } from './flags/config.js'
import { ConfigurationKeeper } from './flow-control/configuration-keeper.js'
import { FlowFollower } from './flow-control/flow-follower.js'
import { limitHeaders } from './http/header-limit.js'
import type { ProcessLine } from './paths/server-paths.js'
import { AuditWorker } from './threads/audit-worker.js'
import { FrontEndAssembly } from './threads/front-end-assembly.js'
import { FrontEndState } from './threads/front-end-state.js'
import { FrontEndWorker } from './threads/front-end-worker.js'
import { FrontEnds } from './threads/front-ends.js'
import { InspectedThreads } from './threads/inspected-threads.js'
import { Pool } from './threads/pool.js'
import type { CallHandlers } from './threads/port-calls.js'
import { recordProcess } from './threads/process-metrics.js'
import { ResourceRegistrar } from './threads/resource-registrar.js'

export interface Server extends Closable {
  readonly url: string
  /** Resources that are not built in: they come, change and go while it runs. */
  readonly resources: ResourceRegistrar
  /** The admin's; '' when there is none. */
  readonly kubeconfig: string
  close(): Promise<void>
}

export interface ComposeOptions {
  readonly config: Config
  readonly logger: Logger
  /** The process cannot go on. */
  readonly onFatal: (error: Error) => void
}

export async function compose({ config, logger, onFatal }: ComposeOptions): Promise<Server> {
  const lifecycle = new Lifecycle()
  limitHeaders()
  try {
    return await build(lifecycle, { config, logger, onFatal })
  } catch (error) {
    await lifecycle.close()
    throw error
  }
}

async function build(lifecycle: Lifecycle, { config, logger, onFatal }: ComposeOptions): Promise<Server> {
  const startedMs = systemClock.now()
  const source = new CredentialSource(config.security, () => systemClock.now())
  const credentials = source.open()
  const served = new Served(config)
  const metrics = new Metrics()
  metrics.start()
  recordProcess(metrics.recorder)
  const onMetrics = (port: MessagePort): void => metrics.addThread(port)
  const threads = new InspectedThreads()
  const onInspection = threads.add
  new ThreadInspector('main', systemClock).open(onInspection)
  // Side by side: a pool thread loads what it needs while the owner opens the storage.
  const starting = startOwner(config, served, metrics, threads, logger, onFatal)
  const frontEnds = new FrontEnds()
  const pool = new Pool({
    threads: config.poolThreads,
    start: {
      etcdOptions: config.etcdOptions,
      runtimeConfig: config.runtimeConfig,
      serviceNetwork: config.serviceNetwork,
      eventTtlSeconds: config.eventTtlSeconds,
      allowPrivileged: config.allowPrivileged,
      logLevel: config.logLevel,
      authorization: config.authorization,
      authentication: credentials.authentication,
      admission: config.admission,
      connection: config.kubelet,
    },
    // Without an owner there is nothing to wait for: the pool is ended below.
    attach: () =>
      starting.then(
        (opened) => opened.attach(),
        () => new Promise<never>(() => undefined),
      ),
    onMetrics,
    onInspection,
    // Asked for after the owner has been reached.
    definitions: () => resources.definitions(),
    onWorkerError: (error) => logger.error({ err: error }, 'a pool thread failed'),
    recorder: metrics.recorder,
    clock: systemClock,
  })
  const owner = await starting.catch(async (error: unknown) => {
    await pool.abandon()
    throw error
  })
  lifecycle.own('owner', { close: () => owner.stop() })
  lifecycle.own('pool', pool)
  const resources: ResourceRegistrar = new ResourceRegistrar({ served, owner, pool, frontEnds })
  const state = new FrontEndState()
  const probe = new ThreadProbe('main', metrics.recorder, systemClock)
  probe.start()
  lifecycle.own('probe', { close: () => probe.stop() })
  metrics.beforeScrape(async () => metrics.storage.memory(await owner.memory()))
  metrics.beforeScrape(() => metrics.recorder.series(processFamilies.poolQueue).set(pool.queueSize))
  const line: ProcessLine = {
    health: () => owner.health(),
    metrics: () => metrics.text(),
    startedMs,
    threads: async () => threads.names(),
    visit: async (thread) => threads.visit(thread),
    cacheMemory: () => owner.memory(),
  }
  const audit =
    config.audit === undefined ? undefined : new AuditWorker(config.audit, { logger, onInspection, onExit: onFatal })
  if (audit !== undefined) lifecycle.own('audit', audit)
  lifecycle.own('front ends', frontEnds)
  if (config.frontEnds === 1) {
    const ownerPort = await owner.attach()
    frontEnds.add(
      await FrontEndAssembly.open({
        config,
        credentials,
        served,
        ownerPort,
        auditPort: audit?.line(),
        pool,
        line,
        state,
        logger,
        recorder: metrics.recorder,
      }),
    )
  } else {
    const handlers: CallHandlers<MainCalls> = {
      pool: ({ type, input }, caller) => pool.run(type, input, caller),
      health: () => line.health(),
      metrics: () => line.metrics(),
      threads: () => threads.names(),
      visit: ({ thread }) => ({ port: threads.visit(thread) }),
      cacheMemory: () => line.cacheMemory(),
    }
    const start = async (): Promise<void> => {
      const ownerPort = await owner.attach()
      const { buffer } = state
      frontEnds.add(
        await FrontEndWorker.start({
          config,
          credentials,
          ownerPort,
          auditPort: audit?.line(),
          state: buffer,
          definitions: resources.definitions(),
          startedMs,
          handlers,
          logger,
          onMetrics,
          onInspection,
          onExit: onFatal,
        }),
      )
    }
    await Promise.all(Array.from({ length: config.frontEnds }, start))
  }
  const port = await frontEnds.listen(config.host, config.port)
  lifecycle.own('requests', {
    close: async () => {
      // Those who send requests here learn that they should not before anything changes for them.
      state.ready = false
      await pause(systemClock, config.shutdownDelayMs)
      await frontEnds.drain()
    },
  })
  let trusted: TrustedClients = credentials.authentication
  const upkeep = metrics.work('bootstrap', systemClock)
  const tasks = bootstrapTasks({ config, pool, clock: systemClock, port, trusted: () => trusted, logger }).map(
    (task) => ({
      ...task,
      run: () => upkeep.run(() => task.run()),
    }),
  )
  const bootstrap = new Bootstrap({ tasks, clock: systemClock, random: Math.random, logger })
  lifecycle.own('bootstrap', bootstrap)
  const keeping = config.priorityAndFairness ? keepFlowObjects(lifecycle, owner, pool, metrics, logger) : undefined
  await Promise.all([bootstrap.start(), keeping])
  await keepRolesAggregated(lifecycle, owner, pool, metrics, logger)
  const kubeconfig = source.writeAdminKubeconfig(port)
  const watch = new CredentialWatch({
    renew: () => source.renew(),
    take: async (renewed) => {
      await frontEnds.renewCredentials(renewed)
      const { frontProxy } = trusted
      trusted = {
        clientCa: renewed.clientCa,
        frontProxy: frontProxy && { ...frontProxy, ca: renewed.frontProxyCa },
      }
      source.writeAdminKubeconfig(port)
    },
    clock: systemClock,
    logger,
  })
  if (credentials.tls !== undefined) watch.start()
  lifecycle.own('certificates', watch)
  state.ready = true
  return {
    url: `${credentials.tls === undefined ? 'http' : 'https'}://${config.host}:${port}`,
    kubeconfig,
    resources,
    close: () => lifecycle.close(),
  }
}

/** Flow schemas and priority levels are kept by one thread, however many obey them. */
async function keepFlowObjects(
  lifecycle: Lifecycle,
  owner: OwnerClient,
  pool: Pool,
  metrics: Metrics,
  logger: Logger,
): Promise<void> {
  const cache = await CacheClient.attach(await owner.attach())
  lifecycle.own('cache', { close: () => cache.detach() })
  const requests = new ServerRequests(pool, systemClock)
  const work = metrics.work('priority_and_fairness_config_queue', systemClock)
  const counted: Pick<ServerRequests, 'send'> = { send: (request) => work.run(() => requests.send(request)) }
  const keeper = new ConfigurationKeeper({ requests: counted, clock: systemClock, logger })
  const follower = new FlowFollower(cache, (objects) => keeper.update(objects))
  lifecycle.own('flow control objects', {
    close: () => {
      follower.stop()
      return keeper.stop()
    },
  })
  follower.start()
  await keeper.start()
}

/** Aggregated cluster roles stay filled while the server runs. */
async function keepRolesAggregated(
  lifecycle: Lifecycle,
  owner: OwnerClient,
  pool: Pool,
  metrics: Metrics,
  logger: Logger,
): Promise<void> {
  const cache = await CacheClient.attach(await owner.attach())
  lifecycle.own('cache', { close: () => cache.detach() })
  const work = metrics.work('cluster_role_aggregation', systemClock)
  const aggregator = roleAggregator(cache, pool, systemClock, work, logger)
  lifecycle.own('role aggregator', { close: () => aggregator.stop() })
  aggregator.start()
}

function startOwner(
  config: Config,
  served: Served,
  metrics: Metrics,
  threads: InspectedThreads,
  logger: Logger,
  onFatal: (error: Error) => void,
): Promise<OwnerClient> {
  return OwnerClient.start({
    config: {
      clusters: served.clusters,
      resources: served.builtinOwned(),
      cacheMemoryLimitBytes: config.cacheMemoryLimitBytes,
      resourceModule: moduleUrl('workers/owner-objects.js').href,
      resourceModuleOptions: { etcdOptions: config.etcdOptions, runtimeConfig: config.runtimeConfig },
    },
    logger,
    onEvent: (event) => metrics.storage.observe(event),
    onMetrics: (port) => metrics.addThread(port),
    onInspection: threads.add,
    onExit: onFatal,
  })
}
