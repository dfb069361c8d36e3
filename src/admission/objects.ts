/** Thread: pool. What admission may ask of the objects that are stored, and the few things it writes itself. */
import type { GroupVersionResource } from '../api/group-version.js'
import type { KubeObject } from '../api/object.js'

export type Maybe<T> = T | Promise<T>

/** What is found is shared: nobody changes it. */
export interface AdmissionObjects {
  /** As this process has it in memory, at once: a moment old at worst. `namespace` '' for cluster scope. */
  get(resource: GroupVersionResource, namespace: string, name: string): Maybe<KubeObject | undefined>
  /** The same for all of a namespace, or with '' for all there are. */
  list(resource: GroupVersionResource, namespace: string): Maybe<readonly KubeObject[]>
  /** The newest state, which may mean to ask storage. */
  getLive(resource: GroupVersionResource, namespace: string, name: string): Maybe<KubeObject | undefined>
  listLive(resource: GroupVersionResource, namespace: string): Maybe<readonly KubeObject[]>
}

/** Writes that admission makes for somebody: as the server, not as the user, and past admission. */
export interface AdmissionWriter {
  /** One that is there already is as good. */
  createIfAbsent(resource: GroupVersionResource, namespace: string, object: KubeObject): Promise<void>
}

const core = (resource: string): GroupVersionResource => ({ group: '', version: 'v1', resource })

export const NAMESPACES = core('namespaces')
export const PODS = core('pods')
export const NODES = core('nodes')
export const SERVICE_ACCOUNTS = core('serviceaccounts')
export const LIMIT_RANGES = core('limitranges')
export const RESOURCE_QUOTAS = core('resourcequotas')
export const PRIORITY_CLASSES: GroupVersionResource = {
  group: 'scheduling.k8s.io',
  version: 'v1',
  resource: 'priorityclasses',
}
export const STORAGE_CLASSES: GroupVersionResource = {
  group: 'storage.k8s.io',
  version: 'v1',
  resource: 'storageclasses',
}
export const INGRESS_CLASSES: GroupVersionResource = {
  group: 'networking.k8s.io',
  version: 'v1',
  resource: 'ingressclasses',
}
export const RUNTIME_CLASSES: GroupVersionResource = {
  group: 'node.k8s.io',
  version: 'v1',
  resource: 'runtimeclasses',
}
