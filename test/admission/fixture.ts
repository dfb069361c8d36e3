import type { AdmissionAttributes, AdmissionOperation, AdmissionPlugin } from '#keelson/admission/chain.js'
import type { AdmissionObjects, AdmissionWriter, ObjectName, ResourceOf } from '#keelson/admission/objects.js'
import { formatGroupResource, type GroupVersionResource } from '#keelson/api/group-version.js'
import type { KubeObject } from '#keelson/api/object.js'
import { MapAttributes, type Selector } from '#keelson/api/selector.js'
import { StatusError } from '#keelson/api/status.js'
import type { UserInfo } from '#keelson/api/user-info.js'

export const ALICE: UserInfo = { name: 'alice', uid: '', groups: ['dev', 'system:authenticated'], extra: {} }

export interface Asked {
  readonly operation?: AdmissionOperation
  /** `pods`, `pods/status`, `deployments.apps` */
  readonly resource?: string
  readonly object?: KubeObject
  readonly oldObject?: KubeObject
  readonly name?: string
  readonly namespace?: string
  readonly dryRun?: boolean
  readonly user?: UserInfo
}

export interface Recorded extends AdmissionAttributes {
  readonly warnings: string[]
  readonly annotations: Map<string, string>
  readonly outcomes: ((succeeded: boolean) => Promise<void> | void)[]
}

export function attributes(asked: Asked): Recorded {
  const [resourceAndGroup = '', subresource = ''] = (asked.resource ?? 'pods').split('/')
  const dot = resourceAndGroup.indexOf('.')
  const warnings: string[] = []
  const annotations = new Map<string, string>()
  const outcomes: Recorded['outcomes'] = []
  return {
    operation: asked.operation ?? (asked.oldObject === undefined ? 'CREATE' : 'UPDATE'),
    resource: {
      group: dot < 0 ? '' : resourceAndGroup.slice(dot + 1),
      version: 'v1',
      resource: dot < 0 ? resourceAndGroup : resourceAndGroup.slice(0, dot),
    },
    subresource,
    kind: { group: '', version: 'v1', kind: 'Any' },
    name: asked.name ?? asked.object?.metadata?.name ?? asked.oldObject?.metadata?.name ?? '',
    namespace: asked.namespace ?? 'a',
    object: asked.object,
    oldObject: asked.oldObject,
    options: {},
    dryRun: asked.dryRun ?? false,
    user: asked.user ?? ALICE,
    reinvocation: { isReinvoke: false, requested: false },
    addWarning: (text) => warnings.push(text),
    addAnnotation: (key, value) => annotations.set(key, value),
    onOutcome: (callback) => outcomes.push(callback),
    warnings,
    annotations,
    outcomes,
  }
}

/** Runs what a plugin does to a request, as a chain would. Gives the message of a refusal, or '' when it is let through. */
export async function ask(plugin: AdmissionPlugin, asked: Asked): Promise<string> {
  const given = attributes(asked)
  if (!plugin.handles(given)) return ''
  try {
    await plugin.admit?.(given)
    await plugin.validate?.(given)
    return ''
  } catch (error) {
    if (error instanceof StatusError) return `${error.code} ${error.message}`
    throw error
  }
}

/** Objects in a map; what is not stored is not there. */
export class FakeObjects implements AdmissionObjects, AdmissionWriter {
  readonly #objects = new Map<string, KubeObject>()
  liveReads = 0

  constructor(objects: Readonly<Record<string, readonly KubeObject[]>> = {}) {
    for (const [resource, list] of Object.entries(objects)) for (const object of list) this.put(resource, object)
  }

  put(resource: string, object: KubeObject): void {
    this.#objects.set(key(resource, object.metadata?.namespace ?? '', object.metadata?.name ?? ''), object)
  }

  remove(resource: string, namespace: string, name: string): void {
    this.#objects.delete(key(resource, namespace, name))
  }

  get<K extends KubeObject>(resource: ResourceOf<K>, namespace: string, name: string): K | undefined
  get(resource: GroupVersionResource, namespace: string, name: string): KubeObject | undefined {
    return this.#objects.get(key(formatGroupResource(resource), namespace, name))
  }

  list<K extends KubeObject>(resource: ResourceOf<K>, namespace: string): readonly K[]
  list(resource: GroupVersionResource, namespace: string): readonly KubeObject[] {
    const prefix = `${formatGroupResource(resource)} ${namespace === '' ? '' : `${namespace}/`}`
    return [...this.#objects].filter(([at]) => at.startsWith(prefix)).map(([, object]) => object)
  }

  select(resource: GroupVersionResource, namespace: string, labels: Selector): readonly ObjectName[] {
    return this.list(resource, namespace)
      .map(({ metadata }) => metadata ?? {})
      .filter((metadata) => labels.matches(new MapAttributes(metadata.labels)))
      .map((metadata) => ({ namespace: metadata.namespace ?? '', name: metadata.name ?? '' }))
  }

  getLive<K extends KubeObject>(resource: ResourceOf<K>, namespace: string, name: string): Promise<K | undefined>
  async getLive(resource: GroupVersionResource, namespace: string, name: string): Promise<KubeObject | undefined> {
    this.liveReads++
    return this.get(resource, namespace, name)
  }

  listLive<K extends KubeObject>(resource: ResourceOf<K>, namespace: string): Promise<readonly K[]>
  async listLive(resource: GroupVersionResource, namespace: string): Promise<readonly KubeObject[]> {
    this.liveReads++
    return this.list(resource, namespace)
  }

  async createIfAbsent(resource: GroupVersionResource, namespace: string, object: KubeObject): Promise<void> {
    if (this.get(resource, namespace, object.metadata?.name ?? '') === undefined)
      this.put(formatGroupResource(resource), object)
  }
}

const key = (resource: string, namespace: string, name: string): string => `${resource} ${namespace}/${name}`

export const namespaceObject = (name: string, more: KubeObject = {}): KubeObject => ({
  ...more,
  metadata: { name, ...more.metadata },
})

export const podWith = (spec: object, metadata: object = {}): KubeObject => ({
  metadata: { name: 'p', namespace: 'a', ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
})
