/**
 * Thread: pool. A resource's storage as one of its versions sees it, where versions are converted by a webhook. The strategy of
 * that version, its selectors and its clients meet objects of that version alone, as in Kubernetes; below, objects are written in
 * the storage version and come back in whichever version they were stored in.
 *
 * Every object is converted on its way in and on its way out, so that a client sees what the webhook makes of what was stored. A
 * write that was stored and cannot be converted back is answered with that failure.
 */
import type { KubeObject } from '../../api/object.js'
import { everything } from '../../api/selector.js'
import { selectsContent } from '../../api/selectors.js'
import type { ObjectConverter } from '../../apiextensions/conversion/interface.js'
import type { CancelSignal } from '../../lib/cancellation.js'
import type {
  CreateOptions,
  DeleteOptions,
  GetOptions,
  GuaranteedUpdateOptions,
  ListOptions,
  ListResult,
  Storage,
  StorageStats,
  UpdateFunc,
  Versioner,
  WatchStream,
} from '../../storage/contract/interface.js'
import { ConvertingWatch, keyOf, matches } from './converting-watch.js'

export interface ConvertingStorageOptions {
  readonly storage: Storage<KubeObject>
  readonly converter: ObjectConverter
  /** The version that is seen from above. */
  readonly apiVersion: string
  readonly storageApiVersion: string
}

/** The most objects that are read at once for a page that selectors thin out. */
const SCAN_LIMIT = 500

export class ConvertingStorage implements Storage<KubeObject> {
  readonly versioner: Versioner<KubeObject>
  readonly #options: ConvertingStorageOptions
  readonly #storage: Storage<KubeObject>

  constructor(options: ConvertingStorageOptions) {
    this.#options = options
    this.#storage = options.storage
    this.versioner = options.storage.versioner
  }

  async create(
    key: string,
    object: KubeObject,
    { onPrinted: _, ...options }: CreateOptions<KubeObject> = {},
  ): Promise<KubeObject> {
    const stored = await this.#toStorage(object, options.signal)
    return this.#written(await this.#storage.create(key, stored, options), options.signal)
  }

  async asStored(object: KubeObject): Promise<KubeObject> {
    return this.#written(await this.#storage.asStored(await this.#toStorage(object, undefined)), undefined)
  }

  async delete(key: string, options: DeleteOptions<KubeObject> = {}): Promise<KubeObject> {
    const { cachedExistingObject: _, validateDeletion, ...rest } = options
    let validated: KubeObject | undefined
    const validate = async (object: KubeObject): Promise<void> => {
      validated = await this.#shown(object, options.signal)
      await validateDeletion?.(validated)
    }
    const deleted = await this.#storage.delete(key, { ...rest, validateDeletion: validate })
    // What was validated last is the state that was deleted, but for its version.
    if (validated === undefined) return this.#shown(deleted, options.signal)
    this.versioner.updateObject(validated, this.versioner.objectResourceVersion(deleted))
    return validated
  }

  async guaranteedUpdate(
    key: string,
    tryUpdate: UpdateFunc<KubeObject>,
    options: GuaranteedUpdateOptions<KubeObject> = {},
  ): Promise<KubeObject> {
    const { cachedExistingObject: _, cachedExistingText: _text, onPrinted: _printed, ...rest } = options
    const converted: UpdateFunc<KubeObject> = async (current, meta) => {
      const attempt = await tryUpdate(await this.#shown(current, options.signal), meta)
      return { ...attempt, object: await this.#toStorage(attempt.object, options.signal) }
    }
    return this.#written(await this.#storage.guaranteedUpdate(key, converted, rest), options.signal)
  }

  async get(key: string, options: GetOptions = {}): Promise<KubeObject> {
    return this.#shown(await this.#storage.get(key, options), options.signal)
  }

  async getList(key: string, options: ListOptions<KubeObject>): Promise<ListResult<KubeObject>> {
    if (!selectsContent(options.predicate)) return this.#page(key, options)
    const { limit } = options.predicate
    return limit === 0 ? this.#selected(key, options) : this.#selectedPage(key, options, limit)
  }

  async watch(key: string, options: ListOptions<KubeObject>): Promise<WatchStream<KubeObject>> {
    const { converter, apiVersion } = this.#options
    const convert = (objects: readonly KubeObject[]): Promise<KubeObject[]> =>
      converter.convertStored(objects, apiVersion, options.signal)
    if (!selectsContent(options.predicate)) return new ConvertingWatch(await this.#storage.watch(key, options), convert)
    const { selected, resourceVersion } = await this.#selectedBefore(key, options)
    const stream = await this.#storage.watch(key, unselected({ ...options, resourceVersion }))
    return new ConvertingWatch(stream, convert, { predicate: options.predicate, selected })
  }

  count(key: string): Promise<number> {
    return this.#storage.count(key)
  }

  stats(): Promise<StorageStats> {
    return this.#storage.stats()
  }

  readinessCheck(): void {
    this.#storage.readinessCheck()
  }

  requestWatchProgress(): Promise<void> {
    return this.#storage.requestWatchProgress()
  }

  currentResourceVersion(): Promise<number> {
    return this.#storage.currentResourceVersion()
  }

  compactRevision(): number {
    return this.#storage.compactRevision()
  }

  close(): Promise<void> {
    return this.#storage.close()
  }

  async #toStorage(object: KubeObject, signal: CancelSignal | undefined): Promise<KubeObject> {
    const { converter, storageApiVersion } = this.#options
    const [stored] = await converter.convert([object], storageApiVersion, signal)
    return stored!
  }

  /** What was just written is not remembered: most of it is never read in this version. */
  async #written(object: KubeObject, signal: CancelSignal | undefined): Promise<KubeObject> {
    const [shown] = await this.#options.converter.convert([object], this.#options.apiVersion, signal)
    return shown!
  }

  /** An object that there is not yet is shown as it is: nothing is in it. */
  async #shown(object: KubeObject, signal: CancelSignal | undefined): Promise<KubeObject> {
    if (object.apiVersion === undefined || object.apiVersion === this.#options.apiVersion) return object
    const [shown] = await this.#options.converter.convertStored([object], this.#options.apiVersion, signal)
    return shown!
  }

  /** A page as the storage gives it, converted. */
  async #page(key: string, options: ListOptions<KubeObject>): Promise<ListResult<KubeObject>> {
    const page = await this.#storage.getList(key, options)
    const items = await this.#options.converter.convertStored(page.items, this.#options.apiVersion, options.signal)
    return { ...page, items }
  }

  /** All that selectors select: they see objects of this version, so all objects are converted first. */
  async #selected(key: string, options: ListOptions<KubeObject>): Promise<ListResult<KubeObject>> {
    const page = await this.#page(key, unselected(options))
    const items = page.items.filter((item) => matches(options.predicate, item))
    return { ...page, items, remainingItemCount: undefined }
  }

  async #selectedPage(key: string, options: ListOptions<KubeObject>, limit: number): Promise<ListResult<KubeObject>> {
    const items: KubeObject[] = []
    let { continueToken } = options.predicate
    let { resourceVersion, resourceVersionMatch } = options
    for (;;) {
      const read = (most: number): Promise<ListResult<KubeObject>> =>
        this.#page(key, unselected({ ...options, resourceVersion, resourceVersionMatch }, most, continueToken))
      const page = await read(Math.max(limit, SCAN_LIMIT))
      const places = page.items.flatMap((item, at) => (matches(options.predicate, item) ? [at] : []))
      const wanted = places.slice(0, limit - items.length)
      items.push(...wanted.map((at) => page.items[at]!))
      const last = wanted.at(-1)
      const isFull = items.length === limit && last !== undefined && last < page.items.length - 1
      // The list goes on behind the last object that it shows: the token is that of a page which ends there.
      if (isFull) return { ...(await read(last + 1)), items, remainingItemCount: undefined }
      if (items.length === limit || page.continueToken === '')
        return { ...page, items, remainingItemCount: undefined }
        // A token says which state it is of.
      ;({ continueToken } = page)
      resourceVersion = ''
      resourceVersionMatch = ''
    }
  }

  /** Which objects a watch that does not begin with them has selected before its first event, and where it begins. */
  async #selectedBefore(
    key: string,
    options: ListOptions<KubeObject>,
  ): Promise<{ selected: Set<string>; resourceVersion: string }> {
    const { resourceVersion, sendInitialEvents } = options
    const isAny = resourceVersion === '' || resourceVersion === '0'
    if (sendInitialEvents ?? isAny) return { selected: new Set(), resourceVersion }
    const before = await this.#selected(key, {
      ...options,
      resourceVersionMatch: isAny ? '' : 'Exact',
      predicate: { ...options.predicate, limit: 0, continueToken: '' },
    })
    const selected = new Set(before.items.map(keyOf))
    return { selected, resourceVersion: isAny ? String(before.resourceVersion) : resourceVersion }
  }
}

function unselected(
  options: ListOptions<KubeObject>,
  limit = options.predicate.limit,
  continueToken = options.predicate.continueToken,
): ListOptions<KubeObject> {
  const predicate = { ...options.predicate, label: everything, field: everything, limit, continueToken }
  return { ...options, predicate }
}
