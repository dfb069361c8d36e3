/** Thread: main, or a front end's own. The directory of services over this thread's view of shared memory. */
import { ServiceDirectory } from '../../aggregator/service-directory.js'
import type { CacheClient } from '../../cacher/read/cache-client.js'
import { assert } from '../../lib/assert.js'
import type { Served, ServedPath } from '../../workers/scheme/served.js'

export function serviceDirectory(
  cache: Pick<CacheClient, 'resource'>,
  served: Served,
  byEndpoints: boolean,
): ServiceDirectory {
  const paths = served.resources()
  const source = (
    group: string,
    resource: string,
  ): { view: ReturnType<CacheClient['resource']>; keyPrefix: string } => {
    const path: ServedPath | undefined = paths.find(({ info }) => info.group === group && info.resource === resource)
    assert(path !== undefined, `${resource} are served`)
    return { view: cache.resource(path.arena), keyPrefix: path.keyPrefix }
  }
  return new ServiceDirectory({
    services: source('', 'services'),
    endpointSlices: source('discovery.k8s.io', 'endpointslices'),
    byEndpoints,
    random: Math.random,
  })
}
