/**
 * Thread: pool. The generic registry: create, update and delete of one resource, with its strategy inside the storage's
 * transactions. Kubernetes' registry.Store.
 */

import type { GroupResource } from '../../api/group-version.js'
import { deepCopy, type KubeObject, metadataOf } from '../../api/object.js'
import type { Selector } from '../../api/selector.js'
import { isStatusError, newBadRequest, newGenerateNameConflict, type Status } from '../../api/status.js'
import type { CancelSignal } from '../../lib/cancellation.js'
import type {
  ListResult,
  SelectionPredicate,
  Storage,
  ListOptions as StorageListOptions,
  WatchStream,
} from '../../storage/contract/interface.js'
import { beforeCreate } from './before-write.js'
import { BegunWrite } from './begun-write.js'
import { DryRunnableStorage } from './dry-run-storage.js'
import { RegistryStoreDeletion } from './registry-store-deletion.js'
import {
  type RegistryStoreOptions,
  type UpdatedObjectInfo,
  type ValidateObject,
  writerOf,
} from './registry-store-options.js'
import { createStrategyOf, RegistryStoreUpdate, type UpdateValidation } from './registry-store-update.js'
import { translated } from './storage-status.js'
import { type DeleteOptions, type Preconditions, type RequestContext, signalOf } from './strategy.js'
import { fillSystemFields } from './system-fields.js'

/** 8 tries make a million names with one generateName unlikely to meet: 0.1 %. */
const MAX_NAME_ATTEMPTS = 8

/** A start-up error: the resource cannot be served as it is configured. */
export class StoreConfigError extends Error {
  override readonly name = 'StoreConfigError'
}

/** Checks what completeWithOptions of Kubernetes checks: all that would otherwise fail at the first request. */
export function completeWithOptions(options: RegistryStoreOptions): RegistryStore {
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
  return new RegistryStore(options)
}

export interface StoreWatchOptions {
  /** The one object to watch; '' for all that the selectors select. */
  readonly name: string
  readonly resourceVersion: string
  readonly sendInitialEvents?: boolean
  readonly allowWatchBookmarks: boolean
  readonly signal?: CancelSignal
}

export class RegistryStore {
  readonly groupResource: GroupResource
  readonly #options: RegistryStoreOptions
  readonly #storage: DryRunnableStorage
  readonly #update: RegistryStoreUpdate
  readonly #deletion: RegistryStoreDeletion
  readonly #namespaceScoped: boolean

  constructor(options: RegistryStoreOptions) {
    this.#options = options
    this.groupResource = options.groupResource
    this.#storage = new DryRunnableStorage(options.storage)
    this.#update = new RegistryStoreUpdate(options, this.#storage)
    this.#deletion = new RegistryStoreDeletion(options, this.#storage)
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

  /** Watches the storage, or memory where it has the resource; selectors and the name decide what is seen. */
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
    const strategy = createStrategyOf(this.#options)
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
            { ...(ttlSeconds > 0 ? { ttlSeconds } : {}), ...writerOf(this.#options, context) },
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
    validation: UpdateValidation,
    forceAllowCreate = false,
  ): Promise<{ object: KubeObject; created: boolean }> {
    const key = this.key(context.namespace, name)
    return this.#update.update({ context, name, key, info, validation, forceAllowCreate })
  }

  /** Makes a change that no strategy checks: a binding, the first step of a namespace's deletion. */
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

  /** Whether what is stored is broken, and not only unreadable for now. */
  isUnreadable(context: RequestContext, name: string): Promise<boolean> {
    return this.#deletion.isUnreadable(this.key(context.namespace, name), context)
  }

  /** Deletes an object that cannot be read; one that can be read is refused. */
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
}
