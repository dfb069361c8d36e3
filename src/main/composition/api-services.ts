/** Thread: main. The step that keeps APIServices: of what is served here, and of what other servers serve. */
import { randomUUID } from 'node:crypto'
import { API_SERVICES, APIServiceIndex } from '../../aggregator/api-service-index.js'
import { CacheClient } from '../../cacher/read/cache-client.js'
import { APIServiceRegistration } from '../aggregation/api-service-registration.js'
import { AvailabilityKeeper } from '../aggregation/availability-keeper.js'
import { ControllerRelay } from '../aggregation/controller-relay.js'
import { RemoteConnections } from '../aggregation/remote-connections.js'
import { ServerLease } from '../aggregation/server-lease.js'
import { serviceDirectory } from '../aggregation/service-views.js'
import { LoopbackClient } from '../bootstrap/loopback-client.js'
import { ServerRequests } from '../bootstrap/server-requests.js'
import type { ProcessParts } from './process-parts.js'
import type { StorageThreads } from './storage-threads.js'

/**
 * Keeps APIServices: those of what is served here, and the conditions of those that other servers serve. Resolves when the former are
 * there, with the way on which controllers reach other servers.
 */
export async function keepAPIServices(parts: ProcessParts, storage: StorageThreads): Promise<ControllerRelay> {
  const { config, credentials, served, lifecycle, clock, logger } = parts
  const { owner, pool, resources } = storage
  const cache = await CacheClient.attach(await owner.attach())
  lifecycle.own('cache', { close: () => cache.detach() })
  const client = new LoopbackClient(new ServerRequests(pool, clock))
  const view = cache.resource(API_SERVICES)
  const registration = new APIServiceRegistration({ view, client, catalogue: () => served.catalogue, clock, logger })
  lifecycle.own('registration of APIServices', { close: () => registration.stop() })
  resources.tell({ change: async () => registration.changed() })
  const index = new APIServiceIndex(view)
  const directory = serviceDirectory(cache, served, config.aggregation.byEndpoints)
  const { egress } = config
  const connections = new RemoteConnections({ directory, certificate: credentials.proxyCertificate, egress })
  const isAlone = config.etcdOptions.dataDir !== ''
  const lease = isAlone
    ? undefined
    : new ServerLease({ name: 'apiserver-aggregation', identity: `keelson_${randomUUID()}`, client, clock })
  const keeper = new AvailabilityKeeper({ index, directory, connections, client, lease, clock, logger })
  lifecycle.own('availability of APIServices', {
    close: async () => {
      index.stop()
      await keeper.stop()
      connections.close()
    },
  })
  index.start()
  keeper.start()
  await registration.start()
  return new ControllerRelay(index, connections)
}
