/** Thread: pool. One resource in one version, or one of its subresources, with everything a request to it needs. */
import type { ResourceInfo } from '../api/catalogue.js'
import type { GroupVersionKind } from '../api/group-version.js'
import type { KubeObject } from '../api/object.js'
import type { StructSchema } from '../api/schema.js'
import type { ResourceRules } from '../registry/generic/resource-rules.js'
import type { Store } from '../registry/generic/store.js'
import type { FieldManager } from './apply/field-manager.js'

/** Between the version of a request and the one that is stored; the same object when they are one. */
export interface VersionConversion {
  toStored(object: KubeObject): KubeObject
  fromStored(object: KubeObject): KubeObject
}

export interface Endpoint {
  readonly info: ResourceInfo
  /** '' for the resource itself. */
  readonly subresource: string
  readonly kind: GroupVersionKind
  readonly schema: StructSchema
  readonly rules: ResourceRules
  /** The fields that selectors may name. */
  readonly selectableFields: readonly string[]
  readonly store: Store
  readonly fieldManager: FieldManager
  readonly conversion: VersionConversion | undefined
}
