/** Thread: pool. One resource in one version, or one of its subresources, with everything a request to it needs. */
import type { ResourceInfo } from '../../api/catalogue.js'
import type { GroupVersionKind } from '../../api/group-version.js'
import type { KubeObject } from '../../api/object.js'
import type { StructSchema } from '../../api/schema.js'
import type { EndpointHandler } from '../../registry/generic/endpoint-handler.js'
import type { HubConversion, ResourceRules } from '../../registry/generic/resource-rules.js'
import type { Store } from '../../registry/generic/store.js'
import type { FieldManager } from './apply/field-manager.js'

export interface Endpoint {
  readonly info: ResourceInfo
  /** The name of the subresource; '' for the resource itself. */
  readonly subresource: string
  /** The kind of the bodies: a subresource may have one of its own. */
  readonly kind: GroupVersionKind
  readonly schema: StructSchema
  /** Of the hub version, which memory and strategies have. */
  readonly hubSchema: StructSchema
  readonly rules: ResourceRules
  /** The fields that selectors may name. */
  readonly selectableFields: readonly string[]
  /** The store of the resource; one that answers 405 for resources that are never stored. */
  readonly store: Store
  /** Carries out verbs in place of the store, for endpoints that do something else than store an object. */
  readonly handler: EndpointHandler | undefined
  readonly fieldManager: FieldManager
  /** Between the version of a request and the hub version; undefined when they are one. */
  readonly conversion: HubConversion | undefined
}

/** What a version says of the object in memory: it may be more than the client said, which owns that too. */
export const throughHub = ({ conversion }: Pick<Endpoint, 'conversion'>, object: KubeObject): KubeObject =>
  conversion === undefined ? object : conversion.fromHub(conversion.toHub(object))
