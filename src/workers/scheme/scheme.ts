/**
 * Thread: any. The resources as a thread sees them: what is served, its schemas, where it is stored. The built-in ones are
 * there from the start; defined ones come, change and go, and every getter tells of the set as it is now.
 */
import { BuiltinSchemas } from '../../api/builtin-schema.js'
import { Catalogue, type ResourceInfo } from '../../api/catalogue.js'
import type { CustomResourceDefinition } from '../../api/generated/kinds/apiextensions.v1.js'
import { formatGroupResource, formatGroupVersion, type GroupResource } from '../../api/group-version.js'
import type { KubeObject } from '../../api/object.js'
import { type ResourceDefinition, resourceInfos } from '../../api/resource-definition.js'
import { servedByConfig } from '../../api/runtime-config.js'
import type { DocumentedKind, ScalarSchema, SchemaSource, StructSchema } from '../../api/schema.js'
import {
  type CompiledVersion,
  DefinitionSource,
  type ReadDefinition,
  typeName,
} from '../../apiextensions/definitions/definition-source.js'
import { documentedList, documentedObject } from '../../apiextensions/documents/published-schema.js'
import { assert } from '../../lib/assert.js'
import type { ResourceChange } from '../../protocol/resource-change.js'
import { storageExceptions } from '../../registry/facts-table.js'
import { type RulesSource, type StoredResource, storedResources } from '../../registry/stored-resource.js'
import type { Codec } from '../../storage/contract/interface.js'
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
import { CustomCodec } from './custom-codec.js'
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
  readonly served: readonly ResourceInfo[]
  readonly stored: StoredResource
}

/** Threads that do not look into objects have no definitions either. */
const NO_DEFINITIONS: ReadDefinition = () => undefined

export class Scheme implements SchemaSource, StorageFactory {
  readonly #rulesOf: RulesSource
  readonly #builtinSchemas = new BuiltinSchemas()
  readonly #builtinCatalogue: Catalogue
  /** The resources that are served, those that are defined included. */
  readonly catalogue: Catalogue
  readonly #builtinStored: ReadonlyMap<string, StoredResource>
  readonly #builtinStorage: DefaultStorageFactory
  readonly #definedStorage: CustomResourceStorageFactory
  readonly #defined = new Map<string, DefinedResource>()
  readonly #definedKinds = new Map<string, ResourceDefinition>()
  /** By the kinds of their lists. */
  readonly #definedLists = new Map<string, ResourceDefinition>()
  readonly #definitions: DefinitionSource

  /**
   * `rulesOf` is the table of rules in threads that look into objects. The other threads have none, so that they load
   * no strategy, and no `readDefinition`, by which schemas of defined resources are found.
   */
  constructor(
    { etcdOptions, runtimeConfig }: SchemeOptions,
    transformers: Transformers,
    rulesOf: RulesSource,
    readDefinition: ReadDefinition = NO_DEFINITIONS,
  ) {
    const all = Catalogue.builtin()
    this.#rulesOf = rulesOf
    this.#definitions = new DefinitionSource(readDefinition, this.#builtinSchemas)
    this.#builtinCatalogue = servedByConfig(runtimeConfig, all)
    this.catalogue = new Catalogue(this.#builtinCatalogue.resources)
    this.#builtinStored = new Map(
      storedResources(this.#builtinCatalogue, all, rulesOf).map((resource) => [resource.name, resource]),
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

  /** The versions of a defined resource that are served: no built-in resource has their path. */
  served(name: string): readonly ResourceInfo[] {
    return this.#defined.get(name)?.served ?? []
  }

  /** The resources among which another name of the same objects may be: a definition has its own versions and no more. */
  related(resource: GroupResource): readonly ResourceInfo[] {
    const name = formatGroupResource(resource)
    return this.#defined.has(name) ? this.served(name) : this.#builtinCatalogue.resources
  }

  /** The stored resource of a name such as `deployments.apps`. */
  stored(name: string): StoredResource | undefined {
    return this.#builtinStored.get(name) ?? this.#defined.get(name)?.stored
  }

  builtinStored(): Iterable<StoredResource> {
    return this.#builtinStored.values()
  }

  /** The definition of a resource that is not built in. */
  defined(name: string): ResourceDefinition | undefined {
    return this.#defined.get(name)?.definition
  }

  /** A version of a resource that is not built in, with its schema. Only threads that look into objects have one. */
  customVersion(definition: ResourceDefinition, version: string): CompiledVersion | undefined {
    return this.#definitions.version(definition, version)
  }

  /** The definition object of a resource that is not built in, as it lies in memory. */
  definitionOf(definition: ResourceDefinition): CustomResourceDefinition | undefined {
    return this.#definitions.definition(definition)
  }

  apply(change: ResourceChange): void {
    const name = formatGroupResource(change.type === 'remove' ? change.groupResource : change.definition)
    const { definition: before, served = [] } = this.#defined.get(name) ?? {}
    this.catalogue.remove(served)
    if (before !== undefined) {
      this.#definedKinds.delete(`${before.group}/${before.kind}`)
      this.#definedLists.delete(`${before.group}/${before.listKind}`)
    }
    if (change.type === 'remove') this.#defined.delete(name)
    else this.#set(change.definition)
    this.catalogue.add(this.served(name))
  }

  definition(name: string): StructSchema | ScalarSchema | undefined {
    return this.#builtinSchemas.definition(name)
  }

  kind(group: string, version: string, kind: string): StructSchema | undefined {
    const defined = this.#definedKinds.get(`${group}/${kind}`)
    if (defined === undefined) return this.#builtinSchemas.kind(group, version, kind)
    return this.#definitions.version(defined, version)?.schema.type
  }

  documented(group: string, version: string, kind: string): DocumentedKind | undefined {
    const object = this.#definedKinds.get(`${group}/${kind}`)
    const list = this.#definedLists.get(`${group}/${kind}`)
    const definition = object ?? list
    const spec = definition && this.customVersion(definition, version)?.spec
    if (definition === undefined || spec === undefined) return undefined
    const published = {
      kind: { group, version, kind: definition.kind },
      listKind: definition.listKind,
      plural: definition.resource,
      typeName: typeName(definition, version),
      listTypeName: typeName({ ...definition, kind: definition.listKind }, version),
      schema: spec.schema?.openAPIV3Schema,
      selectableFields: definition.versions.find(({ name }) => name === version)?.selectableFields ?? [],
      preserveUnknownFields: this.definitionOf(definition)?.spec?.preserveUnknownFields === true,
    }
    return object === undefined ? documentedList(published) : documentedObject(published)
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
    const { group, kind, listKind, storageVersion, versions } = definition
    const name = formatGroupResource(definition)
    const memoryInfos = infos.filter((info) => info.version === storageVersion)
    const [stored] = storedResources(new Catalogue(memoryInfos), new Catalogue(memoryInfos), this.#rulesOf)
    assert(stored !== undefined, `the storage version of ${name} is one of its versions`)
    const selectable = [...new Set(versions.flatMap((version) => version.selectableFields ?? []))]
    const fields = [...stored.fields, ...selectable.map((path) => ({ name: path }))]
    const served = infos.filter(
      (info) =>
        info.servedByDefault && this.#builtinCatalogue.find(info.group, info.version, info.resource) === undefined,
    )
    this.#defined.set(name, { definition, served, stored: { ...stored, fields } })
    this.#definedKinds.set(`${group}/${kind}`, definition)
    this.#definedLists.set(`${group}/${listKind}`, definition)
  }

  #newCodec({ groupResource, mediaType, storageVersion }: StorageCodecConfig): Codec<KubeObject> {
    const name = formatGroupResource(groupResource)
    const defined = this.#defined.get(name)?.definition
    if (defined !== undefined)
      return new CustomCodec(defined, (version) => this.customVersion(defined, version)?.schema)
    const stored = this.stored(name) ?? internalKind(name)
    assert(stored !== undefined, `${name} is not stored`)
    return new StorageCodec({ stored, schemas: this, mediaType, apiVersion: formatGroupVersion(storageVersion) })
  }
}
