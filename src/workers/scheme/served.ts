/** Thread: main. What is served, in plain data: for the front end its paths, for the owner its prefixes. */

import type { Catalogue } from '../../api/catalogue.js'
import { formatGroupResource } from '../../api/group-version.js'
import type { ResourceDefinition } from '../../api/resource-definition.js'
import type { OwnerResource } from '../../protocol/main-owner.js'
import type { ResourceChange } from '../../protocol/resource-change.js'
import { factsOf } from '../../registry/facts-table.js'
import { fieldLabels } from '../../registry/field-labels.js'
import type { ResourceFacts } from '../../registry/generic/resource-facts.js'
import type { ResourceRules } from '../../registry/generic/resource-rules.js'
import type { StoredResource } from '../../registry/stored-resource.js'
import { normalizePathPrefix } from '../../storage/contract/storage-key.js'
import { WatchCacheSizes } from '../../storage/factory/factory-overrides.js'
import { type StorageConfig, transportKey } from '../../storage/factory/storage-config.js'
import { Scheme, type SchemeOptions } from './scheme.js'

const NO_RULES: ResourceRules = {}

export interface ServedPath {
  readonly info: Catalogue['resources'][number]
  readonly arena: string
  readonly keyPrefix: string
  readonly direct: boolean
  readonly itemsCarryKind: boolean
  readonly selectableFields: readonly string[]
  /** Of them, those that no object has. */
  readonly phantomFields: readonly string[]
  /** The warning with every answer; undefined for most. */
  readonly deprecation: string | undefined
  /** Subresources that another server answers. */
  readonly connects: NonNullable<ResourceFacts['connects']>
}

/** The resources of a scheme, as the threads that do not look into objects know them. */
export class Served {
  readonly #options: SchemeOptions
  readonly #scheme: Scheme
  readonly #sizes: WatchCacheSizes
  readonly #clusterOf: ReadonlyMap<string, number>
  readonly clusters: readonly StorageConfig[]

  constructor(options: SchemeOptions) {
    this.#options = options
    this.#scheme = new Scheme(options, undefined, () => NO_RULES)
    this.#sizes = new WatchCacheSizes(options.etcdOptions.watchCacheSizes)
    this.clusters = this.#scheme.configs()
    this.#clusterOf = new Map(this.clusters.map((config, i) => [transportKey(config), i]))
  }

  get catalogue(): Catalogue {
    return this.#scheme.catalogue
  }

  apply(change: ResourceChange): void {
    this.#scheme.apply(change)
  }

  /** What the owner caches from the start. */
  builtinOwned(): OwnerResource[] {
    const owned: OwnerResource[] = []
    for (const stored of this.#scheme.builtinStored()) {
      // Two names of one store share an arena: the first has it.
      if (owned.some((other) => other.resource === stored.arena)) continue
      const resource = this.#owned(stored)
      if (resource !== undefined) owned.push(resource)
    }
    return owned
  }

  /** Undefined when it is not to be cached. */
  definedOwned(definition: ResourceDefinition): OwnerResource | undefined {
    const stored = this.#scheme.stored(formatGroupResource(definition))
    const owned = stored === undefined ? undefined : this.#owned(stored)
    return owned === undefined ? undefined : { ...owned, definition }
  }

  resources(): ServedPath[] {
    return this.#scheme.catalogue.resources.map((info) => this.#path(info))
  }

  #owned({ groupResource, arena }: StoredResource): OwnerResource | undefined {
    const isCached = this.#options.etcdOptions.watchCache && this.#sizes.cached(groupResource)
    if (!isCached && factsOf(groupResource).alwaysCached !== true) return undefined
    const cluster = this.#clusterOf.get(transportKey(this.#scheme.newConfig(groupResource))) ?? 0
    return { resource: arena, resourcePrefix: `/${this.#scheme.resourcePrefix(groupResource)}`, cluster }
  }

  #path(info: Catalogue['resources'][number]): ServedPath {
    const name = formatGroupResource({ group: info.group, resource: info.resource })
    const stored = this.#scheme.stored(name)
    const { phantomFields = [], deprecation, connects = {} } = factsOf(info)
    const prefix = stored === undefined ? info.resource : this.#scheme.resourcePrefix(stored.groupResource)
    return {
      info,
      arena: stored?.arena ?? name,
      keyPrefix: `${normalizePathPrefix(this.#options.etcdOptions.etcdPrefix)}${prefix}/`,
      direct: stored?.info.version === info.version && stored.info.group === info.group,
      itemsCarryKind: info.definitionHash !== undefined,
      selectableFields: fieldLabels(info, stored?.fields.map((field) => field.name) ?? []),
      phantomFields,
      connects,
      deprecation: deprecation?.[info.version],
    }
  }
}
