/** Thread: pool. What admission may ask of the objects that are stored, and the few things it writes itself. */

import type { LimitRange, Namespace, Node, Pod, ResourceQuota, ServiceAccount } from '../api/generated/kinds/core.v1.js'
import type { IngressClass } from '../api/generated/kinds/networking.v1.js'
import type { RuntimeClass } from '../api/generated/kinds/node.v1.js'
import type { PriorityClass } from '../api/generated/kinds/scheduling.v1.js'
import type { StorageClass } from '../api/generated/kinds/storage.v1.js'
import type { GroupVersionResource } from '../api/group-version.js'
import type { KubeObject } from '../api/object.js'
import type { Selector } from '../api/selector.js'

export type Maybe<T> = T | Promise<T>

/** A resource of which the compiler knows the kind. */
export interface ResourceOf<K extends KubeObject> extends GroupVersionResource {
  /** The property does not exist: it carries the type of the kind alone. */
  readonly object?: K
}

export interface ObjectName {
  /** '' for cluster scope. */
  readonly namespace: string
  readonly name: string
}

/** Reads objects for plugins. What is found is shared, so nobody changes it. */
export interface AdmissionObjects {
  /**
   * The object as this process has it in memory, at once: it is a moment old at worst. `namespace` is '' for cluster
   * scope.
   */
  get<K extends KubeObject>(resource: ResourceOf<K>, namespace: string, name: string): Maybe<K | undefined>
  /** All objects of a namespace, or with '' all there are, as this process has them in memory. */
  list<K extends KubeObject>(resource: ResourceOf<K>, namespace: string): Maybe<readonly K[]>
  /** Which of the objects that list() would give have such labels. No object is read for it: there may be many, and large ones. */
  select(resource: GroupVersionResource, namespace: string, labels: Selector): Maybe<readonly ObjectName[]>
  /** The newest state of the object, for which the storage may have to be asked. */
  getLive<K extends KubeObject>(resource: ResourceOf<K>, namespace: string, name: string): Maybe<K | undefined>
  listLive<K extends KubeObject>(resource: ResourceOf<K>, namespace: string): Maybe<readonly K[]>
}

/** Writes that admission makes for somebody: as the server, not as the user, and past admission. */
export interface AdmissionWriter {
  /** Has no effect when the object is there already. */
  createIfAbsent(resource: GroupVersionResource, namespace: string, object: KubeObject): Promise<void>
}

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const

export const NAMESPACES: ResourceOf<Namespace> = core('namespaces')
export const PODS: ResourceOf<Pod> = core('pods')
export const NODES: ResourceOf<Node> = core('nodes')
export const SERVICE_ACCOUNTS: ResourceOf<ServiceAccount> = core('serviceaccounts')
export const LIMIT_RANGES: ResourceOf<LimitRange> = core('limitranges')
export const RESOURCE_QUOTAS: ResourceOf<ResourceQuota> = core('resourcequotas')
export const PRIORITY_CLASSES: ResourceOf<PriorityClass> = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  resource: 'priorityclasses',
}
export const STORAGE_CLASSES: ResourceOf<StorageClass> = {
  group: 'storage.k8s.io',
  version: 'v1',
  resource: 'storageclasses',
}
export const INGRESS_CLASSES: ResourceOf<IngressClass> = {
  group: 'networking.k8s.io',
  version: 'v1',
  resource: 'ingressclasses',
}
export const RUNTIME_CLASSES: ResourceOf<RuntimeClass> = {
  group: 'node.k8s.io',
  version: 'v1',
  resource: 'runtimeclasses',
}
