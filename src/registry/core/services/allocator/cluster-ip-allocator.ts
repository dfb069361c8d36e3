/**
 * Thread: pool. Cluster IPs, kept as Kubernetes keeps them: an IPAddress object for each, whose name is the address, so
 * that the store itself refuses to give one twice. A free one is looked for in memory, then created: one round trip.
 */

import type { IPRange } from '../../../../api/network/ip-range.js'
import { type Address, formatAddress, parseAddress } from '../../../../api/validation/addresses.js'
import type { Random } from '../../../../lib/jitter.js'
import { AllocationError } from './allocation-error.js'

/** Whose an address is. */
export interface AddressParent {
  readonly namespace: string
  readonly name: string
}

export interface IPAddresses {
  /** False when it is taken. */
  create(address: string, parent: AddressParent): Promise<boolean>
  /** Only when it is the parent's. */
  delete(address: string, parent: AddressParent): Promise<void>
  /** As far as memory knows. */
  has(address: string): Promise<boolean>
}

export interface ServiceRanges {
  /** The ranges of all service CIDRs that are ready; `newest`: not what memory happens to have. */
  ready(newest: boolean): Promise<readonly IPRange[]>
}

export interface ClusterIPAllocatorOptions {
  readonly addresses: IPAddresses
  readonly ranges: ServiceRanges
  readonly random: Random
}

export class ClusterIPAllocator {
  readonly #options: ClusterIPAllocatorOptions

  constructor(options: ClusterIPAllocatorOptions) {
    this.#options = options
  }

  /** A given address. Throws AllocationError. */
  async allocate(text: string, parent: AddressParent, dryRun: boolean): Promise<void> {
    const address = parseAddress(text)
    if (address === undefined) throw new AllocationError('not-in-range', `failed to parse service IP "${text}"`)
    await this.#rangeOf(address)
    if (dryRun) return
    if (!(await this.#options.addresses.create(formatAddress(address), parent)))
      throw new AllocationError('allocated', 'provided IP is already allocated')
  }

  async allocateNext(family: string, parent: AddressParent, dryRun: boolean): Promise<string> {
    const { addresses, ranges } = this.#options
    for (const newest of [false, true]) {
      // Memory may not know yet of a range that somebody has just added, or of addresses that were given back.
      for (const range of await ranges.ready(newest)) {
        if (range.family !== family) continue
        if (dryRun) return range.networkAddress
        const found = await this.#firstFree(range, addresses, parent)
        if (found !== undefined) return found
      }
    }
    throw new AllocationError('full', 'range is full')
  }

  async release(text: string, parent: AddressParent): Promise<void> {
    const address = parseAddress(text)
    if (address !== undefined) await this.#options.addresses.delete(formatAddress(address), parent)
  }

  async #firstFree(range: IPRange, addresses: IPAddresses, parent: AddressParent): Promise<string | undefined> {
    for (const address of range.candidates(this.#options.random)) {
      if (await addresses.has(address)) continue
      if (await addresses.create(address, parent)) return address
    }
    return undefined
  }

  async #rangeOf(address: Address): Promise<IPRange> {
    const { ranges } = this.#options
    const found =
      (await ranges.ready(false)).find((range) => range.contains(address)) ??
      (await ranges.ready(true)).find((range) => range.contains(address))
    if (found !== undefined) return found
    throw new AllocationError('mismatched-network', 'the provided network does not match the current range')
  }
}
