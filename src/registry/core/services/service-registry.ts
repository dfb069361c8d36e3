/** Thread: pool. Puts together what gives services their addresses and ports, and what repairs it. */

import type { Service } from '../../../api/generated/kinds/core.v1.js'
import { parsePortRange } from '../../../api/network/port-range.js'
import type { KubeObject } from '../../../api/object.js'
import { parseCidr } from '../../../api/validation/addresses.js'
import { assert } from '../../../lib/assert.js'
import type { Clock } from '../../../lib/clock.js'
import type { Random } from '../../../lib/jitter.js'
import type { Logger } from '../../../lib/logger.js'
import type { ServiceNetwork } from '../../../protocol/pool-start.js'
import type { Storage } from '../../../storage/contract/interface.js'
import { listAll } from '../../generic/list-all.js'
import type { RegistryStore } from '../../generic/registry-store.js'
import type { RegistryStoreHooks } from '../../generic/registry-store-options.js'
import { StoredIPAddresses } from '../../networking.k8s.io/ipaddresses/stored-ip-addresses.js'
import { StoredServiceRanges } from '../../networking.k8s.io/servicecidrs/stored-service-ranges.js'
import { ClusterIPAllocator } from './allocator/cluster-ip-allocator.js'
import { NodePortAllocator } from './allocator/node-port-allocator.js'
import type { ClusterFamilies } from './ip-families.js'
import { RepairIPAddresses } from './repair-ip-addresses.js'
import { type PortLeaks, RepairNodePorts } from './repair-node-ports.js'
import { ServiceAllocators } from './service-allocators.js'
import { serviceHooks } from './service-hooks.js'

export interface ServiceRegistryOptions {
  readonly network: ServiceNetwork
  /** By the name in the path, in v1. */
  readonly store: (apiGroup: string, resource: string) => RegistryStore
  readonly ranges: Storage<KubeObject>
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

export class ServiceRegistry {
  readonly hooks: RegistryStoreHooks<Service>
  readonly #repairAddresses: RepairIPAddresses
  readonly #repairPorts: RepairNodePorts

  constructor({ network, store, ranges: rangeStorage, clock, random, logger }: ServiceRegistryOptions) {
    const range = parsePortRange(network.nodePortRange)
    assert(range !== undefined, 'the range of node ports was checked with the flags')
    const cidrStore = store('networking.k8s.io', 'servicecidrs')
    const addressStore = store('networking.k8s.io', 'ipaddresses')
    const ranges = new StoredServiceRanges(cidrStore.storage, cidrStore.keyRoot(''))
    const addresses = new StoredIPAddresses({ storage: addressStore.storage, keyRoot: addressStore.keyRoot(''), clock })
    const families = familiesOf(network)
    const allocators = new ServiceAllocators({
      clusterIPs: new ClusterIPAllocator({ addresses, ranges, random }),
      nodePorts: new NodePortAllocator({ storage: rangeStorage, range, random }),
      families,
      logger,
    })
    this.hooks = serviceHooks(allocators, families)
    const services = async (): Promise<Service[]> => {
      const serviceStore = store('', 'services')
      return listAll(serviceStore.storage, serviceStore.keyRoot(''), { newest: true })
    }
    this.#repairAddresses = new RepairIPAddresses({ addresses, services, ranges: () => ranges.all(), clock, logger })
    this.#repairPorts = new RepairNodePorts({ storage: rangeStorage, range, services, logger })
  }

  async repair(leaks: PortLeaks): Promise<PortLeaks> {
    const [next] = await Promise.all([this.#repairPorts.runOnce(leaks), this.#repairAddresses.runOnce()])
    return next
  }
}

function familiesOf({ clusterIPRanges }: ServiceNetwork): ClusterFamilies {
  const all = clusterIPRanges.map((text) => (parseCidr(text)?.address.bits === 128 ? 'IPv6' : 'IPv4'))
  return { primary: all[0] ?? 'IPv4', all }
}
