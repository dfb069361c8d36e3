/** Thread: pool. The endpoints of a worker: made when first asked for, sharing one storage a resource. */
import type { ResourceInfo } from '../../api/catalogue.js'
import {
  formatGroupResource,
  formatGroupVersion,
  type GroupResource,
  type GroupVersionKind,
  parseGroupVersion,
} from '../../api/group-version.js'
import { draftOfPrinted, printObject } from '../../api/json/encode-draft.js'
import { fieldsOf } from '../../api/json/field-spec.js'
import { type JsonObject, type KubeObject, metadataOf } from '../../api/object.js'
import type { RequestInfo } from '../../api/request-info.js'
import { type ResourceDefinition, resourceInfos } from '../../api/resource-definition.js'
import type { StructSchema } from '../../api/schema.js'
import { MapAttributes } from '../../api/selector.js'
import { NotServed, newForbidden, newGenericServerResponse } from '../../api/status.js'
import { assert } from '../../lib/assert.js'
import { systemClock } from '../../lib/clock.js'
import { ownMember } from '../../lib/own-member.js'
import { fieldLabels } from '../../registry/field-labels.js'
import { ConvertingStorage } from '../../registry/generic/converting-storage.js'
import { PartStrategy } from '../../registry/generic/part-strategy.js'
import { completeWithOptions, type RegistryStore } from '../../registry/generic/registry-store.js'
import type { RegistryStoreHooks, RegistryStoreOptions } from '../../registry/generic/registry-store-options.js'
import type { HandlerRow } from '../../registry/generic/resource-rest.js'
import type { ResourceRules } from '../../registry/generic/resource-rules.js'
import type { RESTDependencies } from '../../registry/generic/rest-dependencies.js'
import type { RESTOptionsGetter } from '../../registry/generic/rest-options.js'
import { RulesStrategy, StatusStrategy, type StrategyShape } from '../../registry/generic/rules-strategy.js'
import { restOf } from '../../registry/rest-table.js'
import { type StoredResource, versionConversion } from '../../registry/stored-resource.js'
import type { ObjectAttributes } from '../../storage/contract/interface.js'
import type { StorageHandle } from '../../storage/factory/decorator.js'
import type { Scheme } from '../scheme/scheme.js'
import { FieldManager } from './apply/field-manager.js'
import { ManagerConversions } from './apply/manager-conversions.js'
import type { VersionConverter } from './apply/updater.js'
import { type ConverterSource, type CustomParts, customFields, customParts } from './custom-parts.js'
import type { Endpoint } from './endpoint.js'
import { ownedFilters, resetFilters } from './reset-filter.js'

export interface EndpointTableOptions {
  readonly scheme: Scheme
  readonly restOptions: RESTOptionsGetter
  /** What hooks and handlers are given; the other endpoints, which they may need too, are this table itself. */
  readonly dependencies: Omit<RESTDependencies, 'endpoints'>
  readonly eventTtlSeconds: number
  readonly allowPrivileged: boolean
  readonly converterOf: ConverterSource
  /** PATIENCE_MS unless told. */
  readonly patienceMs?: number
  /** Called for every object that has been deleted, also by an update that removed its last finalizer. */
  readonly deleted: (resource: GroupResource, object: KubeObject) => Promise<void>
}

/** Ends a request soon: its client is told to come again. */
type GiveUp = () => void

/** So long a change of a definition waits for the requests that are under way with the old one. */
const PATIENCE_MS = 5_000

/** Which objects an endpoint's store gives and takes. */
interface StoredForm {
  /** Of what is stored, which drafts for memory are made of. */
  readonly draftSchema: StructSchema
  readonly custom: CustomParts | undefined
  readonly apiVersion: string
}

export class EndpointTable {
  readonly #options: EndpointTableOptions
  /** What this thread lends to hooks, handlers and connecters. */
  readonly dependencies: RESTDependencies
  readonly #storages = new Map<string, StorageHandle>()
  readonly #endpoints = new Map<string, Endpoint>()
  /** The requests that have not been answered, by the name of their resource; of defined resources alone. */
  readonly #underWay = new Map<string, Map<Promise<unknown>, GiveUp>>()

  constructor(options: EndpointTableOptions) {
    this.#options = options
    this.dependencies = { ...options.dependencies, endpoints: this }
  }

  /** The endpoint of a path, made at the first request for it. Throws NotServed for a resource that is not, or not any more. */
  find({
    apiGroup,
    apiVersion,
    resource,
    subresource,
  }: Pick<RequestInfo, 'apiGroup' | 'apiVersion' | 'resource' | 'subresource'>): Endpoint {
    const key = `${apiGroup}/${apiVersion}/${resource}/${subresource}`
    let endpoint = this.#endpoints.get(key)
    if (endpoint === undefined) {
      const info = this.#options.scheme.catalogue.find(apiGroup, apiVersion, resource)
      if (info === undefined) throw new NotServed()
      endpoint = this.#make(info, subresource)
      this.#endpoints.set(key, endpoint)
    }
    return endpoint
  }

  /** The endpoint of a defined resource in its storage version, whether that is served or not: what it reads takes no webhook. */
  findStored(definition: ResourceDefinition): Endpoint {
    const info = resourceInfos(definition).find(({ version }) => version === definition.storageVersion)
    assert(info !== undefined, 'the storage version is one of the versions')
    return this.#make(info, '')
  }

  #make(info: ResourceInfo, subresource: string): Endpoint {
    const name = formatGroupResource(info)
    const custom = customParts(this.#options.scheme, info, this.#options.converterOf)
    const builtin = this.#options.scheme.stored(name)
    const stored = builtin && custom ? { ...builtin, rules: custom.rules } : builtin
    const rest = restOf(info)
    const row =
      subresource === ''
        ? rest.resource
        : (ownMember(rest.subresources, subresource) ?? (subresource === 'scale' ? custom?.scale : undefined))
    if (stored === undefined) return this.#makeUnstored(info, subresource, row)
    const { rules } = stored
    const own = ownMember(rules.subresources, subresource)
    if (subresource !== '' && subresource !== 'status' && own === undefined && row === undefined)
      throw newGenericServerResponse(404)
    const kind: GroupVersionKind = { group: info.group, version: info.version, kind: info.kind }
    const parentSchema = custom?.version.schema.type ?? this.#schema(kind)
    const draftSchema = custom?.memory.schema.type ?? this.#schema(stored.info)
    const memorySchema = custom?.converter === undefined ? draftSchema : parentSchema
    const shape = {
      // Where two groups serve the same objects (events), errors name the group under which they are stored.
      kind: { group: stored.info.group, kind: info.kind },
      namespaceScoped: info.namespaced,
      hasStatus: info.subresources.some((s) => s.name === 'status'),
      allowPrivileged: this.#options.allowPrivileged,
    }
    const strategy = new RulesStrategy(shape, rules)
    const update = this.#updateStrategy(shape, rules, strategy, subresource, row)
    const apiVersion = formatGroupVersion(kind)
    const store = this.#store(stored, strategy, update, { draftSchema, custom, apiVersion })
    const handler = row?.make({ store, apiVersion, dependencies: this.dependencies })
    const spoken = kindOf(info, subresource)
    const isParents = spoken.group === kind.group && spoken.kind === kind.kind
    const schema = isParents ? parentSchema : this.#schema(spoken)
    const managerConversions =
      custom?.converter && isParents ? new ManagerConversions(custom.converter, apiVersion) : undefined
    return {
      info,
      subresource,
      kind: spoken,
      schema,
      memorySchema: isParents ? memorySchema : schema,
      rules: isParents ? { ...rules, ...handler?.rules } : (handler?.rules ?? {}),
      selectableFields: custom
        ? customFields(info, custom.version)
        : fieldLabels(
            info,
            stored.fields.map((field) => field.name),
          ),
      store,
      handler,
      fieldManager: new FieldManager({
        apiVersion: formatGroupVersion(spoken),
        kind: spoken.kind,
        schema,
        subresource,
        resetFields: isParents ? fieldFilters(this.#versions(info), update) : new Map(),
        ...(isParents ? { converter: this.#converter(stored, info, managerConversions) } : {}),
        custom: info.definitionHash !== undefined,
      }),
      managerConversions,
      converter: custom?.converter,
      conversion: isParents && custom?.converter === undefined ? versionConversion(stored, apiVersion) : undefined,
      custom: custom?.version,
    }
  }

  /** The apiVersions under which a resource is served. */
  #versions({ group, resource }: ResourceInfo): string[] {
    const { catalogue } = this.#options.scheme
    return catalogue
      .versions(group)
      .filter((version) => catalogue.find(group, version, resource) !== undefined)
      .map((version) => formatGroupVersion({ group, version }))
  }

  /** The converter of a FieldManager, which compares fields in the version in which their managers wrote them. */
  #converter(
    stored: StoredResource,
    info: ResourceInfo,
    managerConversions: ManagerConversions | undefined,
  ): VersionConverter {
    const own = versionConversion(stored, formatGroupVersion(info))
    const versions = new Set(this.#versions(info))
    return {
      schema: (apiVersion) => {
        const { group, version } = parseGroupVersion(apiVersion) ?? info
        return versions.has(apiVersion) ? this.#options.scheme.kind(group, version, info.kind) : undefined
      },
      convert: (object, apiVersion) => {
        if (managerConversions !== undefined) return managerConversions.convert(object, apiVersion)
        // What the other version of a custom object lacks is not taken out here: its managers are then unknown.
        if (info.definitionHash !== undefined) return { ...object, apiVersion }
        const from = object['apiVersion'] === undefined ? own : versionConversion(stored, String(object['apiVersion']))
        const inMemory = from === undefined ? (object as KubeObject) : from.toMemoryVersion(object as KubeObject)
        return (versionConversion(stored, apiVersion)?.fromMemoryVersion(inMemory) ?? inMemory) as JsonObject
      },
    }
  }

  #updateStrategy(
    shape: StrategyShape,
    rules: ResourceRules,
    strategy: RulesStrategy,
    subresource: string,
    row: HandlerRow | undefined,
  ): RulesStrategy | StatusStrategy | PartStrategy {
    const own = ownMember(rules.subresources, subresource)
    if (own !== undefined) return new PartStrategy(shape, rules, own)
    const isStatus = subresource === 'status' || row?.updates === 'status'
    return isStatus ? new StatusStrategy(shape, rules) : strategy
  }

  /** The endpoint of a resource whose objects are answered and never stored, as a TokenReview: a handler is all it has. */
  #makeUnstored(info: ResourceInfo, subresource: string, row: HandlerRow | undefined): Endpoint {
    if (row === undefined) throw newGenericServerResponse(404)
    const kind = kindOf(info, subresource)
    const schema = this.#schema(kind)
    const unstored = {
      get store(): RegistryStore {
        throw newGenericServerResponse(405)
      },
    }
    const apiVersion = formatGroupVersion(kind)
    const handler = row.make({
      apiVersion,
      dependencies: this.dependencies,
      get store(): RegistryStore {
        return unstored.store
      },
    })
    return {
      info,
      subresource,
      kind,
      schema,
      memorySchema: schema,
      rules: handler.rules ?? {},
      selectableFields: info.namespaced ? ['metadata.name', 'metadata.namespace'] : ['metadata.name'],
      get store(): RegistryStore {
        return unstored.store
      },
      handler,
      fieldManager: new FieldManager({ apiVersion, kind: kind.kind, schema, subresource }),
      conversion: undefined,
    }
  }

  #store(
    stored: StoredResource,
    strategy: RulesStrategy,
    update: RulesStrategy | StatusStrategy | PartStrategy,
    { draftSchema, custom, apiVersion }: StoredForm,
  ): RegistryStore {
    const { rules, groupResource } = stored
    const { eventTtlSeconds, deleted } = this.#options
    const hooks = restOf(groupResource).hooks?.(this.dependencies)
    const options = this.#options.restOptions.getRESTOptions(groupResource)
    const { value: storage } = this.#storage(stored, draftSchema)
    const { converter, storageApiVersion = '' } = custom ?? {}
    return completeWithOptions({
      groupResource,
      storage:
        converter === undefined
          ? storage
          : new ConvertingStorage({ storage, converter, apiVersion, storageApiVersion }),
      keyPrefix: options.resourcePrefix,
      createStrategy: strategy,
      updateStrategy: update,
      deleteStrategy: strategy,
      getAttributes: (object) => attributesOf(object, stored),
      enableGarbageCollection: options.enableGarbageCollection,
      deleteCollectionWorkers: options.deleteCollectionWorkers,
      ...(rules.returnDeletedObject === undefined ? {} : { returnDeletedObject: rules.returnDeletedObject }),
      ...(rules.shouldDeleteDuringUpdate === undefined
        ? {}
        : { shouldDeleteDuringUpdate: rules.shouldDeleteDuringUpdate }),
      ...(rules.expires === undefined ? {} : { ttlSeconds: () => eventTtlSeconds }),
      ...hooksOf(hooks, update, strategy),
      ...refusalOf(this.#options.scheme.defined(stored.name)),
      afterDelete: async (object, context) => {
        await hooks?.afterDelete?.(object, context)
        if (!context.dryRun) await deleted(groupResource, object)
      },
    })
  }

  #storage(stored: StoredResource, schema: StructSchema): StorageHandle {
    const known = this.#storages.get(stored.name)
    if (known !== undefined) return known
    const { restOptions } = this.#options
    const { storageConfig, decorator, resourcePrefix } = restOptions.getRESTOptions(stored.groupResource)
    const { namespaced } = stored.info
    const handle = decorator({
      config: storageConfig,
      resourcePrefix,
      keyOf: (object) => {
        const { name = '', namespace = '' } = metadataOf(object)
        return namespaced ? `${resourcePrefix}/${namespace}/${name}` : `${resourcePrefix}/${name}`
      },
      newObject: () => ({}),
      getAttributes: (object) => attributesOf(object, stored),
      ...(stored.rules.expires === undefined ? {} : { leased: true }),
      drafts: {
        // The owner puts the revision of a custom object at another place when it scans what is stored.
        isOneText: this.#options.scheme.defined(stored.name) === undefined,
        print: (object) => printObject(object, schema),
        draftOf: (object, printed) => draftOfPrinted(object, printed, stored.fields),
      },
    })
    this.#storages.set(stored.name, handle)
    return handle
  }

  #schema({ group, version, kind }: Pick<GroupVersionKind, 'group' | 'version' | 'kind'>): StructSchema {
    const schema = this.#options.scheme.kind(group, version, kind)
    assert(schema !== undefined, `there is no schema of ${group}/${version} ${kind}`)
    return schema
  }

  /** Registers a request to a defined resource: forget() does not release the storage that it uses before it is done. */
  underWay<T>({ info }: Endpoint, answer: Promise<T>, giveUp: GiveUp): Promise<T> {
    const name = formatGroupResource(info)
    const known = this.#underWay.get(name) ?? new Map<Promise<unknown>, GiveUp>()
    this.#underWay.set(name, known)
    known.set(answer, giveUp)
    return answer.finally(() => known.delete(answer))
  }

  /**
   * Drops the endpoints and the storage of a resource that has changed; later requests make new ones. Resolves when the
   * requests that still use the old ones are done and the old storage is released. Requests that take long, because they wait for a
   * webhook, are given up: changes of definitions are made one after the other, and all others would wait for them.
   */
  async forget({ group, resource }: GroupResource): Promise<void> {
    for (const [key, { info }] of this.#endpoints)
      if (info.group === group && info.resource === resource) this.#endpoints.delete(key)
    const name = formatGroupResource({ group, resource })
    const before = this.#underWay.get(name)
    const storage = this.#storages.get(name)
    this.#underWay.delete(name)
    this.#storages.delete(name)
    if (before !== undefined && before.size > 0) {
      const patience = systemClock.after(this.#options.patienceMs ?? PATIENCE_MS, () => {
        for (const giveUp of before.values()) giveUp()
      })
      await Promise.allSettled(before.keys())
      patience.cancel()
    }
    await storage?.release()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#storages.values()].map((handle) => handle.release()))
    this.#storages.clear()
  }
}

/** Nothing is created by a definition that is being deleted: its objects are being deleted too. */
function refusalOf(definition: ResourceDefinition | undefined): Pick<RegistryStoreOptions, 'beginCreate'> {
  if (definition?.terminating !== true) return {}
  return {
    beginCreate: async (object) => {
      const why = 'create not allowed while custom resource definition is terminating'
      throw newForbidden(definition, metadataOf(object).name ?? '', why)
    },
  }
}

function fieldFilters(
  apiVersions: readonly string[],
  strategy: RulesStrategy | StatusStrategy | PartStrategy,
): ReturnType<typeof resetFilters> {
  const owned = strategy instanceof PartStrategy ? strategy.ownedFields : undefined
  return owned === undefined ? resetFilters(apiVersions, strategy.resetFields) : ownedFilters(apiVersions, owned)
}

/** The kind of the bodies of an endpoint: a subresource may have one of its own, as a Scale. */
function kindOf(info: ResourceInfo, subresource: string): GroupVersionKind {
  const own = info.subresources.find(({ name }) => name === subresource)
  const { group, version, kind } = own ?? info
  return { group, version, kind }
}

function attributesOf(object: KubeObject, { fields }: StoredResource): ObjectAttributes {
  const pairs = fieldsOf(object as JsonObject, fields)
  const values: Record<string, string> = {}
  for (let i = 0; i < pairs.length; i += 2) values[pairs[i]!] = pairs[i + 1]!
  return { labels: new MapAttributes(metadataOf(object).labels), fields: new MapAttributes(values) }
}

/**
 * The hooks before the writes of an endpoint: the resource itself has those of the resource, its status the one for status
 * updates, and other subresources have none.
 */
function hooksOf(
  hooks: RegistryStoreHooks | undefined,
  update: RulesStrategy | StatusStrategy | PartStrategy,
  strategy: RulesStrategy,
): Pick<RegistryStoreOptions, 'beginCreate' | 'beginUpdate'> {
  const { beginCreate, beginUpdate, beginStatusUpdate } = hooks ?? {}
  if (update === strategy)
    return {
      ...(beginCreate === undefined ? {} : { beginCreate }),
      ...(beginUpdate === undefined ? {} : { beginUpdate }),
    }
  return update instanceof StatusStrategy && beginStatusUpdate !== undefined ? { beginUpdate: beginStatusUpdate } : {}
}
