/** Thread: pool. What a RegistryStore is made of. */
import type { GroupResource } from '../../api/group-version.js'
import type { KubeObject } from '../../api/object.js'
import type { CreateOptions, ObjectAttributes, Storage } from '../../storage/contract/interface.js'
import {
  type CreateStrategy,
  type DeleteStrategy,
  type RequestContext,
  signalOf,
  type UpdateStrategy,
} from './strategy.js'

export type ValidateObject = (object: KubeObject) => Promise<void> | void
export type ValidateObjectUpdate = (object: KubeObject, old: KubeObject) => Promise<void> | void
/**
 * Called with whether the write happened. When it did not, it releases what begin() took; when it did, what the write
 * gave up. It is never called when nobody knows whether the write happened: then everything stays taken until it is
 * repaired.
 */
export type Finish = (succeeded: boolean) => Promise<void> | void

/** Makes the new state from the current one, which has no resourceVersion when nothing exists. */
export interface UpdatedObjectInfo {
  readonly preconditions?: { uid?: string; resourceVersion?: string }
  updatedObject(existing: KubeObject): Promise<KubeObject> | KubeObject
}

export interface RegistryStoreOptions {
  readonly groupResource: GroupResource
  readonly storage: Storage<KubeObject>
  /** Keys are `<keyPrefix>/<namespace>/<name>`, or without namespace for cluster scope: `/pods`. */
  readonly keyPrefix: string
  readonly createStrategy?: CreateStrategy
  readonly updateStrategy?: UpdateStrategy
  readonly deleteStrategy: DeleteStrategy
  getAttributes(object: KubeObject): ObjectAttributes
  /** The seconds that an object lives; 0 for ever. */
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
export interface RegistryStoreHooks<K extends KubeObject = KubeObject> {
  beginCreate?(object: K, context: RequestContext): Promise<Finish>
  beginUpdate?(object: K, old: K, context: RequestContext): Promise<Finish>
  /** Called before an update of the status alone. */
  beginStatusUpdate?(object: K, old: K, context: RequestContext): Promise<Finish>
  afterDelete?(object: K, context: RequestContext): Promise<void> | void
}

/** What a request gives to the storage with its writes. What is decorated afterwards is not what was printed. */
export const writerOf = (
  { decorate }: Pick<RegistryStoreOptions, 'decorate'>,
  context: RequestContext,
): Pick<CreateOptions<KubeObject>, 'signal' | 'onPrinted'> => ({
  ...signalOf(context),
  ...(context.onPrinted === undefined || decorate !== undefined ? {} : { onPrinted: context.onPrinted }),
})
