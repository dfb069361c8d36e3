/** Thread: main. The steps after the server listens: objects that must be there, and what is kept right while it runs. */
import { CacheClient } from '../../cacher/read/cache-client.js'
import { Bootstrap } from '../bootstrap/bootstrap.js'
import type { TrustedClients } from '../bootstrap/bootstrap-authentication-config.js'
import { bootstrapTasks } from '../bootstrap/bootstrap-tasks.js'
import { ServerRequests } from '../bootstrap/server-requests.js'
import { CredentialWatch } from '../certificates/credential-watch.js'
import { ConfigurationKeeper } from '../flow-control/configuration-keeper.js'
import { FlowFollower } from '../flow-control/flow-follower.js'
import { DefinitionController } from '../threads/definition-controller.js'
import type { ProcessParts } from './process-parts.js'
import type { StorageThreads } from './storage-threads.js'

/** The authorities that are trusted now: bootstrap publishes them, and renewal replaces them. */
export interface CurrentTrust {
  clients: TrustedClients
}

/** Resolves when every object that clients expect of a new cluster is there. */
export async function bootstrapObjects(
  parts: ProcessParts,
  storage: StorageThreads,
  port: number,
  trust: CurrentTrust,
): Promise<void> {
  const { config, clock, logger, metrics, lifecycle } = parts
  const { pool } = storage
  const work = metrics.work('bootstrap', clock)
  const tasks = bootstrapTasks({ config, pool, clock, port, trusted: () => trust.clients, logger }).map((task) => ({
    ...task,
    run: () => work.run(() => task.run()),
  }))
  const bootstrap = new Bootstrap({ tasks, clock, random: Math.random, logger })
  lifecycle.own('bootstrap', bootstrap)
  const keeping = config.priorityAndFairness ? keepFlowObjects(parts, storage) : undefined
  await Promise.all([bootstrap.start(), keeping])
}

/** Flow schemas and priority levels are kept by this one thread, however many front ends obey them. */
async function keepFlowObjects(parts: ProcessParts, { owner, pool }: StorageThreads): Promise<void> {
  const { lifecycle, metrics, clock, logger } = parts
  const cache = await CacheClient.attach(await owner.attach())
  lifecycle.own('cache', { close: () => cache.detach() })
  const requests = new ServerRequests(pool, clock)
  const work = metrics.work('priority_and_fairness_config_queue', clock)
  const counted: Pick<ServerRequests, 'send'> = { send: (request) => work.run(() => requests.send(request)) }
  const keeper = new ConfigurationKeeper({ requests: counted, clock, logger })
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

/** Serves what is defined, and goes on following the definitions. Resolves when those that were there are served. */
export async function serveDefinitions(parts: ProcessParts, storage: StorageThreads): Promise<void> {
  const { lifecycle, clock, logger } = parts
  const { owner, pool, resources } = storage
  const cache = await CacheClient.attach(await owner.attach())
  lifecycle.own('cache', { close: () => cache.detach() })
  const controller = new DefinitionController({ cache, pool, resources, clock, logger })
  lifecycle.own('definitions', { close: () => controller.stop() })
  await controller.start()
}

/**
 * Takes certificates that are replaced on disk while the server runs. Gives the path of the admin's kubeconfig; ''
 * without one.
 */
export function keepCredentials(
  parts: ProcessParts,
  { frontEnds }: StorageThreads,
  port: number,
  trust: CurrentTrust,
): string {
  const { credentialSource, credentials, clusterTrust, lifecycle, clock, logger } = parts
  const kubeconfig = credentialSource.writeAdminKubeconfig(port)
  const watch = new CredentialWatch({
    renew: () => credentialSource.renew(),
    take: async (renewed) => {
      await frontEnds.renewCredentials(renewed)
      const { frontProxy } = trust.clients
      trust.clients = {
        clientCa: renewed.clientCa,
        frontProxy: frontProxy && {
          ca: renewed.frontProxyCa,
          headers: renewed.frontProxyHeaders ?? frontProxy.headers,
        },
      }
      credentialSource.writeAdminKubeconfig(port)
    },
    clock,
    logger,
  })
  if (credentials.tls !== undefined) watch.start()
  clusterTrust?.start((cluster) => {
    credentialSource.trust(cluster)
    watch.lookNow()
  })
  lifecycle.own('certificates', watch)
  return kubeconfig
}
