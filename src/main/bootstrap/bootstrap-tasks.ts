/** Thread: main. The list of what is there from the start. A part of the server that has more to bring adds its task here. */
import type { Clock } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import type { PortLeakEntries } from '../../protocol/main-pool.js'
import type { Config } from '../flags/config.js'
import { advertisedAddress, kubernetesServiceIP } from '../flags/service-options.js'
import type { Pool } from '../threads/pool.js'
import { bootstrapAccess } from './access.js'
import type { BootstrapTask } from './bootstrap.js'
import { authenticationConfig, type TrustedClients } from './bootstrap-authentication-config.js'
import { kubernetesService, type Peers, SERVICE_REPAIR_TASK } from './bootstrap-kubernetes-service.js'
import {
  defaultServiceCIDR,
  SERVICE_CIDR_TASK,
  SYSTEM_NAMESPACES_TASK,
  systemNamespaces,
  systemPriorityClasses,
} from './bootstrap-objects.js'
import { LoopbackClient } from './loopback-client.js'
import { ServerRequests } from './server-requests.js'

const REPAIR_MS = 3 * 60_000
/** A server whose lease was not renewed for so long is gone. */
const LEASE_SECONDS = 15

export interface BootstrapParts {
  readonly config: Config
  readonly pool: Pool
  readonly clock: Clock
  /** The port that the server listens on. */
  readonly port: number
  readonly trusted: () => TrustedClients
  readonly logger: Logger
}

export function bootstrapTasks({ config, pool, clock, port, trusted, logger }: BootstrapParts): BootstrapTask[] {
  const client = new LoopbackClient(new ServerRequests(pool, clock))
  const { serviceNetwork } = config
  return [
    systemNamespaces(client),
    systemPriorityClasses(client),
    defaultServiceCIDR(
      client,
      serviceNetwork.clusterIPRanges,
      () => `${new Date(clock.now()).toISOString().slice(0, 19)}Z`,
    ),
    { name: 'roles and bindings', after: [SYSTEM_NAMESPACES_TASK], run: () => bootstrapAccess(pool, logger) },
    authenticationConfig(client, trusted, () => clock.now()),
    serviceRepair(pool),
    kubernetesService({
      client,
      clusterIP: kubernetesServiceIP(serviceNetwork),
      nodePort: config.kubernetesServiceNodePort,
      port,
      peers: peersOf(config, pool),
    }),
  ]
}

function serviceRepair(pool: Pool): BootstrapTask {
  let leaks: PortLeakEntries = []
  return {
    name: SERVICE_REPAIR_TASK,
    after: [SERVICE_CIDR_TASK],
    everyMs: REPAIR_MS,
    run: async () => {
      leaks = await pool.run('repairServices', { leaks })
    },
  }
}

function peersOf(config: Config, pool: Pool): Peers | undefined {
  const ip = advertisedAddress(config.advertiseAddress, config.host)
  if (config.endpointReconcilerType === 'none' || ip === undefined) return undefined
  if (config.etcdOptions.dataDir !== '') return { hold: async () => [ip], drop: async () => undefined }
  return {
    hold: () => pool.run('holdMasterLease', { ip, ttlSeconds: LEASE_SECONDS }),
    drop: () => pool.run('dropMasterLease', { ip }),
  }
}
