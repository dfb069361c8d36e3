import type { KubeObject } from '#keelson/api/object.js'
import { MapAttributes } from '#keelson/api/selector.js'
import { completeWithOptions, type RegistryStore } from '#keelson/registry/generic/registry-store.js'
import type { RegistryStoreOptions, ValidateObject } from '#keelson/registry/generic/registry-store-options.js'
import type { ResourceRules } from '#keelson/registry/generic/resource-rules.js'
import { RulesStrategy } from '#keelson/registry/generic/rules-strategy.js'
import type { RequestContext } from '#keelson/registry/generic/strategy.js'
import type { KVStore } from '#keelson/storage/store/kv-store.js'
import { FakeClock } from './fake-clock.js'
import { FaultyKV } from './faulty-kv.js'
import { openJsonStore } from './json-store.js'
import { MemoryKV } from './memory-kv.js'
import { requestContext } from './request-context.js'

export const THING_KIND = { group: 'example.com', kind: 'Thing' } as const
export const THINGS = { group: 'example.com', resource: 'things' } as const

export const thing = (name: string, fields: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name, ...metadata },
  ...structuredClone(fields),
})

export const noValidation: ValidateObject = () => undefined
export const noValidations = { create: noValidation, update: noValidation }

export const thingStrategy = (rules: ResourceRules = {}): RulesStrategy =>
  new RulesStrategy({ kind: THING_KIND, namespaceScoped: true, hasStatus: true }, rules)

export interface ThingsOptions {
  readonly rules?: ResourceRules
  readonly store?: Partial<RegistryStoreOptions>
}

/** The registry's Store of a made-up resource, over storage in memory whose calls can be made to fail. */
export class Things {
  readonly clock = new FakeClock()
  readonly memory = new MemoryKV(this.clock)
  readonly kv = new FaultyKV(this.memory)
  readonly storage: KVStore<KubeObject>
  readonly store: RegistryStore
  readonly warnings: string[] = []

  constructor({ rules = {}, store = {} }: ThingsOptions = {}) {
    const strategy = thingStrategy(rules)
    this.storage = openJsonStore(this.kv, '/things', { groupResource: THINGS })
    this.store = completeWithOptions({
      groupResource: THINGS,
      storage: this.storage,
      keyPrefix: '/things',
      createStrategy: strategy,
      updateStrategy: strategy,
      deleteStrategy: strategy,
      getAttributes: ({ metadata }) => ({
        labels: new MapAttributes(metadata?.labels),
        fields: new MapAttributes({ 'metadata.name': metadata?.name ?? '' }),
      }),
      enableGarbageCollection: true,
      deleteCollectionWorkers: 1,
      ...store,
    })
  }

  context(given: Partial<RequestContext> = {}): RequestContext {
    return requestContext({
      resource: 'things',
      apiGroup: 'example.com',
      now: () => this.clock.now(),
      addWarning: (text) => void this.warnings.push(text),
      ...given,
    })
  }

  create(name: string, fields: object = {}, metadata: object = {}): Promise<KubeObject> {
    return this.store.create(this.context(), thing(name, fields, metadata), noValidation)
  }

  get(name: string): Promise<KubeObject> {
    return this.store.get(this.context(), name)
  }

  /** Writes past the registry, as another server would at the same time. */
  interfere(name: string, change: (object: KubeObject) => void): Promise<KubeObject> {
    const other = openJsonStore(this.memory, '/things', { groupResource: THINGS })
    return other.guaranteedUpdate(`/things/default/${name}`, (object) => {
      change(object)
      return { object }
    })
  }

  /** What is stored, whatever the registry says. */
  async stored(name: string): Promise<KubeObject | undefined> {
    const { kv } = await this.memory.get(`/registry/things/default/${name}`)
    return kv === undefined ? undefined : (JSON.parse(Buffer.from(kv.value).toString()) as KubeObject)
  }
}
