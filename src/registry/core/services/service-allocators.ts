/** Thread: pool. What a service is given by the server: addresses and ports, taken before the write and settled after it. */

import { FieldPath, invalid } from '../../../api/field-error.js'
import type { ServiceSpec } from '../../../api/generated/kinds/core.v1.js'
import { newInternalError, newInvalid } from '../../../api/status.js'
import { ipFamilyOf } from '../../../api/validation/addresses.js'
import type { Logger } from '../../../lib/logger.js'
import type { Finish } from '../../generic/registry-store-options.js'
import { isAllocationError } from './allocator/allocation-error.js'
import type { AddressParent, ClusterIPAllocator } from './allocator/cluster-ip-allocator.js'
import type { NodePortAllocator } from './allocator/node-port-allocator.js'
import type { PortOperation } from './allocator/port-operation.js'
import { type ClusterFamilies, initIPFamilyFields, keepsPreferredFamilies } from './ip-families.js'
import { applyPlan, nodePortsOf, planCreate, planUpdate, planWithoutTaking } from './node-ports.js'
import { CLUSTER_IP_NONE, isHeadless, needsClusterIP, needsHealthCheck } from './service.js'

const CLUSTER_IPS = FieldPath.of('spec', 'clusterIPs')

export interface ServiceAllocatorsOptions {
  readonly clusterIPs: ClusterIPAllocator
  readonly nodePorts: NodePortAllocator
  readonly families: ClusterFamilies
  readonly logger: Logger
}

/** One service while it is written. */
export interface AllocationTarget {
  readonly spec: ServiceSpec
  readonly parent: AddressParent
  readonly dryRun: boolean
}

/** Taken now; to be given back when the write fails, or once it has succeeded. */
interface Taken {
  readonly onFailure: readonly string[]
  readonly onSuccess: readonly string[]
}
interface TakenPorts {
  readonly onFailure: readonly number[]
  readonly onSuccess: readonly number[]
}
const NOTHING = { onFailure: [], onSuccess: [] }

export class ServiceAllocators {
  readonly #options: ServiceAllocatorsOptions

  constructor(options: ServiceAllocatorsOptions) {
    this.#options = options
  }

  async create(target: AllocationTarget): Promise<Finish> {
    const { spec, parent } = target
    initIPFamilyFields(parent.name, spec, undefined, this.#options.families)
    return this.#both(
      target,
      this.#takeAddresses(target),
      this.#takePorts(target, (operation) => ({ ...planCreate(parent.name, spec, operation), released: [] })),
    )
  }

  async update(target: AllocationTarget, old: ServiceSpec): Promise<Finish> {
    const { spec, parent } = target
    initIPFamilyFields(parent.name, spec, old, this.#options.families)
    return this.#both(
      target,
      this.#updateAddresses(target, old),
      this.#takePorts(target, (operation) => planUpdate(parent.name, spec, old, operation)),
    )
  }

  /** After the service itself is gone. What fails here is repaired later. */
  async release(spec: ServiceSpec, parent: AddressParent): Promise<void> {
    const addresses = needsClusterIP(spec) && !isHeadless(spec) ? (spec.clusterIPs ?? []) : []
    const health = needsHealthCheck(spec) && spec.healthCheckNodePort ? [spec.healthCheckNodePort] : []
    await this.#giveBack(parent, addresses, [...nodePortsOf(spec), ...health])
  }

  /** Side by side: they have nothing to do with each other. Addresses speak first when both fail. */
  async #both(target: AllocationTarget, addresses: Promise<Taken>, ports: Promise<TakenPorts>): Promise<Finish> {
    const { parent, dryRun } = target
    const [takenAddresses, takenPorts] = await Promise.allSettled([addresses, ports])
    if (takenAddresses.status === 'fulfilled' && takenPorts.status === 'fulfilled') {
      if (dryRun) return () => undefined
      return (succeeded) => {
        const which = succeeded ? 'onSuccess' : 'onFailure'
        return this.#giveBack(parent, takenAddresses.value[which], takenPorts.value[which])
      }
    }
    if (!dryRun) {
      if (takenAddresses.status === 'fulfilled') await this.#giveBack(parent, takenAddresses.value.onFailure, [])
      if (takenPorts.status === 'fulfilled') await this.#giveBack(parent, [], takenPorts.value.onFailure)
    }
    throw takenAddresses.status === 'rejected' ? takenAddresses.reason : (takenPorts as PromiseRejectedResult).reason
  }

  async #takeAddresses(target: AllocationTarget): Promise<Taken> {
    const { spec } = target
    if (!needsClusterIP(spec) || spec.clusterIPs?.[0] === CLUSTER_IP_NONE) return NOTHING
    const given = await this.#allocate(target, spec.ipFamilies ?? [], spec.clusterIPs ?? [])
    spec.clusterIPs = given
    if (given[0] !== undefined) spec.clusterIP = given[0]
    return { onFailure: given, onSuccess: [] }
  }

  async #updateAddresses(target: AllocationTarget, old: ServiceSpec): Promise<Taken> {
    const { spec } = target
    if (keepsPreferredFamilies(spec, old)) return NOTHING
    if (!needsClusterIP(old)) return this.#takeAddresses(target)
    const before = old.clusterIPs ?? []
    if (before[0] === CLUSTER_IP_NONE) return NOTHING
    if (!needsClusterIP(spec)) return { onFailure: [], onSuccess: before }
    const [families, had] = [spec.ipFamilies ?? [], (old.ipFamilies ?? []).length]
    if (had === 1 && families.length === 2) {
      const second = spec.clusterIPs?.[1]
      const given = await this.#allocate(target, families.slice(1), second === undefined ? [] : [second])
      spec.clusterIPs = [spec.clusterIPs?.[0] ?? '', ...given]
      return { onFailure: given, onSuccess: [] }
    }
    return had === 2 && families.length === 1 ? { onFailure: [], onSuccess: before.slice(1) } : NOTHING
  }

  /** One address a family; those that are given are taken, the others chosen. All or none. */
  async #allocate(target: AllocationTarget, families: readonly string[], wanted: readonly string[]): Promise<string[]> {
    const given: string[] = []
    try {
      for (const [i, family] of families.entries()) given.push(await this.#allocateOne(target, family, wanted[i] ?? ''))
      return given
    } catch (error) {
      if (!target.dryRun) await this.#giveBack(target.parent, given, [])
      throw error
    }
  }

  async #allocateOne({ spec, parent, dryRun }: AllocationTarget, family: string, wanted: string): Promise<string> {
    const { clusterIPs } = this.#options
    try {
      if (wanted === '') return await clusterIPs.allocateNext(family, parent, dryRun)
      await clusterIPs.allocate(wanted, parent, dryRun)
      return wanted
    } catch (error) {
      if (!isAllocationError(error)) throw error
      if (error.code === 'full')
        throw newInternalError(`failed to allocate a serviceIP for Service "${parent.name}": ${error.message}`)
      const what = wanted === '' ? 'failed to allocate IP' : `failed to allocate IP ${wanted}`
      throw newInvalid({ group: '', kind: 'Service' }, parent.name, [
        invalid(CLUSTER_IPS, spec.clusterIPs ?? [], `${what}: ${error.message}`),
      ])
    }
  }

  async #takePorts(
    { spec, dryRun }: AllocationTarget,
    plan: (operation: PortOperation) => ReturnType<typeof planUpdate>,
  ): Promise<TakenPorts> {
    const { nodePorts } = this.#options
    const made = planWithoutTaking(plan)
    if (made !== undefined) return { onFailure: [], onSuccess: made.released }
    const taking = (operation: PortOperation) => {
      const taken: number[] = []
      const result = plan({
        take: (port) => {
          operation.take(port)
          taken.push(port)
        },
        takeNext: () => {
          const port = operation.takeNext()
          taken.push(port)
          return port
        },
      })
      return { result, taken }
    }
    const { result, taken } = await (dryRun ? nodePorts.dryRun(taking) : nodePorts.allocate(taking))
    applyPlan(spec, result)
    return { onFailure: taken, onSuccess: result.released }
  }

  async #giveBack(parent: AddressParent, addresses: readonly string[], ports: readonly number[]): Promise<void> {
    const { clusterIPs, nodePorts, logger } = this.#options
    const results = await Promise.allSettled([
      ...addresses.filter((ip) => ipFamilyOf(ip) !== undefined).map((ip) => clusterIPs.release(ip, parent)),
      nodePorts.release(ports),
    ])
    for (const result of results) {
      if (result.status === 'rejected')
        logger.warn({ err: result.reason, ...parent, addresses, ports }, 'could not give back what a service had')
    }
  }
}
