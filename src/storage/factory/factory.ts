/**
 * Thread: any. Where and how each resource is stored. Built-in resources go through DefaultStorageFactory with its
 * overrides; custom ones through CustomResourceStorageFactory, which knows them by nothing but their name.
 */
import { formatGroupResource, type GroupResource, type GroupVersion } from '../../api/group-version.js'
import type { KubeObject } from '../../api/object.js'
import type { Codec } from '../contract/interface.js'
import { encryptCheckTransformer } from '../transformers/encrypt-check.js'
import { type ResourceTransformers, StaticTransformers } from '../transformers/resource-transformers.js'
import { DEFAULT_MEDIA_TYPE } from './factory-defaults.js'
import { type EtcdOptions, storageConfigOf } from './factory-options.js'
import { parseEtcdServersOverride } from './factory-overrides.js'
import {
  type MediaType,
  type StorageCodecConfig,
  type StorageConfig,
  StorageConfigError,
  type StorageConfigForResource,
  type StorageException,
  transportKey,
} from './storage-config.js'

export interface StorageFactory {
  /** Throws StorageConfigError for a resource that nobody knows how to store. */
  newConfig(resource: GroupResource): StorageConfigForResource
  /** The prefix of the resource below the storage prefix, without slashes at its ends: `services/specs`. */
  resourcePrefix(resource: GroupResource): string
  /** One configuration for each set of servers: those that health checks and monitors look at. */
  configs(): StorageConfig[]
}

export type NewCodec = (config: StorageCodecConfig) => Codec<KubeObject>

/** What one resource, or with `*` a whole group, has instead of what holds for all. */
interface ResourceOverride {
  servers?: readonly string[]
  /** The prefix of the resource below the storage prefix. */
  resourcePrefix?: string
  mediaType?: MediaType
  storageVersion?: string
  cohabitating?: readonly GroupResource[]
}

export interface DefaultStorageFactoryOptions {
  readonly config: StorageConfig
  readonly mediaType: MediaType
  readonly newCodec: NewCodec
  /** Versions of a built-in group, the preferred one first; none for a group that is not built in. */
  readonly versionsOf: (group: string) => readonly string[]
  /** Whether any resource of the group is stored. */
  readonly groupEnabled: (group: string) => boolean
  readonly transformers?: ResourceTransformers
}

const ALL_RESOURCES = '*'

export class DefaultStorageFactory implements StorageFactory {
  readonly #options: DefaultStorageFactoryOptions
  readonly #transformers: ResourceTransformers
  readonly #overrides = new Map<string, ResourceOverride>()

  constructor(options: DefaultStorageFactoryOptions) {
    this.#options = options
    this.#transformers = options.transformers ?? new StaticTransformers(new Map())
  }

  setEtcdLocation(resource: GroupResource, servers: readonly string[]): void {
    this.#override(resource, { servers })
  }

  setResourceEtcdPrefix(resource: GroupResource, resourcePrefix: string): void {
    this.#override(resource, { resourcePrefix })
  }

  setMediaType(resource: GroupResource, mediaType: MediaType): void {
    this.#override(resource, { mediaType })
  }

  setStorageVersion(resource: GroupResource, storageVersion: string): void {
    this.#override(resource, { storageVersion })
  }

  /** Names resources that share their objects, in order of preference. */
  addCohabitatingResources(resources: readonly GroupResource[]): void {
    for (const resource of resources) this.#override(resource, { cohabitating: resources })
  }

  addException({ groupResource, prefix, version, mediaType, cohabitating = [] }: StorageException): void {
    // One set of objects has one prefix, under whichever name the objects are stored.
    if (prefix !== undefined)
      for (const resource of [groupResource, ...cohabitating]) this.setResourceEtcdPrefix(resource, prefix)
    if (version !== undefined) this.setStorageVersion(groupResource, version)
    if (mediaType !== undefined) this.setMediaType(groupResource, mediaType)
    this.addCohabitatingResources(cohabitating)
  }

  newConfig(resource: GroupResource): StorageConfigForResource {
    const { config, newCodec } = this.#options
    const stored = this.#storageResource(resource)
    const override = this.#overrideFor(stored)
    const codecConfig = {
      groupResource: resource,
      mediaType: override.mediaType ?? this.#options.mediaType,
      storageVersion: this.#storageVersion(stored, override),
    }
    const transport = { ...config.transport, servers: override.servers ?? config.transport.servers }
    return {
      ...config,
      transport,
      ...codecConfig,
      codec: newCodec(codecConfig),
      transformer: this.#transformers.transformerForResource(stored),
    }
  }

  resourcePrefix(resource: GroupResource): string {
    const stored = this.#storageResource(resource)
    return this.#overrideFor(stored).resourcePrefix ?? stored.resource.toLowerCase()
  }

  configs(): StorageConfig[] {
    const { config } = this.#options
    const all = [...this.#overrides.values()].flatMap(({ servers }) =>
      servers === undefined ? [] : [{ ...config, transport: { ...config.transport, servers } }],
    )
    return [...new Map([config, ...all].map((c) => [transportKey(c), c])).values()]
  }

  #override(resource: GroupResource, change: ResourceOverride): void {
    const key = formatGroupResource(resource)
    this.#overrides.set(key, { ...this.#overrides.get(key), ...change })
  }

  #overrideFor(resource: GroupResource): ResourceOverride {
    return {
      ...this.#overrides.get(formatGroupResource({ group: resource.group, resource: ALL_RESOURCES })),
      ...this.#overrides.get(formatGroupResource(resource)),
    }
  }

  /** The resource under whose name the objects are stored, of those that share them. */
  #storageResource(resource: GroupResource): GroupResource {
    const shared = this.#overrides.get(formatGroupResource(resource))?.cohabitating ?? []
    return shared.find(({ group }) => this.#options.groupEnabled(group)) ?? resource
  }

  #storageVersion({ group, resource }: GroupResource, override: ResourceOverride): GroupVersion {
    const version = override.storageVersion ?? this.#options.versionsOf(group)[0]
    if (version !== undefined) return { group, version }
    const name = formatGroupResource({ group, resource })
    throw new StorageConfigError(`no storage destination for ${name}: there is no group ${JSON.stringify(group)}`)
  }
}

export interface StorageFactoryDependencies
  extends Pick<DefaultStorageFactoryOptions, 'newCodec' | 'versionsOf' | 'groupEnabled' | 'transformers'> {
  /** The resources that are stored in another way than most. */
  readonly exceptions: readonly StorageException[]
}

/** The factory of kube-apiserver v1.36, changed as valid flags ask. */
export function newStorageFactory(
  options: EtcdOptions,
  dependencies: StorageFactoryDependencies,
): DefaultStorageFactory {
  const factory = new DefaultStorageFactory({
    ...dependencies,
    config: storageConfigOf(options),
    mediaType: (options.storageMediaType || DEFAULT_MEDIA_TYPE) as MediaType,
  })
  for (const exception of dependencies.exceptions) factory.addException(exception)
  for (const text of options.etcdServersOverrides) {
    const { groupResource, servers } = parseEtcdServersOverride(text)
    factory.setEtcdLocation(groupResource, servers)
  }
  return factory
}

export interface CustomResourceStorageFactoryOptions {
  readonly config: StorageConfig
  readonly newCodec: NewCodec
  /** The storage version that the definition names; undefined when there is no definition. */
  readonly storageVersionOf: (resource: GroupResource) => string | undefined
  readonly transformers?: ResourceTransformers
}

/** Custom resources are stored as JSON, under `group/resource`; server overrides do not reach them. */
export class CustomResourceStorageFactory implements StorageFactory {
  readonly #options: CustomResourceStorageFactoryOptions

  constructor(options: CustomResourceStorageFactoryOptions) {
    this.#options = options
  }

  newConfig(resource: GroupResource): StorageConfigForResource {
    const { config, newCodec, storageVersionOf, transformers } = this.#options
    const version = storageVersionOf(resource)
    if (version === undefined) {
      throw new StorageConfigError(`no storage destination for ${formatGroupResource(resource)}: it is not defined`)
    }
    const codecConfig: StorageCodecConfig = {
      groupResource: resource,
      mediaType: 'application/json',
      storageVersion: { group: resource.group, version },
    }
    return {
      ...config,
      ...codecConfig,
      codec: newCodec(codecConfig),
      transformer: transformers?.transformerForResource(resource) ?? encryptCheckTransformer,
    }
  }

  resourcePrefix({ group, resource }: GroupResource): string {
    return `${group}/${resource}`
  }

  configs(): StorageConfig[] {
    return [this.#options.config]
  }
}
