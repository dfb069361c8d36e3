/** A registry of services on a store in memory, with everything that gives them addresses and ports. */

import type { Service, ServiceSpec } from '#keelson/api/generated/kinds/core.v1.js'
import { IPRange } from '#keelson/api/network/ip-range.js'
import { parsePortRange } from '#keelson/api/network/port-range.js'
import type { KubeObject } from '#keelson/api/object.js'
import { MapAttributes } from '#keelson/api/selector.js'
import { parseCidr } from '#keelson/api/validation/addresses.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { ClusterIPAllocator } from '#keelson/registry/core/services/allocator/cluster-ip-allocator.js'
import { NodePortAllocator } from '#keelson/registry/core/services/allocator/node-port-allocator.js'
import { setServiceDefaults } from '#keelson/registry/core/services/defaults.js'
import { RepairIPAddresses } from '#keelson/registry/core/services/repair-ip-addresses.js'
import { RepairNodePorts } from '#keelson/registry/core/services/repair-node-ports.js'
import { ServiceAllocators } from '#keelson/registry/core/services/service-allocators.js'
import { serviceHooks } from '#keelson/registry/core/services/service-hooks.js'
import { serviceRules } from '#keelson/registry/core/services/strategy.js'
import { listAll } from '#keelson/registry/generic/list-all.js'
import { completeWithOptions, type RegistryStore } from '#keelson/registry/generic/registry-store.js'
import { RulesStrategy } from '#keelson/registry/generic/rules-strategy.js'
import type { RequestContext } from '#keelson/registry/generic/strategy.js'
import { StoredIPAddresses } from '#keelson/registry/networking.k8s.io/ipaddresses/stored-ip-addresses.js'
import type { KV } from '#keelson/storage/contract/kv.js'
import type { KVStore } from '#keelson/storage/store/kv-store.js'
import type { FakeClock } from '../../../support/fake-clock.js'
import { openJsonStore } from '../../../support/json-store.js'
import { requestContext } from '../../../support/request-context.js'

export interface FixtureOptions {
  readonly kv: KV
  readonly clock: FakeClock
  readonly cidrs?: readonly string[]
  readonly ports?: string
}

/** One process: several of them may share a store. */
export class ServiceFixture {
  readonly store: RegistryStore
  readonly addresses: StoredIPAddresses
  readonly ranges: KVStore<KubeObject>
  readonly nodePorts: NodePortAllocator
  readonly repairPorts: RepairNodePorts
  readonly repairAddresses: RepairIPAddresses
  readonly #clock: FakeClock

  constructor({ kv, clock, cidrs = ['10.0.0.0/24'], ports = '30000-30063' }: FixtureOptions) {
    this.#clock = clock
    const open = (resourcePrefix: string) => openJsonStore(kv, resourcePrefix)
    const logger = nullLogger
    const range = parsePortRange(ports)!
    const ipRanges = cidrs.map((text) => new IPRange(parseCidr(text)!))
    const services = open('/services/specs')
    this.addresses = new StoredIPAddresses({ storage: open('/ipaddresses'), keyRoot: '/ipaddresses/', clock })
    this.ranges = open('/ranges')
    this.nodePorts = new NodePortAllocator({ storage: this.ranges, range, random: Math.random })
    const families = { primary: ipRanges[0]!.family, all: ipRanges.map(({ family }) => family) }
    const clusterIPs = new ClusterIPAllocator({
      addresses: this.addresses,
      ranges: { ready: async () => ipRanges },
      random: Math.random,
    })
    const allocators = new ServiceAllocators({ clusterIPs, nodePorts: this.nodePorts, families, logger })
    const strategy = new RulesStrategy(
      { kind: { group: '', kind: 'Service' }, namespaceScoped: true, hasStatus: true },
      serviceRules,
    )
    this.store = completeWithOptions({
      groupResource: { group: '', resource: 'services' },
      storage: services,
      keyPrefix: '/services/specs',
      createStrategy: strategy,
      updateStrategy: strategy,
      deleteStrategy: strategy,
      getAttributes: () => ({ labels: new MapAttributes({}), fields: new MapAttributes({}) }),
      enableGarbageCollection: false,
      returnDeletedObject: true,
      deleteCollectionWorkers: 1,
      ...serviceHooks(allocators, families),
    })
    const list = async (): Promise<Service[]> => listAll(services, '/services/specs/', { newest: true })
    this.repairPorts = new RepairNodePorts({ storage: this.ranges, range, services: list, logger })
    this.repairAddresses = new RepairIPAddresses({
      addresses: this.addresses,
      services: list,
      ranges: async () => ipRanges,
      clock,
      logger,
    })
  }

  context(dryRun = false): RequestContext {
    return requestContext({ namespace: 'ns', resource: 'services', dryRun, now: () => this.#clock.now() })
  }

  async create(name: string, spec: ServiceSpec, dryRun = false): Promise<ServiceSpec> {
    const object: Service = { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: structuredClone(spec) }
    setServiceDefaults(object)
    return ((await this.store.create(this.context(dryRun), object, () => undefined)) as Service).spec!
  }

  async update(name: string, change: (spec: ServiceSpec) => void, dryRun = false): Promise<ServiceSpec> {
    const { object } = await this.store.update(
      this.context(dryRun),
      name,
      {
        updatedObject: (existing) => {
          const next = structuredClone(existing) as Service
          change(next.spec!)
          setServiceDefaults(next)
          return next
        },
      },
      { create: () => undefined, update: () => undefined },
    )
    return (object as Service).spec!
  }

  async delete(name: string, dryRun = false): Promise<void> {
    await this.store.delete(this.context(dryRun), name, {}, () => undefined)
  }

  /** What is taken, in order. */
  async taken(): Promise<{ addresses: string[]; ports: number[] }> {
    const addresses = (await this.addresses.list()).map(({ metadata }) => metadata?.name ?? '')
    return { addresses: addresses.sort(), ports: await this.#ports() }
  }

  async #ports(): Promise<number[]> {
    const { data = '' } = (await this.ranges.get('/ranges/servicenodeports')) as { data?: string }
    const bytes = Buffer.from(data, 'base64').reverse()
    return [...bytes].flatMap((byte, i) =>
      [...Array(8).keys()].flatMap((j) => ((byte >> j) & 1 ? [30000 + i * 8 + j] : [])),
    )
  }
}
