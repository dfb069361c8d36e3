/**
 * Thread: any. The resources as a thread sees them: what is served, its schemas, where it is stored. The built-in ones are
 * there from the start; defined ones come, change and go, and every getter tells of the set as it is now.
 */
import { BuiltinSchemas } from '../../api/builtin-schema.js'
import { Catalogue } from '../../api/catalogue.js'
import { formatGroupResource, formatGroupVersion, type GroupResource } from '../../api/group-version.js'
import { definedType } from '../../api/openapi/structural-schema.js'
import { type ResourceDefinition, resourceInfos } from '../../api/resource-definition.js'
import { servedByConfig } from '../../api/runtime-config.js'
import type { ScalarSchema, SchemaSource, StructSchema } from '../../api/schema.js'
import { assert } from '../../lib/assert.js'
import type { ResourceChange } from '../../protocol/resource-change.js'
import { storageExceptions } from '../../registry/facts-table.js'
import { type RulesSource, type StoredResource, storedResources } from '../../registry/stored-resource.js'
import {
  CustomResourceStorageFactory,
  type DefaultStorageFactory,
  newStorageFactory,
  type StorageFactory,
  type StorageFactoryDependencies,
} from '../../storage/factory/factory.js'
import { type EtcdOptions, storageConfigOf } from '../../storage/factory/factory-options.js'
import type {
  StorageCodecConfig,
  StorageConfig,
  StorageConfigForResource,
} from '../../storage/factory/storage-config.js'
import { internalKind } from './internal-storages.js'
import { StorageCodec } from './storage-codec.js'

/** What every thread is started with, in plain data. */
export interface SchemeOptions {
  readonly etcdOptions: EtcdOptions
  readonly runtimeConfig: readonly string[]
}

type Transformers = StorageFactoryDependencies['transformers']

interface DefinedResource {
  readonly definition: ResourceDefinition
  readonly stored: StoredResource
  /** By version. */
  readonly types: ReadonlyMap<string, StructSchema>
}

export class Scheme implements SchemaSource, StorageFactory {
  readonly #rulesOf: RulesSource
  readonly #builtinSchemas = new BuiltinSchemas()
  readonly #builtinCatalogue: Catalogue
  readonly #builtinStored: ReadonlyMap<string, StoredResource>
  readonly #builtinStorage: DefaultStorageFactory
  readonly #definedStorage: CustomResourceStorageFactory
  readonly #defined = new Map<string, DefinedResource>()
  #catalogue: Catalogue

  /** `rulesOf` is the table of rules in threads that look into objects. The others have none, and load no strategy for it. */
  constructor({ etcdOptions, runtimeConfig }: SchemeOptions, transformers: Transformers, rulesOf: RulesSource) {
    const all = Catalogue.builtin()
    this.#rulesOf = rulesOf
    this.#builtinCatalogue = servedByConfig(runtimeConfig, all)
    this.#catalogue = this.#builtinCatalogue
    this.#builtinStored = new Map(
      storedResources(this.#catalogue, all, rulesOf).map((resource) => [resource.name, resource]),
    )
    const newCodec = (config: StorageCodecConfig) => this.#newCodec(config)
    const optional = transformers === undefined ? {} : { transformers }
    this.#builtinStorage = newStorageFactory(etcdOptions, {
      newCodec,
      versionsOf: (group) => all.versions(group),
      groupEnabled: (group) => this.#builtinCatalogue.groups().includes(group),
      exceptions: storageExceptions(),
      ...optional,
    })
    this.#definedStorage = new CustomResourceStorageFactory({
      config: storageConfigOf(etcdOptions),
      newCodec,
      storageVersionOf: (resource) => this.#defined.get(formatGroupResource(resource))?.definition.storageVersion,
      ...optional,
    })
  }

  /** What is served. */
  get catalogue(): Catalogue {
    return this.#catalogue
  }

  /** By name: `deployments.apps`. */
  stored(name: string): StoredResource | undefined {
    return this.#builtinStored.get(name) ?? this.#defined.get(name)?.stored
  }

  builtinStored(): Iterable<StoredResource> {
    return this.#builtinStored.values()
  }

  apply(change: ResourceChange): void {
    if (change.type === 'remove') this.#defined.delete(formatGroupResource(change.groupResource))
    else this.#set(change.definition)
    const defined = [...this.#defined.values()].flatMap(({ definition }) => resourceInfos(definition))
    const served = defined.filter((info) => info.servedByDefault)
    this.#catalogue = new Catalogue([...this.#builtinCatalogue.resources, ...served])
  }

  definition(name: string): StructSchema | ScalarSchema | undefined {
    const builtin = this.#builtinSchemas.definition(name)
    if (builtin !== undefined) return builtin
    for (const { types } of this.#defined.values())
      for (const type of types.values()) if (type.name === name) return type
    return undefined
  }

  kind(group: string, version: string, kind: string): StructSchema | undefined {
    for (const { definition, types } of this.#defined.values())
      if (definition.group === group && definition.kind === kind) return types.get(version)
    return this.#builtinSchemas.kind(group, version, kind)
  }

  newConfig(resource: GroupResource): StorageConfigForResource {
    return this.#storageFactory(resource).newConfig(resource)
  }

  resourcePrefix(resource: GroupResource): string {
    return this.#storageFactory(resource).resourcePrefix(resource)
  }

  configs(): StorageConfig[] {
    return this.#builtinStorage.configs()
  }

  #storageFactory(resource: GroupResource): StorageFactory {
    return this.#defined.has(formatGroupResource(resource)) ? this.#definedStorage : this.#builtinStorage
  }

  #set(definition: ResourceDefinition): void {
    const infos = resourceInfos(definition)
    const { group, resource, kind, storageVersion, versions } = definition
    const name = formatGroupResource(definition)
    const hub = infos.filter((info) => info.version === storageVersion)
    const [stored] = storedResources(new Catalogue(hub), new Catalogue(hub), this.#rulesOf)
    assert(stored !== undefined, `the storage version of ${name} is one of its versions`)
    const selectable = [...new Set(versions.flatMap((version) => version.selectableFields ?? []))]
    const fields = [...stored.fields, ...selectable.map((path) => ({ name: path }))]
    const prefix = group.split('.').reverse().join('.')
    const types = new Map(
      versions.map((version) => [
        version.name,
        definedType(version.schema, `${prefix}.${version.name}.${kind}`, this.#builtinSchemas),
      ]),
    )
    this.#defined.set(formatGroupResource({ group, resource }), { definition, stored: { ...stored, fields }, types })
  }

  #newCodec({ groupResource, mediaType, storageVersion }: StorageCodecConfig): StorageCodec {
    const name = formatGroupResource(groupResource)
    const stored = this.stored(name) ?? internalKind(name)
    assert(stored !== undefined, `${name} is not stored`)
    return new StorageCodec({ stored, schemas: this, mediaType, apiVersion: formatGroupVersion(storageVersion) })
  }
}
