/** Thread: main. What is served, in plain data: for the front end its paths, for the owner its prefixes. */

import type { Catalogue } from '../../api/catalogue.js'
import { formatGroupResource, type GroupResource } from '../../api/group-version.js'
import type { DefinedVersion, ResourceDefinition } from '../../api/resource-definition.js'
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
  /** Labels and fields are known only once a webhook has converted an object: the pool selects. */
  readonly selectsConverted: boolean
  readonly isCustom: boolean
  readonly selectableFields: readonly string[]
  /** Those of the selectable fields that no object has. */
  readonly phantomFields: readonly string[]
  /** The warning that every answer carries; undefined for most resources. */
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
      // Two names of one store share an arena, which the first name has.
      if (owned.some((other) => other.resource === stored.arena)) continue
      const resource = this.#owned(stored)
      if (resource !== undefined) owned.push(resource)
    }
    return owned
  }

  /** Undefined when the resource is not to be cached. */
  definedOwned(definition: ResourceDefinition): OwnerResource | undefined {
    const stored = this.#scheme.stored(formatGroupResource(definition))
    const owned = stored === undefined ? undefined : this.#owned(stored)
    return owned === undefined ? undefined : { ...owned, definition }
  }

  resources(): ServedPath[] {
    return this.#scheme.catalogue.resources.map((info) => this.#path(info))
  }

  /** The paths of a defined resource; none when it is not served, or not any more. */
  definedPaths(groupResource: GroupResource): ServedPath[] {
    return this.#scheme.served(formatGroupResource(groupResource)).map((info) => this.#path(info))
  }

  #owned({ groupResource, arena }: StoredResource): OwnerResource | undefined {
    const isCached = this.#options.etcdOptions.watchCache && this.#sizes.cached(groupResource)
    const { alwaysCached: unlimited = false } = factsOf(groupResource)
    if (!isCached && !unlimited) return undefined
    const cluster = this.#clusterOf.get(transportKey(this.#scheme.newConfig(groupResource))) ?? 0
    return { resource: arena, resourcePrefix: `/${this.#scheme.resourcePrefix(groupResource)}`, cluster, unlimited }
  }

  /** A version of a custom resource is selected by the fields that it names itself. */
  #selectable(info: Catalogue['resources'][number], stored: StoredResource | undefined): string[] {
    const version = this.#version(info)
    if (version === undefined) return fieldLabels(info, stored?.fields.map((field) => field.name) ?? [])
    const metadata = info.namespaced ? ['metadata.name', 'metadata.namespace'] : ['metadata.name']
    return [...metadata, ...(version.selectableFields ?? [])]
  }

  /** Whether memory holds the objects as they are shown. */
  #isDirect(info: Catalogue['resources'][number], stored: StoredResource | undefined): boolean {
    if (this.#definition(info)?.mixesVersions === true) return false
    return stored?.info.version === info.version && stored.info.group === info.group
  }

  #definition(info: Catalogue['resources'][number]): ResourceDefinition | undefined {
    return this.#scheme.defined(formatGroupResource(info))
  }

  #version(info: Catalogue['resources'][number]): DefinedVersion | undefined {
    return this.#definition(info)?.versions.find(({ name }) => name === info.version)
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
      direct: this.#isDirect(info, stored),
      selectsConverted: this.#definition(info)?.convertsByWebhook === true && !this.#isDirect(info, stored),
      isCustom: info.definitionHash !== undefined,
      selectableFields: this.#selectable(info, stored),
      phantomFields,
      connects,
      deprecation: deprecation?.[info.version] ?? this.#version(info)?.deprecation,
    }
  }
}
