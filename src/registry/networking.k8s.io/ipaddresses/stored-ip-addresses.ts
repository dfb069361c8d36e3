/** Thread: pool. Cluster IPs as stored IPAddress objects. */
import type { IPAddress } from '../../../api/generated/kinds/networking.v1.js'
import type { KubeObject } from '../../../api/object.js'
import type { Clock } from '../../../lib/clock.js'
import { isNotFound, isStorageError } from '../../../storage/contract/errors.js'
import type { Storage } from '../../../storage/contract/interface.js'
import type { AddressParent, IPAddresses } from '../../core/services/allocator/cluster-ip-allocator.js'
import { listAll } from '../../generic/list-all.js'
import { addressOfService } from './ip-address.js'

export interface StoredIPAddressesOptions {
  readonly storage: Storage<KubeObject>
  /** With the slash at its end. */
  readonly keyRoot: string
  readonly clock: Clock
}

export class StoredIPAddresses implements IPAddresses {
  readonly #options: StoredIPAddressesOptions

  constructor(options: StoredIPAddressesOptions) {
    this.#options = options
  }

  async create(address: string, parent: AddressParent): Promise<boolean> {
    const { storage, keyRoot, clock } = this.#options
    try {
      await storage.create(`${keyRoot}${address}`, addressOfService(address, parent, clock.now()))
      return true
    } catch (error) {
      if (isStorageError(error) && error.code === 'key-exists') return false
      throw error
    }
  }

  async delete(address: string, parent: AddressParent): Promise<void> {
    await this.#delete(address, (found) => {
      const { namespace = '', name = '' } = found.spec?.parentRef ?? {}
      if (namespace !== parent.namespace || name !== parent.name) throw new NotTheParents()
    })
  }

  /** Whoever it belongs to, when it is still the object that the caller has seen. */
  async deleteSeen(seen: IPAddress): Promise<void> {
    await this.#delete(seen.metadata?.name ?? '', (found) => {
      if (found.metadata?.uid !== seen.metadata?.uid) throw new NotTheParents()
    })
  }

  async has(address: string): Promise<boolean> {
    const { storage, keyRoot } = this.#options
    const found = await storage.get(`${keyRoot}${address}`, { resourceVersion: '0', ignoreNotFound: true })
    return found.metadata?.name !== undefined
  }

  async list(): Promise<IPAddress[]> {
    const { storage, keyRoot } = this.#options
    return listAll(storage, keyRoot, { newest: true })
  }

  async #delete(address: string, validateDeletion: (found: IPAddress) => void): Promise<void> {
    const { storage, keyRoot } = this.#options
    try {
      await storage.delete(`${keyRoot}${address}`, { validateDeletion })
    } catch (error) {
      if (!isNotFound(error) && !(error instanceof NotTheParents)) throw error
    }
  }
}

/** Leaves a transaction without deleting. */
class NotTheParents extends Error {}
