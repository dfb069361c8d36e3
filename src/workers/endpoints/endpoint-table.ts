/** Thread: pool. The endpoints of a worker: made when first asked for, sharing one storage a resource. */
import type { ResourceInfo } from '../../api/catalogue.js'
import {
  formatGroupResource,
  formatGroupVersion,
  type GroupResource,
  type GroupVersionKind,
  parseGroupVersion,
} from '../../api/group-version.js'
import { encodeDraft } from '../../api/json/encode-draft.js'
import { fieldsOf } from '../../api/json/field-spec.js'
import { type JsonObject, type KubeObject, metadataOf } from '../../api/object.js'
import type { RequestInfo } from '../../api/request-info.js'
import type { StructSchema } from '../../api/schema.js'
import { MapAttributes } from '../../api/selector.js'
import { newGenericServerResponse } from '../../api/status.js'
import { assert } from '../../lib/assert.js'
import { fieldLabels } from '../../registry/field-labels.js'
import { PartStrategy } from '../../registry/generic/part-strategy.js'
import type { HandlerRow } from '../../registry/generic/resource-rest.js'
import type { ResourceRules } from '../../registry/generic/resource-rules.js'
import type { RESTDependencies } from '../../registry/generic/rest-dependencies.js'
import type { RESTOptionsGetter } from '../../registry/generic/rest-options.js'
import { RulesStrategy, StatusStrategy, type StrategyShape } from '../../registry/generic/rules-strategy.js'
import { completeWithOptions, type Store } from '../../registry/generic/store.js'
import type { StoreHooks, StoreOptions } from '../../registry/generic/store-options.js'
import { restOf } from '../../registry/rest-table.js'
import { hubConversion, type StoredResource } from '../../registry/stored-resource.js'
import type { ObjectAttributes } from '../../storage/contract/interface.js'
import type { StorageHandle } from '../../storage/factory/decorator.js'
import type { Scheme } from '../scheme/scheme.js'
import { FieldManager } from './apply/field-manager.js'
import type { VersionConverter } from './apply/updater.js'
import type { Endpoint } from './endpoint.js'
import { ownedFilters, resetFilters } from './reset-filter.js'

export interface EndpointTableOptions {
  readonly scheme: Scheme
  readonly restOptions: RESTOptionsGetter
  /** What hooks and handlers are given; the other endpoints, which they may need too, are this table itself. */
  readonly dependencies: Omit<RESTDependencies, 'endpoints'>
  readonly eventTtlSeconds: number
  readonly allowPrivileged: boolean
  /** Called for every object that has been deleted, also by an update that removed its last finalizer. */
  readonly deleted: (resource: GroupResource, object: KubeObject) => Promise<void>
}

export class EndpointTable {
  readonly #options: EndpointTableOptions
  /** What this thread lends to hooks, handlers and connecters. */
  readonly dependencies: RESTDependencies
  readonly #storages = new Map<string, StorageHandle>()
  readonly #endpoints = new Map<string, Endpoint>()
  /** The requests that have not been answered, by the name of their resource; of defined resources alone. */
  readonly #underWay = new Map<string, Set<Promise<unknown>>>()

  constructor(options: EndpointTableOptions) {
    this.#options = options
    this.dependencies = { ...options.dependencies, endpoints: this }
  }

  /** The endpoint of a path, made at the first request for it. Throws 404 for a resource that is not served. */
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
      if (info === undefined) throw newGenericServerResponse(404)
      endpoint = this.#make(info, subresource)
      this.#endpoints.set(key, endpoint)
    }
    return endpoint
  }

  #make(info: ResourceInfo, subresource: string): Endpoint {
    const name = formatGroupResource(info)
    const stored = this.#options.scheme.stored(name)
    const rest = restOf(info)
    const row = subresource === '' ? rest.resource : rest.subresources?.[subresource]
    if (stored === undefined) return this.#makeUnstored(info, subresource, row)
    const { rules } = stored
    const own = rules.subresources?.[subresource]
    if (subresource !== '' && subresource !== 'status' && own === undefined && row === undefined)
      throw newGenericServerResponse(404)
    const kind: GroupVersionKind = { group: info.group, version: info.version, kind: info.kind }
    const parentSchema = this.#schema(kind)
    const hubSchema = this.#schema(stored.info)
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
    const store = this.#store(stored, strategy, update, hubSchema)
    const handler = row?.make({ store, apiVersion, dependencies: this.dependencies })
    const spoken = kindOf(info, subresource)
    const isParents = spoken.group === kind.group && spoken.kind === kind.kind
    const schema = isParents ? parentSchema : this.#schema(spoken)
    return {
      info,
      subresource,
      kind: spoken,
      schema,
      hubSchema: isParents ? hubSchema : schema,
      rules: isParents ? { ...rules, ...handler?.rules } : (handler?.rules ?? {}),
      selectableFields: fieldLabels(
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
        ...(isParents ? { converter: this.#converter(stored, info) } : {}),
        custom: info.definitionHash !== undefined,
      }),
      conversion: isParents ? hubConversion(stored, apiVersion) : undefined,
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

  /** For FieldManager, which compares fields in the version in which their managers wrote them. */
  #converter(stored: StoredResource, info: ResourceInfo): VersionConverter {
    const own = hubConversion(stored, formatGroupVersion(info))
    const versions = new Set(this.#versions(info))
    return {
      schema: (apiVersion) => {
        const { group, version } = parseGroupVersion(apiVersion) ?? info
        return versions.has(apiVersion) ? this.#options.scheme.kind(group, version, info.kind) : undefined
      },
      convert: (object, apiVersion) => {
        const from = object['apiVersion'] === undefined ? own : hubConversion(stored, String(object['apiVersion']))
        const hub = from === undefined ? (object as KubeObject) : from.toHub(object as KubeObject)
        return (hubConversion(stored, apiVersion)?.fromHub(hub) ?? hub) as JsonObject
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
    const own = rules.subresources?.[subresource]
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
      get store(): Store {
        throw newGenericServerResponse(405)
      },
    }
    const apiVersion = formatGroupVersion(kind)
    const handler = row.make({
      apiVersion,
      dependencies: this.dependencies,
      get store(): Store {
        return unstored.store
      },
    })
    return {
      info,
      subresource,
      kind,
      schema,
      hubSchema: schema,
      rules: handler.rules ?? {},
      selectableFields: info.namespaced ? ['metadata.name', 'metadata.namespace'] : ['metadata.name'],
      get store(): Store {
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
    schema: StructSchema,
  ): Store {
    const { rules, groupResource } = stored
    const { eventTtlSeconds, deleted } = this.#options
    const hooks = restOf(groupResource).hooks?.(this.dependencies)
    const options = this.#options.restOptions.getRESTOptions(groupResource)
    const storage = this.#storage(stored, schema)
    return completeWithOptions({
      groupResource,
      storage: storage.value,
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
      draftOf: (object) => encodeDraft(object, schema, stored.fields),
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
  underWay<T>({ info }: Endpoint, answer: Promise<T>): Promise<T> {
    const name = formatGroupResource(info)
    const known = this.#underWay.get(name) ?? new Set()
    this.#underWay.set(name, known)
    known.add(answer)
    return answer.finally(() => known.delete(answer))
  }

  /**
   * Drops the endpoints and the storage of a resource that has changed; later requests make new ones. Resolves when the
   * requests that still use the old ones are done and the old storage is released.
   */
  async forget({ group, resource }: GroupResource): Promise<void> {
    for (const [key, { info }] of this.#endpoints)
      if (info.group === group && info.resource === resource) this.#endpoints.delete(key)
    const name = formatGroupResource({ group, resource })
    const before = this.#underWay.get(name)
    const storage = this.#storages.get(name)
    this.#underWay.delete(name)
    this.#storages.delete(name)
    if (before !== undefined) await Promise.allSettled(before)
    await storage?.release()
  }

  async close(): Promise<void> {
    await Promise.all([...this.#storages.values()].map((handle) => handle.release()))
    this.#storages.clear()
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

/** What a subresource writes takes nothing from others; but it may not be for everybody, and it may end the object. */
function hooksOf(
  hooks: StoreHooks | undefined,
  update: RulesStrategy | StatusStrategy | PartStrategy,
  strategy: RulesStrategy,
): Pick<StoreOptions, 'beginCreate' | 'beginUpdate'> {
  const { beginCreate, beginUpdate, beginStatusUpdate } = hooks ?? {}
  if (update === strategy)
    return {
      ...(beginCreate === undefined ? {} : { beginCreate }),
      ...(beginUpdate === undefined ? {} : { beginUpdate }),
    }
  return update instanceof StatusStrategy && beginStatusUpdate !== undefined ? { beginUpdate: beginStatusUpdate } : {}
}
