/** Thread: pool. The deletion of one object: at once, gracefully, or after its finalizers. */
import { type KubeObject, metadataOf } from '../../api/object.js'
import { type Status, successStatus } from '../../api/status.js'
import { isCorruptObject } from '../../storage/contract/errors.js'
import { beforeDelete, finalizersForGarbageCollection, markAsDeleting } from './before-delete.js'
import type { DryRunnableStorage } from './dry-run-storage.js'
import type { RegistryStoreOptions, ValidateObject } from './registry-store-options.js'
import { translated } from './storage-status.js'
import { type DeleteOptions, type Preconditions, type RequestContext, signalOf } from './strategy.js'

export interface DeletionRequest {
  readonly context: RequestContext
  readonly name: string
  readonly key: string
  readonly options: DeleteOptions
  readonly validation: ValidateObject
}

export interface UnreadableDeletion extends Pick<DeletionRequest, 'context' | 'name' | 'key'> {
  readonly preconditions: Preconditions | undefined
}

export class RegistryStoreDeletion {
  readonly #options: RegistryStoreOptions
  readonly #storage: DryRunnableStorage

  constructor(options: RegistryStoreOptions, storage: DryRunnableStorage) {
    this.#options = options
    this.#storage = storage
  }

  /** `deleted: false`: the object is ending, or waits for its finalizers. Begins again when it got one while it was being deleted. */
  async delete(request: DeletionRequest): Promise<{ result: KubeObject | Status; deleted: boolean }> {
    for (;;) {
      try {
        return await this.#attempt(request)
      } catch (error) {
        if (!(error instanceof HeldMeanwhile)) throw error
      }
    }
  }

  async #attempt(request: DeletionRequest): Promise<{ result: KubeObject | Status; deleted: boolean }> {
    const { context, name, key, options, validation } = request
    const existing = await translated(this.#options.groupResource, name, () =>
      this.#storage.storage.get(key, signalOf(context)),
    )
    const { deleteStrategy } = this.#options
    const kind = beforeDelete(deleteStrategy, existing, options, context)
    if (kind === 'pending') return { result: await this.#finalize(existing, true, context), deleted: false }
    const finalizers = metadataOf(existing).finalizers ?? []
    const preconditions = { ...options.preconditions }
    if (kind === 'graceful' || finalizers.length > 0 || this.#gcFinalizers(existing, options) !== undefined) {
      const marked = await this.#mark(request, existing)
      if (!marked.deleteNow) return { result: marked.object, deleted: false }
      if (marked.changed && preconditions.resourceVersion !== undefined) {
        const { resourceVersion } = metadataOf(marked.object)
        if (resourceVersion !== undefined) preconditions.resourceVersion = resourceVersion
      }
      if (context.dryRun) return { result: await this.#finalize(marked.object, false, context), deleted: true }
    }
    // Kubernetes deletes it all the same: whoever was told that the finalizer is there would never see the end.
    const validateDeletion = async (object: KubeObject): Promise<void> => {
      const held = this.#gcFinalizers(object, options) ?? metadataOf(object).finalizers ?? []
      if (held.length > 0) throw new HeldMeanwhile()
      await validation(object)
    }
    const deleted = await translated(this.#options.groupResource, name, () =>
      this.#storage.delete(key, { preconditions, validateDeletion, ...signalOf(context) }, context.dryRun),
    )
    return { result: await this.#finalize(deleted, false, context), deleted: true }
  }

  /**
   * False also for an object that is not there, and while a key service or the storage is away: nothing is broken then.
   */
  async isUnreadable(key: string, context: RequestContext): Promise<boolean> {
    try {
      await this.#storage.storage.get(key, signalOf(context))
      return false
    } catch (error) {
      return isCorruptObject(error)
    }
  }

  async deleteUnreadable({ context, name, key, preconditions = {} }: UnreadableDeletion): Promise<void> {
    // That the object is there and cannot be read was seen; a dry run cannot find out more.
    if (context.dryRun) return
    await translated(this.#options.groupResource, name, () =>
      this.#storage.storage.delete(key, { preconditions, ignoreStoreReadError: true, ...signalOf(context) }),
    )
  }

  #gcFinalizers(object: KubeObject, options: DeleteOptions): string[] | undefined {
    if (!this.#options.enableGarbageCollection) return undefined
    return finalizersForGarbageCollection(this.#options.deleteStrategy, object, options)
  }

  /** Stores the deletion marks; deleteNow when nothing holds the object any longer. */
  async #mark(
    { context, name, key, options, validation }: DeletionRequest,
    read: KubeObject,
  ): Promise<{ object: KubeObject; deleteNow: boolean; changed: boolean }> {
    let waits = false
    const tryUpdate = async (existing: KubeObject) => {
      waits = false
      await validation(existing)
      const kind = beforeDelete(this.#options.deleteStrategy, existing, options, context)
      if (kind === 'pending') throw new AlreadyDeleting()
      const next = this.#gcFinalizers(existing, options)
      const metadata = metadataOf(existing)
      if (next !== undefined) {
        if (next.length === 0) delete metadata.finalizers
        else metadata.finalizers = next
      }
      const pending = (metadata.finalizers ?? []).length > 0
      if (kind === 'graceful') {
        waits = pending || options.gracePeriodSeconds! > 0
        return { object: existing }
      }
      if (!pending) throw new DeleteNow(existing)
      waits = true
      markAsDeleting(existing, context.now())
      return { object: existing }
    }
    try {
      const updateOptions = {
        ...(options.preconditions === undefined ? {} : { preconditions: options.preconditions }),
        ...signalOf(context),
      }
      const object = await translated(this.#options.groupResource, name, () =>
        this.#storage.guaranteedUpdate(key, tryUpdate, updateOptions, context.dryRun),
      )
      return { object, deleteNow: !waits, changed: true }
    } catch (error) {
      if (error instanceof DeleteNow) return { object: error.object, deleteNow: true, changed: false }
      if (error instanceof AlreadyDeleting) return { object: read, deleteNow: false, changed: false }
      throw error
    }
  }

  async #finalize(object: KubeObject, wantsObject: boolean, context: RequestContext): Promise<KubeObject | Status> {
    if (!wantsObject) await this.#options.afterDelete?.(object, context)
    if (wantsObject || this.#options.returnDeletedObject === true) {
      this.#options.decorate?.(object)
      return object
    }
    const { group, resource } = this.#options.groupResource
    const { name = '', uid = '' } = metadataOf(object)
    return successStatus({ name, ...(group === '' ? {} : { group }), kind: resource, uid })
  }
}

/** Leave a transaction's function without writing. */
class AlreadyDeleting extends Error {}
/** Leaves a deletion without deleting. */
class HeldMeanwhile extends Error {}
class DeleteNow extends Error {
  readonly object: KubeObject
  constructor(object: KubeObject) {
    super('delete now')
    this.object = object
  }
}
