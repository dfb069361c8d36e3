/** Thread: pool. What a Store is made of. */
import type { GroupResource } from '../../api/group-version.js'
import type { KubeObject } from '../../api/object.js'
import type { ObjectAttributes, Storage } from '../../storage/contract/interface.js'
import type { CreateStrategy, DeleteStrategy, RequestContext, UpdateStrategy } from './strategy.js'

export type ValidateObject = (object: KubeObject) => Promise<void> | void
export type ValidateObjectUpdate = (object: KubeObject, old: KubeObject) => Promise<void> | void
/**
 * Called with whether the write happened: releases what begin() took when it did not, and what the write gave up when it
 * did. Never called when nobody knows whether it happened: then everything stays taken until it is repaired.
 */
export type Finish = (succeeded: boolean) => Promise<void> | void

/** The new state made from the current one; what it is given when nothing exists has no resourceVersion. */
export interface UpdatedObjectInfo {
  readonly preconditions?: { uid?: string; resourceVersion?: string }
  updatedObject(existing: KubeObject): Promise<KubeObject> | KubeObject
}

export interface StoreOptions {
  readonly groupResource: GroupResource
  readonly storage: Storage<KubeObject>
  /** Keys are `<keyPrefix>/<namespace>/<name>`, or without namespace for cluster scope: `/pods`. */
  readonly keyPrefix: string
  readonly createStrategy?: CreateStrategy
  readonly updateStrategy?: UpdateStrategy
  readonly deleteStrategy: DeleteStrategy
  getAttributes(object: KubeObject): ObjectAttributes
  /** Seconds to live of an object; 0: for ever. */
  ttlSeconds?(object: KubeObject, existing: number, update: boolean): number
  beginCreate?(object: KubeObject, context: RequestContext): Promise<Finish>
  beginUpdate?(object: KubeObject, old: KubeObject, context: RequestContext): Promise<Finish>
  afterCreate?(object: KubeObject): void
  afterUpdate?(object: KubeObject): void
  afterDelete?(object: KubeObject, context: RequestContext): Promise<void> | void
  /** Further conditions for an update to become a deletion. */
  shouldDeleteDuringUpdate?(next: KubeObject, existing: KubeObject): boolean
  /** Changes what is returned, never what is stored. */
  decorate?(object: KubeObject): void
  readonly enableGarbageCollection: boolean
  /** DELETE answers with the object instead of a Status. */
  readonly returnDeletedObject?: boolean
  readonly deleteCollectionWorkers: number
}

/**
 * What a resource does around its writes beyond its rules: it needs other storages for it. The hooks of a kind are given objects of
 * that kind, as its rules are.
 */
export interface StoreHooks<K extends KubeObject = KubeObject> {
  beginCreate?(object: K, context: RequestContext): Promise<Finish>
  beginUpdate?(object: K, old: K, context: RequestContext): Promise<Finish>
  /** Of the status alone. */
  beginStatusUpdate?(object: K, old: K, context: RequestContext): Promise<Finish>
  afterDelete?(object: K, context: RequestContext): Promise<void> | void
}
