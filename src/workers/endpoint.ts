/** Thread: pool. One resource in one version, or one of its subresources, with everything a request to it needs. */
import type { ResourceInfo } from '../api/catalogue.js'
import type { GroupVersionKind } from '../api/group-version.js'
import type { StructSchema } from '../api/schema.js'
import type { HubConversion, ResourceRules } from '../registry/generic/resource-rules.js'
import type { Store } from '../registry/generic/store.js'
import type { FieldManager } from './apply/field-manager.js'

export interface Endpoint {
  readonly info: ResourceInfo
  /** '' for the resource itself. */
  readonly subresource: string
  readonly kind: GroupVersionKind
  readonly schema: StructSchema
  /** Of the hub version, which memory and strategies have. */
  readonly hubSchema: StructSchema
  readonly rules: ResourceRules
  /** The fields that selectors may name. */
  readonly selectableFields: readonly string[]
  readonly store: Store
  readonly fieldManager: FieldManager
  /** Between the version of a request and the hub version; undefined when they are one. */
  readonly conversion: HubConversion | undefined
}
