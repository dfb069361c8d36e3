/** Thread: pool. Storage whose writes can be tried: everything is checked and nothing is stored. */

import type { KubeObject } from '../../api/object.js'
import type { CancelSignal } from '../../lib/cancellation.js'
import { isNotFound, StorageError } from '../../storage/contract/errors.js'
import type {
  DeleteOptions,
  GuaranteedUpdateOptions,
  Preconditions,
  Storage,
  UpdateFunc,
} from '../../storage/contract/interface.js'

export class DryRunnableStorage {
  readonly storage: Storage<KubeObject>

  constructor(storage: Storage<KubeObject>) {
    this.storage = storage
  }

  async create(
    key: string,
    object: KubeObject,
    options: { ttlSeconds?: number; signal?: CancelSignal },
    dryRun: boolean,
  ): Promise<KubeObject> {
    if (!dryRun) return this.storage.create(key, object, options)
    if ((await this.#existing(key)) !== undefined) throw new StorageError('key-exists', `key exists: ${key}`, { key })
    return this.storage.asStored(object)
  }

  async delete(key: string, options: DeleteOptions<KubeObject>, dryRun: boolean): Promise<KubeObject> {
    if (!dryRun) return this.storage.delete(key, options)
    const existing = await this.storage.get(key)
    checkPreconditions(key, existing, options.preconditions)
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
    const existing =
      options.ignoreNotFound === true
        ? await this.storage.get(key, { ignoreNotFound: true })
        : await this.storage.get(key)
    checkPreconditions(key, existing, options.preconditions)
    const resourceVersion = this.storage.versioner.objectResourceVersion(existing)
    const { object } = await tryUpdate(existing, { resourceVersion, ttlSeconds: undefined })
    return this.storage.asStored(object)
  }

  async #existing(key: string): Promise<KubeObject | undefined> {
    try {
      return await this.storage.get(key)
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }
}

function checkPreconditions(key: string, object: KubeObject, wanted: Preconditions | undefined): void {
  const { uid, resourceVersion } = object.metadata ?? {}
  if (wanted?.uid !== undefined && wanted.uid !== uid) {
    throw new StorageError(
      'invalid-object',
      `precondition failed: UID in precondition: ${wanted.uid}, UID in object meta: ${uid}`,
      { key },
    )
  }
  if (wanted?.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion) {
    throw new StorageError(
      'invalid-object',
      `precondition failed: ResourceVersion in precondition: ${wanted.resourceVersion}, ResourceVersion in object meta: ${resourceVersion}`,
      { key },
    )
  }
}
