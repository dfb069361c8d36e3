/** Thread: pool. One resource in one version, or one of its subresources, with everything a request to it needs. */
import type { ResourceInfo } from '../../api/catalogue.js'
import type { GroupVersionKind } from '../../api/group-version.js'
import type { KubeObject } from '../../api/object.js'
import type { StructSchema } from '../../api/schema.js'
import type { ObjectConverter } from '../../apiextensions/conversion/interface.js'
import type { CompiledVersion } from '../../apiextensions/definitions/definition-source.js'
import type { EndpointHandler } from '../../registry/generic/endpoint-handler.js'
import type { RegistryStore } from '../../registry/generic/registry-store.js'
import type { ResourceRules, VersionConversion } from '../../registry/generic/resource-rules.js'
import type { FieldManager } from './apply/field-manager.js'
import type { ManagerConversions } from './apply/manager-conversions.js'

export interface Endpoint {
  readonly info: ResourceInfo
  /** The name of the subresource; '' for the resource itself. */
  readonly subresource: string
  /** The kind of the bodies: a subresource may have one of its own. */
  readonly kind: GroupVersionKind
  readonly schema: StructSchema
  /** The schema of the memory version, which memory and strategies have. */
  readonly memorySchema: StructSchema
  readonly rules: ResourceRules
  /** The fields that selectors may name. */
  readonly selectableFields: readonly string[]
  /** The store of the resource; one that answers 405 for resources that are never stored. */
  readonly store: RegistryStore
  /** Carries out verbs in place of the store, for endpoints that do something else than store an object. */
  readonly handler: EndpointHandler | undefined
  readonly fieldManager: FieldManager
  /** Of a custom resource: the version of its schema that requests are held against. */
  readonly custom?: CompiledVersion | undefined
  /**
   * Of a custom resource whose versions a webhook converts: the way from objects in memory, in whichever version they are, to the
   * version of the endpoint. Its store gives and takes that version, so such an endpoint has no `conversion`.
   */
  readonly converter?: ObjectConverter | undefined
  /** Runs what settles managers, which compares objects in the versions of others; undefined when that takes no waiting. */
  readonly managerConversions?: ManagerConversions | undefined
  /** Between the version of a request and the memory version; undefined when they are one. */
  readonly conversion: VersionConversion | undefined
}

/**
 * What the memory version makes of an object: it may say more than the client said, and the client owns that too. Of a custom
 * object the client owns what it said in its own version, though the storage version may lack it.
 */
export const throughMemoryVersion = (
  { conversion, custom }: Pick<Endpoint, 'conversion' | 'custom'>,
  object: KubeObject,
): KubeObject =>
  conversion === undefined || custom !== undefined
    ? object
    : conversion.fromMemoryVersion(conversion.toMemoryVersion(object))
