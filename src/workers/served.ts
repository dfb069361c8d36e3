/** Thread: main. What is served, in plain data: for the front end its paths, for the owner its prefixes. */
import type { Catalogue } from '../api/catalogue.js'
import { formatGroupResource } from '../api/group-version.js'
import type { OwnerResource } from '../protocol/main-owner.js'
import type { EtcdOptions } from '../storage/factory-options.js'
import { WatchCacheSizes } from '../storage/factory-overrides.js'
import { type StorageConfig, transportKey } from '../storage/storage-config.js'
import { openScheme } from './scheme.js'

export interface ServedPath {
  readonly info: Catalogue['resources'][number]
  readonly arena: string
  readonly keyPrefix: string
  readonly direct: boolean
  readonly itemsCarryKind: boolean
  readonly selectableFields: readonly string[]
}

export interface Served {
  readonly catalogue: Catalogue
  readonly clusters: readonly StorageConfig[]
  readonly owned: readonly OwnerResource[]
  readonly resources: readonly ServedPath[]
}

export function openServed(etcdOptions: EtcdOptions): Served {
  const { catalogue, stored, storageFactory } = openScheme(etcdOptions, undefined)
  const clusters = storageFactory.configs()
  const clusterOf = new Map(clusters.map((config, i) => [transportKey(config), i]))
  const sizes = new WatchCacheSizes(etcdOptions.watchCacheSizes)
  const owned: OwnerResource[] = []
  for (const { groupResource, arena } of stored.values()) {
    if (!etcdOptions.watchCache || !sizes.cached(groupResource)) continue
    const resourcePrefix = `/${storageFactory.resourcePrefix(groupResource)}`
    // Two names of one store share an arena: the first has it.
    if (owned.some((other) => other.resource === arena)) continue
    const { codec: _codec, transformer: _transformer, ...config } = storageFactory.newConfig(groupResource)
    owned.push({ resource: arena, resourcePrefix, cluster: clusterOf.get(transportKey(config)) ?? 0 })
  }
  const resources = catalogue.resources.map((info): ServedPath => {
    const name = formatGroupResource({ group: info.group, resource: info.resource })
    const entry = stored.get(name)
    const prefix = entry === undefined ? info.resource : storageFactory.resourcePrefix(entry.groupResource)
    return {
      info,
      arena: entry?.arena ?? name,
      keyPrefix: `${etcdOptions.etcdPrefix}/${prefix}/`,
      direct: entry?.info.version === info.version && entry.info.group === info.group,
      itemsCarryKind: false,
      selectableFields: entry?.fields.map((field) => field.name) ?? [],
    }
  })
  return { catalogue, clusters, owned, resources }
}
