/**
 * Thread: pool. Brings the IPAddress objects in line with the services: what a service has and nobody holds is taken,
 * what is held for nobody is given back. Addresses are listed before services, so an address whose service is missing
 * from the newer list has none, unless the service is being written: hence the grace.
 */

import type { Service } from '../../../api/generated/kinds/core.v1.js'
import type { IPAddress } from '../../../api/generated/kinds/networking.v1.js'
import type { IPRange } from '../../../api/network/ip-range.js'
import { ipFamilyOf, parseAddress } from '../../../api/validation/addresses.js'
import type { Clock } from '../../../lib/clock.js'
import type { Logger } from '../../../lib/logger.js'
import { hasRightLabels, isAllocated } from '../../networking.k8s.io/ipaddresses/ip-address.js'
import type { StoredIPAddresses } from '../../networking.k8s.io/ipaddresses/stored-ip-addresses.js'
import { needsClusterIP } from './service.js'

/** A service is stored well within it after its address was taken. */
const GRACE_MS = 60_000

export interface RepairIPAddressesOptions {
  readonly addresses: StoredIPAddresses
  readonly services: () => Promise<readonly Service[]>
  readonly ranges: () => Promise<readonly IPRange[]>
  readonly clock: Clock
  readonly logger: Logger
}

export class RepairIPAddresses {
  readonly #options: RepairIPAddressesOptions

  constructor(options: RepairIPAddressesOptions) {
    this.#options = options
  }

  async runOnce(): Promise<void> {
    const addresses = await this.#options.addresses.list()
    const [services, ranges] = await Promise.all([this.#options.services(), this.#options.ranges()])
    const byName = new Map(addresses.map((address) => [address.metadata?.name ?? '', address]))
    const byKey = new Map(services.map((service) => [keyOf(service.metadata), service]))
    for (const service of services)
      for (const ip of addressesOf(service)) await this.#retake(service, ip, { ranges, byName, byKey })
    for (const address of addresses) await this.#release(address, byKey)
  }

  /** Takes what a service has and nobody holds for it. */
  async #retake(service: Service, ip: string, known: Known): Promise<void> {
    const { addresses, logger } = this.#options
    const { namespace = '', name = '' } = service.metadata ?? {}
    const address = parseAddress(ip)
    const held = known.byName.get(ip)
    if (address === undefined || !known.ranges.some((range) => range.contains(address))) {
      logger.warn({ namespace, name, ip }, 'a cluster IP is in no service range; recreate the service')
      return
    }
    if (held === undefined) {
      const taken = await addresses.create(ip, { namespace, name })
      if (taken) logger.warn({ namespace, name, ip }, 'a cluster IP was not allocated; it is now')
      return
    }
    const parent = held.spec?.parentRef ?? {}
    const isService = (parent.group ?? '') === '' && parent.resource === 'services'
    const other = isService ? known.byKey.get(keyOf(parent)) : undefined
    const isOwn = isService && parent.namespace === namespace && parent.name === name
    if (!isOwn && other !== undefined && addressesOf(other).includes(ip)) {
      logger.warn({ namespace, name, ip }, 'two services have one cluster IP; recreate one of them')
      return
    }
    if (isOwn && hasRightLabels(held)) return
    await addresses.deleteSeen(held)
    await addresses.create(ip, { namespace, name })
  }

  /** Gives back what is held for nobody. */
  async #release(address: IPAddress, byKey: ReadonlyMap<string, Service>): Promise<void> {
    const { addresses, clock, logger } = this.#options
    if (!isAllocated(address)) return
    const parent = address.spec?.parentRef ?? {}
    const isService = (parent.group ?? '') === '' && parent.resource === 'services'
    const service = isService ? byKey.get(keyOf(parent)) : undefined
    const name = address.metadata?.name ?? ''
    if (service !== undefined && addressesOf(service).includes(name)) return
    if (isService && clock.now() - Date.parse(address.metadata?.creationTimestamp ?? '') <= GRACE_MS) return
    logger.warn({ ip: name, parent }, 'an IPAddress belongs to no service; it is given back')
    await addresses.deleteSeen(address)
  }
}

interface Known {
  readonly ranges: readonly IPRange[]
  readonly byName: ReadonlyMap<string, IPAddress>
  readonly byKey: ReadonlyMap<string, Service>
}

const keyOf = ({ namespace = '', name = '' }: { namespace?: string; name?: string } = {}): string =>
  `${namespace}/${name}`

const addressesOf = ({ spec = {} }: Service): readonly string[] =>
  needsClusterIP(spec) ? (spec.clusterIPs ?? []).filter((ip) => ipFamilyOf(ip) !== undefined) : []
