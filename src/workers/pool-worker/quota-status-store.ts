/** Thread: pool. The status of quotas as admission writes it: inside the storage's transaction, as the server's own manager. */

import type { QuotaStatusStore } from '../../admission/plugins/quota/quota-ledger.js'
import type { ResourceQuota, ResourceQuotaStatus } from '../../api/generated/kinds/core.v1.js'
import type { JsonObject, KubeObject } from '../../api/object.js'
import type { Clock } from '../../lib/clock.js'
import { isNotFound } from '../../storage/contract/errors.js'
import type { EndpointTable } from '../endpoints/endpoint-table.js'

const MANAGER = 'kube-apiserver'

/** Leaves a transaction's function without writing. */
class NothingToWrite extends Error {}

export class RegistryQuotaStatusStore implements QuotaStatusStore {
  readonly #endpoints: EndpointTable
  readonly #clock: Clock

  constructor(endpoints: EndpointTable, clock: Clock) {
    this.#endpoints = endpoints
    this.#clock = clock
  }

  /** Has no effect on a quota that is gone, which limits nothing. */
  async update(
    namespace: string,
    name: string,
    change: (quota: ResourceQuota) => Promise<ResourceQuotaStatus | undefined>,
  ): Promise<void> {
    const { store, fieldManager } = this.#endpoints.find({
      apiGroup: '',
      apiVersion: 'v1',
      resource: 'resourcequotas',
      subresource: 'status',
    })
    try {
      await store.storage.guaranteedUpdate(store.key(namespace, name), async (existing) => {
        const status = await change(existing)
        if (status === undefined) throw new NothingToWrite()
        const wanted = { ...structuredClone(existing), status } as unknown as JsonObject
        const object = fieldManager.update(structuredClone(existing) as JsonObject, wanted, MANAGER, {
          now: this.#clock.now(),
        })
        return { object: object as KubeObject }
      })
    } catch (error) {
      if (!(error instanceof NothingToWrite) && !isNotFound(error)) throw error
    }
  }
}
