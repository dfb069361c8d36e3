/** Thread: pool. Storage whose writes can be tried: everything is checked and nothing is stored. */

import type { KubeObject } from '../../api/object.js'
import type { CancelSignal } from '../../lib/cancellation.js'
import { isNotFound, StorageError } from '../../storage/contract/errors.js'
import type {
  CreateOptions,
  DeleteOptions,
  GuaranteedUpdateOptions,
  Storage,
  UpdateFunc,
} from '../../storage/contract/interface.js'
import { checkPreconditions } from '../../storage/contract/preconditions.js'

export class DryRunnableStorage {
  readonly storage: Storage<KubeObject>

  constructor(storage: Storage<KubeObject>) {
    this.storage = storage
  }

  async create(
    key: string,
    object: KubeObject,
    options: CreateOptions<KubeObject>,
    dryRun: boolean,
  ): Promise<KubeObject> {
    if (!dryRun) return this.storage.create(key, object, options)
    if ((await this.#existing(key, options)) !== undefined)
      throw new StorageError('key-exists', `key exists: ${key}`, { key })
    return this.storage.asStored(object)
  }

  async delete(key: string, options: DeleteOptions<KubeObject>, dryRun: boolean): Promise<KubeObject> {
    if (!dryRun) return this.storage.delete(key, options)
    const existing = await this.storage.get(key, callOptions(options))
    checkPreconditions(key, options.preconditions, existing)
    await options.validateDeletion?.(existing)
    return existing
  }

  async guaranteedUpdate(
    key: string,
    tryUpdate: UpdateFunc<KubeObject>,
    options: GuaranteedUpdateOptions<KubeObject>,
    dryRun: boolean,
  ): Promise<KubeObject> {
    if (!dryRun) return this.storage.guaranteedUpdate(key, tryUpdate, options)
    const { ignoreNotFound = false } = options
    const existing = await this.storage.get(key, { ignoreNotFound, ...callOptions(options) })
    checkPreconditions(key, options.preconditions, existing)
    const resourceVersion = this.storage.versioner.objectResourceVersion(existing)
    const { object } = await tryUpdate(existing, { resourceVersion, ttlSeconds: undefined })
    return this.storage.asStored(object)
  }

  async #existing(key: string, options: { signal?: CancelSignal }): Promise<KubeObject | undefined> {
    try {
      return await this.storage.get(key, callOptions(options))
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }
}

/** A dry run reads, and stops reading when nobody waits for it any longer. */
const callOptions = ({ signal }: { readonly signal?: CancelSignal }): { signal?: CancelSignal } =>
  signal === undefined ? {} : { signal }
