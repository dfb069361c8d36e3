/**
 * Thread: pool. The generic registry: create, update and delete of one resource, with its strategy inside the storage's
 * transactions. Kubernetes' registry.Store.
 */

import { FieldPath, invalid } from '../../api/field-error.js'
import type { GroupResource } from '../../api/group-version.js'
import { deepCopy, type KubeObject, metadataOf } from '../../api/object.js'
import type { Selector } from '../../api/selector.js'
import {
  isStatusError,
  newBadRequest,
  newConflict,
  newGenerateNameConflict,
  newInternalError,
  newInvalid,
  newNotFound,
  type Status,
} from '../../api/status.js'
import type { CancelSignal } from '../../lib/cancellation.js'
import { isNotFound } from '../../storage/contract/errors.js'
import type {
  ListResult,
  SelectionPredicate,
  Storage,
  ListOptions as StorageListOptions,
  WatchStream,
} from '../../storage/contract/interface.js'
import { shouldDeleteDuringUpdate } from './before-delete.js'
import { beforeCreate, beforeUpdate } from './before-write.js'
import { BegunWrite } from './begun-write.js'
import { DryRunnableStorage } from './dry-run-storage.js'
import { givenVersion, interpretStorageError, translated } from './storage-status.js'
import { StoreDeletion } from './store-deletion.js'
import type { StoreOptions, UpdatedObjectInfo, ValidateObject, ValidateObjectUpdate } from './store-options.js'
import {
  type CreateStrategy,
  type DeleteOptions,
  type Preconditions,
  type RequestContext,
  signalOf,
  type UpdateStrategy,
} from './strategy.js'
import { fillSystemFields, wipeSystemFields } from './system-fields.js'

/** 8 tries make a million names with one generateName unlikely to meet: 0.1 %. */
const MAX_NAME_ATTEMPTS = 8
const OPTIMISTIC_LOCK_MESSAGE =
  'the object has been modified; please apply your changes to the latest version and try again'

/** A start-up error: the resource cannot be served as it is configured. */
export class StoreConfigError extends Error {
  override readonly name = 'StoreConfigError'
}

/** Checks what completeWithOptions of Kubernetes checks: all that would otherwise fail at the first request. */
export function completeWithOptions(options: StoreOptions): Store {
  const { groupResource, keyPrefix, createStrategy, updateStrategy } = options
  const what = groupResource.resource
  if (what === '') throw new StoreConfigError('a store must have a qualified resource')
  if (
    createStrategy !== undefined &&
    updateStrategy !== undefined &&
    createStrategy.namespaceScoped !== updateStrategy.namespaceScoped
  ) {
    throw new StoreConfigError(`store for ${what}: create and update strategy must have the same scope`)
  }
  if (createStrategy === undefined && updateStrategy === undefined) {
    throw new StoreConfigError(`store for ${what} must have a create or an update strategy`)
  }
  if (!keyPrefix.startsWith('/') || keyPrefix === '/' || keyPrefix.endsWith('/')) {
    throw new StoreConfigError(`store for ${what} has an invalid prefix ${JSON.stringify(keyPrefix)}`)
  }
  if (options.deleteCollectionWorkers < 1)
    throw new StoreConfigError(`store for ${what} must have at least one delete-collection worker`)
  return new Store(options)
}

export interface StoreWatchOptions {
  /** '': whatever the selectors select. */
  readonly name: string
  readonly resourceVersion: string
  readonly sendInitialEvents?: boolean
  readonly allowWatchBookmarks: boolean
  readonly signal?: CancelSignal
}

export class Store {
  readonly groupResource: GroupResource
  readonly #options: StoreOptions
  readonly #storage: DryRunnableStorage
  readonly #deletion: StoreDeletion
  readonly #namespaceScoped: boolean

  constructor(options: StoreOptions) {
    this.#options = options
    this.groupResource = options.groupResource
    this.#storage = new DryRunnableStorage(options.storage)
    this.#deletion = new StoreDeletion(options, this.#storage)
    this.#namespaceScoped = (options.createStrategy ?? options.updateStrategy)!.namespaceScoped
  }

  get storage(): Storage<KubeObject> {
    return this.#storage.storage
  }

  keyRoot(namespace: string): string {
    const { keyPrefix } = this.#options
    return this.#namespaceScoped && namespace !== '' ? `${keyPrefix}/${namespace}/` : `${keyPrefix}/`
  }

  key(namespace: string, name: string): string {
    if (this.#namespaceScoped && namespace === '') throw newBadRequest('Namespace parameter required.')
    if (name === '') throw newBadRequest('Name parameter required.')
    return `${this.keyRoot(namespace)}${name}`
  }

  async get(context: RequestContext, name: string, resourceVersion = ''): Promise<KubeObject> {
    const object = await translated(this.groupResource, name, () =>
      this.storage.get(this.key(context.namespace, name), { resourceVersion, ...signalOf(context) }),
    )
    this.#options.decorate?.(object)
    return object
  }

  async list(
    context: RequestContext,
    selectors: { label: Selector; field: Selector },
    options: Pick<StorageListOptions<KubeObject>, 'resourceVersion' | 'resourceVersionMatch'> & {
      limit: number
      continueToken: string
    },
  ): Promise<ListResult<KubeObject>> {
    const predicate: SelectionPredicate<KubeObject> = {
      ...selectors,
      getAttributes: (object) => this.#options.getAttributes(object),
      limit: options.limit,
      continueToken: options.continueToken,
      allowWatchBookmarks: false,
    }
    const { resourceVersion, resourceVersionMatch } = options
    const result = await translated(this.groupResource, '', () =>
      this.storage.getList(this.keyRoot(context.namespace), {
        resourceVersion,
        resourceVersionMatch,
        predicate,
        recursive: true,
        ...signalOf(context),
      }),
    )
    if (this.#options.decorate !== undefined) for (const item of result.items) this.#options.decorate(item)
    return result
  }

  /** From the storage, or memory where that has it; selectors and the name decide what is seen. */
  async watch(
    context: RequestContext,
    selectors: { label: Selector; field: Selector },
    options: StoreWatchOptions,
  ): Promise<WatchStream<KubeObject>> {
    const { resourceVersion, sendInitialEvents, allowWatchBookmarks, signal } = options
    const predicate: SelectionPredicate<KubeObject> = {
      ...selectors,
      getAttributes: (object) => this.#options.getAttributes(object),
      limit: 0,
      continueToken: '',
      allowWatchBookmarks,
    }
    const name = options.name === '' ? (selectors.field.requiresExactMatch('metadata.name') ?? '') : options.name
    const single = name !== '' && !name.includes('/') && (context.namespace !== '' || !this.#namespaceScoped)
    const key = single ? this.key(context.namespace, name) : this.keyRoot(context.namespace)
    return translated(this.groupResource, name, () =>
      this.storage.watch(key, {
        resourceVersion,
        resourceVersionMatch: '',
        predicate,
        recursive: !single,
        progressNotify: allowWatchBookmarks,
        ...(sendInitialEvents === undefined ? {} : { sendInitialEvents }),
        ...(signal === undefined ? {} : { signal }),
      }),
    )
  }

  async create(context: RequestContext, object: KubeObject, validation: ValidateObject): Promise<KubeObject> {
    const { name = '', generateName = '' } = metadataOf(object)
    if (name !== '' || generateName === '') return this.#create(context, object, validation)
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#create(context, deepCopy(object), validation)
      } catch (error) {
        if (!isStatusError(error, 'AlreadyExists') || attempt === MAX_NAME_ATTEMPTS) throw error
      }
    }
  }

  async #create(context: RequestContext, object: KubeObject, validation: ValidateObject): Promise<KubeObject> {
    const strategy = this.#createStrategy()
    const metadata = metadataOf(object)
    fillSystemFields(object, context.now())
    const generated = (metadata.generateName ?? '') !== '' && (metadata.name ?? '') === ''
    if (generated) metadata.name = strategy.generateName(metadata.generateName!)
    const begun = new BegunWrite()
    try {
      if (this.#options.beginCreate !== undefined) await begun.begin(this.#options.beginCreate(object, context))
      beforeCreate(strategy, object, context)
      await validation(object)
      const name = metadata.name!
      const key = this.key(metadata.namespace ?? '', name)
      const ttlSeconds = this.#options.ttlSeconds?.(object, 0, false) ?? 0
      const created = await translated(this.groupResource, name, () =>
        begun.writing(
          this.#storage.create(
            key,
            object,
            { ...(ttlSeconds > 0 ? { ttlSeconds } : {}), ...signalOf(context) },
            context.dryRun,
          ),
        ),
      )
      await begun.settle(true)
      this.#options.afterCreate?.(created)
      this.#options.decorate?.(created)
      return created
    } catch (error) {
      if (generated && isStatusError(error, 'AlreadyExists'))
        throw newGenerateNameConflict(this.groupResource, metadata.name!, 1)
      throw error
    } finally {
      await begun.settle(false)
    }
  }

  /** `forceAllowCreate`: server-side apply creates what is not there, whatever the strategy says of PUT. */
  async update(
    context: RequestContext,
    name: string,
    info: UpdatedObjectInfo,
    validation: { create: ValidateObject; update: ValidateObjectUpdate },
    forceAllowCreate = false,
  ): Promise<{ object: KubeObject; created: boolean }> {
    const strategy = this.#updateStrategy()
    const key = this.key(context.namespace, name)
    const mayCreate = strategy.allowCreateOnUpdate || forceAllowCreate
    const outcome: { created: boolean; emptied: KubeObject | undefined } = { created: false, emptied: undefined }
    const begun = new BegunWrite()
    const tryUpdate = async (existing: KubeObject, meta: { ttlSeconds: number | undefined }) => {
      outcome.created = false
      outcome.emptied = undefined
      // Another writer was faster: what the attempt before this one took is given back.
      await begun.settle(false)
      const existingVersion = this.storage.versioner.objectResourceVersion(existing)
      if (existingVersion === 0 && !mayCreate) throw newNotFound(this.groupResource, name)
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
        outcome.emptied = object
        throw new EmptiedFinalizers()
      }
      const ttl = this.#options.ttlSeconds?.(object, meta.ttlSeconds ?? 0, true)
      return { object, ttlSeconds: ttl === (meta.ttlSeconds ?? 0) ? undefined : ttl }
    }
    const storageOptions = {
      ignoreNotFound: mayCreate,
      ...(info.preconditions === undefined ? {} : { preconditions: info.preconditions }),
      ...signalOf(context),
    }
    try {
      const object = await translated(this.groupResource, name, () =>
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
        return {
          object: await this.#deleteEmptied(context, name, key, outcome.emptied, info.preconditions),
          created: false,
        }
      }
      throw error
    }
  }

  /** A change that no strategy stands in the way of: binding, the first step of a namespace's deletion. */
  change(
    context: RequestContext,
    name: string,
    apply: (existing: KubeObject) => KubeObject | Promise<KubeObject>,
    preconditions: UpdatedObjectInfo['preconditions'] = {},
  ): Promise<KubeObject> {
    const key = this.key(context.namespace, name)
    return translated(this.groupResource, name, () =>
      this.#storage.guaranteedUpdate(
        key,
        async (existing) => ({ object: await apply(existing) }),
        { preconditions, ...signalOf(context) },
        context.dryRun,
      ),
    )
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
    beforeCreate(this.#createStrategy(), object, context)
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
    const strategy = this.#updateStrategy()
    const versioner = this.storage.versioner
    const existingVersion = versioner.objectResourceVersion(existing)
    const version = givenVersion(versioner, object)
    if (version === 0) {
      if (!strategy.allowUnconditionalUpdate) {
        const kind = { group: this.groupResource.group, kind: this.groupResource.resource }
        throw newInvalid(kind, name, [
          invalid(FieldPath.of('metadata', 'resourceVersion'), 0, 'must be specified for an update'),
        ])
      }
      versioner.updateObject(object, existingVersion)
    } else if (version !== existingVersion) throw newConflict(this.groupResource, name, OPTIMISTIC_LOCK_MESSAGE)
    if (this.#options.beginUpdate !== undefined) await begun.begin(this.#options.beginUpdate(object, existing, context))
    beforeUpdate(strategy, object, existing, context)
    await validation(object, existing)
  }

  /** The update removed the last finalizer: the object goes, and the client gets what it sent. */
  async #deleteEmptied(
    context: RequestContext,
    name: string,
    key: string,
    object: KubeObject,
    preconditions: UpdatedObjectInfo['preconditions'],
  ): Promise<KubeObject> {
    try {
      const deleted = await this.#storage.delete(
        key,
        { ...(preconditions === undefined ? {} : { preconditions }) },
        context.dryRun,
      )
      await this.#options.afterDelete?.(deleted, context)
    } catch (error) {
      // Another writer took it away in the meantime: what was wanted has happened.
      if (!isNotFound(error)) throw interpretStorageError(error, this.groupResource, name)
    }
    this.#options.decorate?.(object)
    return object
  }

  /** What is stored there is broken, and will not be read tomorrow either. */
  isUnreadable(context: RequestContext, name: string): Promise<boolean> {
    return this.#deletion.isUnreadable(this.key(context.namespace, name))
  }

  /** Of an object that cannot be read; one that can be is refused. */
  deleteUnreadable(context: RequestContext, name: string, preconditions?: Preconditions): Promise<void> {
    const key = this.key(context.namespace, name)
    return this.#deletion.deleteUnreadable({ context, name, key, preconditions })
  }

  /** `deleted: false`: the object is ending, or waits for its finalizers. */
  delete(
    context: RequestContext,
    name: string,
    options: DeleteOptions,
    validation: ValidateObject,
  ): Promise<{ result: KubeObject | Status; deleted: boolean }> {
    return this.#deletion.delete({ context, name, key: this.key(context.namespace, name), options, validation })
  }

  #createStrategy(): CreateStrategy {
    const { createStrategy } = this.#options
    if (createStrategy === undefined) throw newInternalError(`${this.groupResource.resource} cannot be created here`)
    return createStrategy
  }

  #updateStrategy(): UpdateStrategy {
    const { updateStrategy } = this.#options
    if (updateStrategy === undefined) throw newInternalError(`${this.groupResource.resource} cannot be updated here`)
    return updateStrategy
  }
}

/** Leaves a transaction's function without writing. */
class EmptiedFinalizers extends Error {}
