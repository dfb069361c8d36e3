/** Thread: any. The flags that say something of single resources. */
import { formatGroupResource, type GroupResource, parseGroupResource } from '../../api/group-version.js'
import { StorageConfigError } from './storage-config.js'

export interface EtcdServersOverride {
  readonly groupResource: GroupResource
  readonly servers: readonly string[]
}

/**
 * Reads one value of --etcd-servers-overrides: `group/resource#server;server`, `/events#http://etcd:2379` for the core
 * group.
 */
export function parseEtcdServersOverride(text: string): EtcdServersOverride {
  const [names, list, ...tooMany] = text.split('#')
  const [group, resource, ...more] = (names ?? '').split('/')
  const servers = (list ?? '').split(';')
  if (tooMany.length > 0 || more.length > 0 || group === undefined || !resource || servers.includes('')) {
    throw new StorageConfigError(
      `--etcd-servers-overrides: ${JSON.stringify(text)} is not of the form group/resource#server;server`,
    )
  }
  for (const server of servers) checkServerUrl('--etcd-servers-overrides', server)
  return { groupResource: { group, resource }, servers }
}

export function checkServerUrl(flag: string, server: string): void {
  const protocol = URL.canParse(server) ? new URL(server).protocol : ''
  if (protocol === 'http:' || protocol === 'https:') return
  throw new StorageConfigError(`${flag}: ${JSON.stringify(server)} is not a URL such as https://10.0.0.1:2379`)
}

export interface WatchCacheSize {
  readonly groupResource: GroupResource
  readonly size: number
}

/**
 * Reads one value of --watch-cache-sizes: `resource[.group]#size`. The size says only whether there is a cache: 0 is
 * none.
 */
export function parseWatchCacheSize(text: string): WatchCacheSize {
  const [name, size, ...tooMany] = text.split('#')
  if (!name || size === undefined || tooMany.length > 0) {
    throw new StorageConfigError(
      `--watch-cache-sizes: ${JSON.stringify(text)} is not of the form resource[.group]#size`,
    )
  }
  if (!/^[-+]?\d+$/.test(size)) {
    throw new StorageConfigError(`--watch-cache-sizes: the size in ${JSON.stringify(text)} is not a number`)
  }
  if (Number(size) < 0)
    throw new StorageConfigError(`--watch-cache-sizes: the size in ${JSON.stringify(text)} is negative`)
  return { groupResource: parseGroupResource(name), size: Number(size) }
}

/**
 * Which resources are cached, by `resource.group`. All are unless the flag says otherwise, events too: kube-apiserver
 * leaves events out to save a watch of their own, and here they come with the one stream in any case.
 */
export class WatchCacheSizes {
  readonly #sizes: ReadonlyMap<string, number>

  constructor(flags: readonly string[]) {
    const all = flags.map(parseWatchCacheSize)
    this.#sizes = new Map(all.map(({ groupResource, size }) => [formatGroupResource(groupResource), size]))
  }

  cached(resource: GroupResource): boolean {
    return this.#sizes.get(formatGroupResource(resource)) !== 0
  }
}
