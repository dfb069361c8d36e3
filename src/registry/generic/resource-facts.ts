/**
 * Thread: any. What is known of a resource without looking into its objects, as src/registry/<group>/<resource>/facts.ts
 * states it: plain data, so that threads that load no rules can have it. All of it is optional.
 */
import type { FieldSpec } from '../../api/json/field-spec.js'
import type { ResourceStorage } from '../../storage/factory/storage-config.js'

export interface ConnectedSubresource {
  /** Whether the path behind the subresource is the other server's, and every method is passed on. */
  readonly subpath?: boolean
}

export interface ResourceFacts {
  /** How the resource is stored, where Kubernetes' history made an exception of it. */
  readonly storage?: ResourceStorage
  /** By version: the warning with every answer about a version that is on its way out. */
  readonly deprecation?: Readonly<Record<string, string>>
  /** The subresources that another server answers; rest.ts says where that server is. */
  readonly connects?: Readonly<Record<string, ConnectedSubresource>>
  /**
   * Whether the resource is in memory whatever the flags of the watch cache say, because every request is decided by
   * it.
   */
  readonly alwaysCached?: boolean
  /** Whether writes are acknowledged only when every thread of this server goes by them. */
  readonly inForceWhenAcknowledged?: boolean
  /**
   * Fields that are kept with the objects for selectors, beyond metadata.name and metadata.namespace, which every
   * resource has.
   */
  readonly indexedFields?: readonly FieldSpec[]
  /** Indexed fields that no selector may name; `regarding.` stands for all that begin so. */
  readonly unselectableFields?: readonly string[]
  /** Fields that selectors may name though no object has them. */
  readonly phantomFields?: readonly string[]
}
