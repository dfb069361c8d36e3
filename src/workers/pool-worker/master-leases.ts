/** Thread: pool. The servers on one storage, each under its address for as long as it renews: /registry/masterleases. */
import type { KubeObject } from '../../api/object.js'
import { metadataOf, nextGeneration } from '../../api/object.js'
import { listAll } from '../../registry/generic/list-all.js'
import { isNotFound } from '../../storage/contract/errors.js'
import type { Storage } from '../../storage/contract/interface.js'

const PREFIX = '/masterleases/'

interface LeaseRecord extends KubeObject {
  subsets?: { addresses?: { ip?: string }[] }[]
}

export class MasterLeases {
  readonly #storage: Storage<KubeObject>

  constructor(storage: Storage<KubeObject>) {
    this.#storage = storage
  }

  /** The addresses of all servers that are there. */
  async list(): Promise<string[]> {
    const records: LeaseRecord[] = await listAll(this.#storage, PREFIX, { newest: true })
    return records.flatMap(({ subsets }) => subsets?.[0]?.addresses?.[0]?.ip ?? [])
  }

  async hold(ip: string, ttlSeconds: number): Promise<void> {
    await this.#storage.guaranteedUpdate(
      `${PREFIX}${ip}`,
      (existing: LeaseRecord) => {
        existing.subsets = [{ addresses: [{ ip }] }]
        // Metadata is changed, because a write without a change would not be one and would not renew the lease.
        const metadata = metadataOf(existing)
        metadata.generation = nextGeneration(metadata)
        return { object: existing, ttlSeconds }
      },
      { ignoreNotFound: true },
    )
  }

  async drop(ip: string): Promise<void> {
    try {
      await this.#storage.delete(`${PREFIX}${ip}`)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }
}
