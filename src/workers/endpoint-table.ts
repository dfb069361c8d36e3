/** Thread: pool. The endpoints of a worker: made when first asked for, sharing one storage a resource. */
import type { Catalogue, ResourceInfo } from '../api/catalogue.js'
import type { GroupVersionKind } from '../api/group-version.js'
import { formatGroupResource, formatGroupVersion, parseGroupVersion } from '../api/group-version.js'
import { encodeDraft } from '../api/json/encode-draft.js'
import { fieldsOf } from '../api/json/field-spec.js'
import { type JsonObject, type KubeObject, metadataOf } from '../api/object.js'
import type { RequestInfo } from '../api/request-info.js'
import type { SchemaSource, StructSchema } from '../api/schema.js'
import { MapAttributes } from '../api/selector.js'
import { newGenericServerResponse } from '../api/status.js'
import { assert } from '../lib/assert.js'
import type { RESTOptionsGetter } from '../registry/generic/rest-options.js'
import { RulesStrategy, StatusStrategy } from '../registry/generic/rules-strategy.js'
import { completeWithOptions, type Store } from '../registry/generic/store.js'
import { hubConversion, type StoredResource } from '../registry/stored-resource.js'
import type { StorageHandle } from '../storage/decorator.js'
import type { ObjectAttributes } from '../storage/interface.js'
import { FieldManager } from './apply/field-manager.js'
import type { VersionConverter } from './apply/updater.js'
import type { Endpoint } from './endpoint.js'
import { resetFilters } from './reset-filter.js'

export interface EndpointTableOptions {
  readonly catalogue: Catalogue
  readonly stored: ReadonlyMap<string, StoredResource>
  readonly schemas: SchemaSource
  readonly restOptions: RESTOptionsGetter
}

export class EndpointTable {
  readonly #options: EndpointTableOptions
  readonly #storages = new Map<string, StorageHandle>()
  readonly #endpoints = new Map<string, Endpoint>()

  constructor(options: EndpointTableOptions) {
    this.#options = options
  }

  /** Throws 404 for what is not served. */
  find({
    apiGroup,
    apiVersion,
    resource,
    subresource,
  }: Pick<RequestInfo, 'apiGroup' | 'apiVersion' | 'resource' | 'subresource'>): Endpoint {
    const key = `${apiGroup}/${apiVersion}/${resource}/${subresource}`
    let endpoint = this.#endpoints.get(key)
    if (endpoint === undefined) {
      const info = this.#options.catalogue.find(apiGroup, apiVersion, resource)
      if (info === undefined) throw newGenericServerResponse(404)
      endpoint = this.#make(info, subresource)
      this.#endpoints.set(key, endpoint)
    }
    return endpoint
  }

  #make(info: ResourceInfo, subresource: string): Endpoint {
    const stored = this.#options.stored.get(formatGroupResource(info))
    // Subresources with a life of their own are not made yet.
    if (stored === undefined) throw newGenericServerResponse(404)
    const { rules } = stored
    const own = rules.subresources?.[subresource]
    if (subresource !== '' && subresource !== 'status' && own === undefined) throw newGenericServerResponse(404)
    const kind: GroupVersionKind = { group: info.group, version: info.version, kind: info.kind }
    const schema = this.#schema(kind)
    const hubSchema = this.#schema(stored.info)
    const shape = {
      kind: { group: info.group, kind: info.kind },
      namespaceScoped: info.namespaced,
      hasStatus: info.subresources.some((s) => s.name === 'status'),
    }
    const strategy = new RulesStrategy(shape, rules)
    const status = own === undefined ? rules : { ...rules, status: own }
    const update = subresource === '' ? strategy : new StatusStrategy(shape, status)
    const apiVersion = formatGroupVersion(kind)
    return {
      info,
      subresource,
      kind,
      schema,
      hubSchema,
      rules,
      selectableFields: stored.fields.map((field) => field.name),
      store: this.#store(stored, strategy, update, hubSchema),
      fieldManager: new FieldManager({
        apiVersion,
        kind: info.kind,
        schema,
        subresource,
        resetFields: resetFilters(this.#versions(info), update.resetFields),
        converter: this.#converter(stored, info),
      }),
      conversion: hubConversion(stored, apiVersion),
    }
  }

  /** Those under which it is served. */
  #versions({ group, resource }: ResourceInfo): string[] {
    const { catalogue } = this.#options
    return catalogue
      .versions(group)
      .filter((version) => catalogue.find(group, version, resource) !== undefined)
      .map((version) => formatGroupVersion({ group, version }))
  }

  /** Managers own fields in the version in which they wrote them. */
  #converter(stored: StoredResource, info: ResourceInfo): VersionConverter {
    const own = hubConversion(stored, formatGroupVersion(info))
    const versions = new Set(this.#versions(info))
    return {
      schema: (apiVersion) => {
        const { group, version } = parseGroupVersion(apiVersion) ?? info
        return versions.has(apiVersion) ? this.#options.schemas.kind(group, version, info.kind) : undefined
      },
      convert: (object, apiVersion) => {
        const from = object['apiVersion'] === undefined ? own : hubConversion(stored, String(object['apiVersion']))
        const hub = from === undefined ? (object as KubeObject) : from.toHub(object as KubeObject)
        return (hubConversion(stored, apiVersion)?.fromHub(hub) ?? hub) as JsonObject
      },
    }
  }

  #store(
    stored: StoredResource,
    strategy: RulesStrategy,
    update: RulesStrategy | StatusStrategy,
    schema: StructSchema,
  ): Store {
    const { rules, groupResource } = stored
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
      ...(rules.ttlSeconds === undefined ? {} : { ttlSeconds: rules.ttlSeconds }),
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
      ...(stored.rules.ttlSeconds === undefined ? {} : { leased: true }),
      draftOf: (object) => encodeDraft(object, schema, stored.fields),
    })
    this.#storages.set(stored.name, handle)
    return handle
  }

  #schema({ group, version, kind }: Pick<GroupVersionKind, 'group' | 'version' | 'kind'>): StructSchema {
    const schema = this.#options.schemas.kind(group, version, kind)
    assert(schema !== undefined, `there is no schema of ${group}/${version} ${kind}`)
    return schema
  }

  async close(): Promise<void> {
    await Promise.all([...this.#storages.values()].map((handle) => handle.release()))
    this.#storages.clear()
  }
}

function attributesOf(object: KubeObject, { fields }: StoredResource): ObjectAttributes {
  const pairs = fieldsOf(object as JsonObject, fields)
  const values: Record<string, string> = {}
  for (let i = 0; i < pairs.length; i += 2) values[pairs[i]!] = pairs[i + 1]!
  return { labels: new MapAttributes(metadataOf(object).labels), fields: new MapAttributes(values) }
}
