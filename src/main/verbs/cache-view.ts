/** Thread: main. Shared memory as the front end reads it. */

import type { ArenaReader, ClockView } from '../../cacher/memory/shared-memory.js'
import type { CacheClient } from '../../cacher/read/cache-client.js'
import type { ResourceCache } from '../../cacher/read/resource-cache.js'
import type { CacheView } from './read-context.js'

export class ClientCacheView implements CacheView {
  readonly clock: ClockView
  readonly #client: CacheClient
  readonly #resources = new Map<string, ResourceCache>()

  constructor(client: CacheClient) {
    this.#client = client
    this.clock = client.clock()
  }

  arena(name: string): ArenaReader | undefined {
    return this.#resource(name).arena()
  }

  fallen(name: string): boolean {
    return this.#resource(name).fallen()
  }

  #resource(name: string): ResourceCache {
    let resource = this.#resources.get(name)
    if (resource === undefined) {
      resource = this.#client.resource(name)
      this.#resources.set(name, resource)
    }
    return resource
  }

  fence(): true | Promise<boolean> {
    return this.#client.fence().pass()
  }
}
