/**
 * Thread: pool. Writes of the rules that decide about requests (policies, their bindings, webhook configurations) are acknowledged
 * when they are in force: when shared memory, which every thread of this server goes by, has them. With the embedded storage
 * that is so at once; with etcd the write is known here before its event has come, so the fence of linearizable reads is
 * waited for. Other servers follow with the event.
 */
import type { RequestInfo } from '../../api/request-info.js'
import type { CacheClient } from '../../cacher/read/cache-client.js'
import { factsOf } from '../../registry/facts-table.js'

export class RulesInForce {
  readonly #cache: CacheClient

  constructor(cache: CacheClient) {
    this.#cache = cache
  }

  /** To be waited for after a write and before its answer. False: memory could not be brought there in time. */
  reached({ apiGroup: group, resource }: Pick<RequestInfo, 'apiGroup' | 'resource'>): true | Promise<boolean> {
    const { inForceWhenAcknowledged = false } = factsOf({ group, resource })
    return inForceWhenAcknowledged ? this.#cache.resource(`${resource}.${group}`).fence.pass() : true
  }
}
