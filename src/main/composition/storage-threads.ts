/** Thread: main. The step that starts the owner, who opens the storage, and the pool, whose threads write to it. */
import { moduleUrl } from '../../lib/module-url.js'
import { processFamilies } from '../../metrics/families.js'
import { OwnerClient } from '../../workers/owner/owner-client.js'
import { AccessRegistrar } from '../threads/access-registrar.js'
import { FrontEnds } from '../threads/front-ends.js'
import { Pool, type PoolOptions } from '../threads/pool.js'
import { ResourceRegistrar } from '../threads/resource-registrar.js'
import type { ProcessParts } from './process-parts.js'

export interface StorageThreads {
  readonly owner: OwnerClient
  readonly pool: Pool
  /** The front ends, which the next step adds; the registrar tells those that are there. */
  readonly frontEnds: FrontEnds
  readonly resources: ResourceRegistrar
  readonly access: AccessRegistrar
}

/** Both start side by side: a pool thread loads its modules while the owner opens the storage. */
export async function startStorageThreads(parts: ProcessParts): Promise<StorageThreads> {
  const { lifecycle, metrics, served } = parts
  const starting = startOwner(parts)
  const frontEnds = new FrontEnds()
  // A pool thread asks for definitions after it has reached the owner, so the registrar is there by then.
  const pool: Pool = new Pool(
    poolOptions(parts, starting, { definitions: () => resources.definitions(), access: () => access.current() }),
  )
  const access: AccessRegistrar = new AccessRegistrar([pool, frontEnds])
  pool.start()
  const owner = await starting.catch(async (error: unknown) => {
    await pool.abandon()
    throw error
  })
  lifecycle.own('owner', { close: () => owner.stop() })
  lifecycle.own('pool', pool)
  const resources: ResourceRegistrar = new ResourceRegistrar({ served, owner, pool, frontEnds })
  metrics.beforeScrape(async () => metrics.storage.memory(await owner.memory()))
  metrics.beforeScrape(() => metrics.recorder.series(processFamilies.poolQueue).set(pool.queueSize))
  return { owner, pool, frontEnds, resources, access }
}

function startOwner({ config, served, metrics, threads, logger, onFatal }: ProcessParts): Promise<OwnerClient> {
  return OwnerClient.start({
    config: {
      clusters: served.clusters,
      resources: served.builtinOwned(),
      cacheMemoryLimitBytes: config.cacheMemoryLimitBytes,
      resourceModule: moduleUrl('workers/owner-objects.js').href,
      draftModule: moduleUrl('workers/draft-thread.js').href,
      resourceModuleOptions: { etcdOptions: config.etcdOptions, runtimeConfig: config.runtimeConfig },
    },
    logger,
    onEvent: (event) => metrics.storage.observe(event),
    onMetrics: (port) => metrics.addThread(port),
    onInspection: threads.add,
    onExit: onFatal,
  })
}

function poolOptions(
  { config, credentials, metrics, threads, logger, clock }: ProcessParts,
  owner: Promise<OwnerClient>,
  changes: Pick<PoolOptions, 'definitions' | 'access'>,
): PoolOptions {
  return {
    threads: config.poolThreads,
    start: {
      etcdOptions: config.etcdOptions,
      egress: config.egress,
      runtimeConfig: config.runtimeConfig,
      serviceNetwork: config.serviceNetwork,
      eventTtlSeconds: config.eventTtlSeconds,
      allowPrivileged: config.allowPrivileged,
      logLevel: config.logLevel,
      authorization: config.authorization,
      authentication: credentials.authentication,
      admission: config.admission,
      connection: config.kubelet,
      tracing: config.tracing,
    },
    // Without an owner there is nothing to wait for: the pool is abandoned then.
    attach: () =>
      owner.then(
        (opened) => opened.attach(),
        () => new Promise<never>(() => undefined),
      ),
    onMetrics: (port) => metrics.addThread(port),
    onInspection: threads.add,
    ...changes,
    logger,
    recorder: metrics.recorder,
    clock,
  }
}
