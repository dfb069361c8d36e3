/**
 * Thread: pool. What a kind of object adds to the generic registry: how it is prepared, validated, changed and deleted.
 * The shapes are those of Kubernetes' rest.RESTCreateStrategy and its siblings; objects are plain trees.
 */

import type { FieldError } from '../../api/field-error.js'
import type { JsonPath } from '../../api/json/decode.js'
import type { ParsedJson } from '../../api/json/parse.js'
import type { KubeObject } from '../../api/object.js'
import type { Int64 } from '../../api/scalar-types.js'
import type { GroupKind } from '../../api/status.js'
import type { UserInfo } from '../../api/user-info.js'
import type { CancelSignal } from '../../lib/cancellation.js'
import type { OnPrinted } from '../../storage/contract/interface.js'

/** What a strategy may know of the request that it serves. */
export interface RequestContext {
  /** '' for cluster-scoped resources and for lists over all namespaces. */
  readonly namespace: string
  readonly resource: string
  readonly subresource: string
  /** The verb that authorization knows: update, patch. */
  readonly verb: string
  readonly apiGroup: string
  readonly apiVersion: string
  readonly user: UserInfo
  readonly dryRun: boolean
  /** The time of the request in milliseconds since the epoch. */
  now(): number
  /** Sent to the client in a Warning header; said once however often it is added. */
  addWarning(text: string): void
  /** The paths of lists and maps that the client wrote and left empty, which the object does not show. */
  emptied?(): readonly JsonPath[]
  /** By the object that holds them, the names of whole numbers that a client wrote as 4.0. */
  wholeFloats?(): ParsedJson['wholeFloats']
  readonly signal?: CancelSignal
  /** Is told of the JSON that was printed of what the request has written. */
  readonly onPrinted?: OnPrinted<KubeObject>
}

/** The signal of a request, for calls that take one only when there is one. */
export const signalOf = ({ signal }: RequestContext): { signal?: CancelSignal } =>
  signal === undefined ? {} : { signal }

export interface Preconditions {
  uid?: string
  resourceVersion?: string
}

export type PropagationPolicy = 'Orphan' | 'Background' | 'Foreground'

export interface DeleteOptions {
  gracePeriodSeconds?: Int64
  preconditions?: Preconditions
  orphanDependents?: boolean
  propagationPolicy?: PropagationPolicy
  dryRun?: string[]
  ignoreStoreReadErrorWithClusterBreakingPotential?: boolean
}

export type GarbageCollectionPolicy = 'DeleteDependents' | 'OrphanDependents' | 'Unsupported'

export interface CreateStrategy {
  readonly kind: GroupKind
  readonly namespaceScoped: boolean
  generateName(base: string): string
  /** Clears what clients may not set and sets what the server owns. */
  prepareForCreate(object: KubeObject, context: RequestContext): void
  validate(object: KubeObject, context: RequestContext): FieldError[]
  warningsOnCreate(object: KubeObject, context: RequestContext): string[]
  /** Brings an object that passed validation into its normal form. */
  canonicalize(object: KubeObject): void
}

export interface UpdateStrategy {
  readonly kind: GroupKind
  readonly namespaceScoped: boolean
  /** A PUT of an object that does not exist creates it. */
  readonly allowCreateOnUpdate: boolean
  /** A PUT without a resourceVersion replaces whatever is there. */
  readonly allowUnconditionalUpdate: boolean
  prepareForUpdate(object: KubeObject, old: KubeObject, context: RequestContext): void
  validateUpdate(object: KubeObject, old: KubeObject, context: RequestContext): FieldError[]
  warningsOnUpdate(object: KubeObject, old: KubeObject, context: RequestContext): string[]
  canonicalize(object: KubeObject): void
}

export interface DeleteStrategy {
  readonly kind: GroupKind
  readonly defaultGarbageCollectionPolicy: GarbageCollectionPolicy
  /**
   * True when the object must be told to end before it goes; then options.gracePeriodSeconds is set.
   * Absent: the kind knows no grace.
   */
  checkGracefulDelete?(object: KubeObject, options: DeleteOptions, context: RequestContext): boolean
}

/** Fields that a writer through this endpoint cannot set, so it must not come to own them: ['status'] for the main one. */
export interface ResetFieldsStrategy {
  readonly resetFields: readonly (readonly string[])[]
}

export interface Strategy extends CreateStrategy, UpdateStrategy, DeleteStrategy, ResetFieldsStrategy {}
