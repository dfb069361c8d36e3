/**
 * Thread: pool. The update of one object inside the storage's transaction. It may create the object, and it deletes the object
 * when it takes away what kept a deleted one: its last finalizer.
 */
import { FieldPath, invalid } from '../../api/field-error.js'
import { type KubeObject, metadataOf } from '../../api/object.js'
import { newConflict, newInternalError, newInvalid, newNotFound } from '../../api/status.js'
import { isNotFound, isStorageError } from '../../storage/contract/errors.js'
import { shouldDeleteDuringUpdate } from './before-delete.js'
import { beforeCreate, beforeUpdate } from './before-write.js'
import { BegunWrite } from './begun-write.js'
import type { DryRunnableStorage } from './dry-run-storage.js'
import {
  type RegistryStoreOptions,
  type UpdatedObjectInfo,
  type ValidateObject,
  type ValidateObjectUpdate,
  writerOf,
} from './registry-store-options.js'
import { givenVersion, interpretStorageError, translated } from './storage-status.js'
import { type CreateStrategy, type RequestContext, signalOf, type UpdateStrategy } from './strategy.js'
import { fillSystemFields, wipeSystemFields } from './system-fields.js'

const OPTIMISTIC_LOCK_MESSAGE =
  'the object has been modified; please apply your changes to the latest version and try again'

export interface UpdateValidation {
  readonly create: ValidateObject
  readonly update: ValidateObjectUpdate
}

export interface UpdateRequest {
  readonly context: RequestContext
  readonly name: string
  readonly key: string
  readonly info: UpdatedObjectInfo
  readonly validation: UpdateValidation
  readonly forceAllowCreate: boolean
}

/** What the update took the last finalizer from, and the state that it goes by. */
interface Emptied {
  readonly object: KubeObject
  readonly resourceVersion: string
}

/** Instead of an outcome: between the decision to delete and the deletion somebody else has written. */
const OVERTAKEN = Symbol('overtaken')

export class RegistryStoreUpdate {
  readonly #options: RegistryStoreOptions
  readonly #storage: DryRunnableStorage

  constructor(options: RegistryStoreOptions, storage: DryRunnableStorage) {
    this.#options = options
    this.#storage = storage
  }

  /** Begins again only after a write of somebody else, so that in any number of updates one goes on. */
  async update(request: UpdateRequest): Promise<{ object: KubeObject; created: boolean }> {
    for (;;) {
      const outcome = await this.#attempt(request)
      if (outcome !== OVERTAKEN) return outcome
    }
  }

  async #attempt(request: UpdateRequest): Promise<{ object: KubeObject; created: boolean } | typeof OVERTAKEN> {
    const { context, name, key, info, validation } = request
    const mayCreate = updateStrategyOf(this.#options).allowCreateOnUpdate || request.forceAllowCreate
    const outcome: { created: boolean; emptied: Emptied | undefined } = { created: false, emptied: undefined }
    const begun = new BegunWrite()
    const tryUpdate = async (existing: KubeObject, meta: { ttlSeconds: number | undefined }) => {
      outcome.created = false
      outcome.emptied = undefined
      // Another writer was faster: what the attempt before this one took is given back.
      await begun.settle(false)
      const existingVersion = this.#storage.storage.versioner.objectResourceVersion(existing)
      if (existingVersion === 0 && !mayCreate) throw newNotFound(this.#options.groupResource, name)
      const object = await info.updatedObject(existing)
      if (existingVersion === 0) {
        outcome.created = true
        return {
          object: await this.#creating(context, object, validation.create, begun),
          ttlSeconds: this.#options.ttlSeconds?.(object, 0, false),
        }
      }
      await this.#updating(context, name, object, existing, validation.update, begun)
      const emptied =
        shouldDeleteDuringUpdate(object, existing) &&
        (this.#options.shouldDeleteDuringUpdate?.(object, existing) ?? true)
      if (emptied) {
        outcome.emptied = { object, resourceVersion: String(existingVersion) }
        throw new EmptiedFinalizers()
      }
      const ttl = this.#options.ttlSeconds?.(object, meta.ttlSeconds ?? 0, true)
      return { object, ttlSeconds: ttl === (meta.ttlSeconds ?? 0) ? undefined : ttl }
    }
    const storageOptions = {
      ignoreNotFound: mayCreate,
      ...(info.preconditions === undefined ? {} : { preconditions: info.preconditions }),
      ...writerOf(this.#options, context),
    }
    try {
      const object = await translated(this.#options.groupResource, name, () =>
        begun.writing(this.#storage.guaranteedUpdate(key, tryUpdate, storageOptions, context.dryRun)),
      )
      await begun.settle(true)
      if (outcome.created) this.#options.afterCreate?.(object)
      else this.#options.afterUpdate?.(object)
      this.#options.decorate?.(object)
      return { object, created: outcome.created }
    } catch (error) {
      await begun.settle(false)
      if (error instanceof EmptiedFinalizers && outcome.emptied !== undefined) {
        const object = await this.#deleteEmptied(request, outcome.emptied)
        return object === OVERTAKEN ? OVERTAKEN : { object, created: false }
      }
      throw error
    }
  }

  async #creating(
    context: RequestContext,
    object: KubeObject,
    validation: ValidateObject,
    begun: BegunWrite,
  ): Promise<KubeObject> {
    wipeSystemFields(object)
    fillSystemFields(object, context.now())
    delete metadataOf(object).resourceVersion
    if (this.#options.beginCreate !== undefined) await begun.begin(this.#options.beginCreate(object, context))
    beforeCreate(createStrategyOf(this.#options), object, context)
    await validation(object)
    return object
  }

  async #updating(
    context: RequestContext,
    name: string,
    object: KubeObject,
    existing: KubeObject,
    validation: ValidateObjectUpdate,
    begun: BegunWrite,
  ): Promise<void> {
    const strategy = updateStrategyOf(this.#options)
    const versioner = this.#storage.storage.versioner
    const existingVersion = versioner.objectResourceVersion(existing)
    const version = givenVersion(versioner, object)
    if (version === 0) {
      if (!strategy.allowUnconditionalUpdate) {
        const kind = { group: this.#options.groupResource.group, kind: this.#options.groupResource.resource }
        throw newInvalid(kind, name, [
          invalid(FieldPath.of('metadata', 'resourceVersion'), 0, 'must be specified for an update'),
        ])
      }
      versioner.updateObject(object, existingVersion)
    } else if (version !== existingVersion)
      throw newConflict(this.#options.groupResource, name, OPTIMISTIC_LOCK_MESSAGE)
    if (this.#options.beginUpdate !== undefined) await begun.begin(this.#options.beginUpdate(object, existing, context))
    beforeUpdate(strategy, object, existing, context)
    await validation(object, existing)
  }

  /**
   * The update removed the last finalizer: the object goes, and the client gets what it sent. It goes as it was when that was decided: whoever has
   * written since may have given it a finalizer, or another object may have its name. (Kubernetes asks for the uid alone here, and
   * deletes what another update has acknowledged meanwhile.)
   */
  async #deleteEmptied(
    { context, name, key, info }: UpdateRequest,
    { object, resourceVersion }: Emptied,
  ): Promise<KubeObject | typeof OVERTAKEN> {
    try {
      const preconditions = { ...info.preconditions, resourceVersion }
      const deleted = await this.#storage.delete(key, { preconditions, ...signalOf(context) }, context.dryRun)
      await this.#options.afterDelete?.(deleted, context)
    } catch (error) {
      if (isStorageError(error, 'invalid-object')) return OVERTAKEN
      // Another writer took it away in the meantime: what was wanted has happened.
      if (!isNotFound(error)) throw interpretStorageError(error, this.#options.groupResource, name)
    }
    this.#options.decorate?.(object)
    return object
  }
}

export function createStrategyOf({ createStrategy, groupResource }: RegistryStoreOptions): CreateStrategy {
  if (createStrategy === undefined) throw newInternalError(`${groupResource.resource} cannot be created here`)
  return createStrategy
}

function updateStrategyOf({ updateStrategy, groupResource }: RegistryStoreOptions): UpdateStrategy {
  if (updateStrategy === undefined) throw newInternalError(`${groupResource.resource} cannot be updated here`)
  return updateStrategy
}

/** Leaves a transaction's function without writing. */
class EmptiedFinalizers extends Error {}
