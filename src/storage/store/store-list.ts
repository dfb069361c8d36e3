/** Thread: any. Lists, straight from the key-value store. */
import type { CancelSignal } from '../../lib/cancellation.js'
import { encodeContinue, NEWEST_REVISION } from '../contract/continue-token.js'
import { isStorageError, StorageError } from '../contract/errors.js'
import type { ListOptions, ListResult } from '../contract/interface.js'
import type { KeyValue, KvListResult } from '../contract/kv.js'
import {
  checkMinimumRevision,
  type ListPosition,
  resolveListPosition,
  tooLargeResourceVersion,
} from '../contract/list-revision.js'
import { matchesPredicate, selectsEverything } from '../contract/selection.js'
import { callOptions, type StoreCore } from './store-core.js'

/**
 * A page is first read with the client's limit. When a selector refuses some of it, the next read is twice as large, up
 * to this: one match among 10,000 objects costs 14 reads instead of 10,000.
 */
const MAX_CHUNK = 10_000

export async function listObjects<T>(
  core: StoreCore<T>,
  keyPrefix: string,
  options: ListOptions<T>,
): Promise<ListResult<T>> {
  const { limit, continueToken } = options.predicate
  const { versioner } = core.objects
  const position = resolveListPosition(keyPrefix, { ...options, limit, continueToken }, (version) =>
    versioner.parseResourceVersion(version),
  )
  return options.recursive
    ? listRecursive(core, keyPrefix, options, position)
    : listSingle(core, keyPrefix, options, position)
}

/** The list that holds the one object at the key, or nothing. */
async function listSingle<T>(
  core: StoreCore<T>,
  key: string,
  options: ListOptions<T>,
  position: ListPosition,
): Promise<ListResult<T>> {
  const { kv, answered } = await readSingle(core, key, options.signal, position.revision)
  const revision = position.revision === 0 ? answered : position.revision
  checkMinimumRevision(position.minimumRevision, answered)
  const items: T[] = []
  if (kv !== undefined) {
    const object = await core.objects.read(kv)
    if (matchesPredicate(options.predicate, object)) items.push(object)
  }
  return { items, resourceVersion: revision, continueToken: '', remainingItemCount: undefined }
}

async function readSingle<T>(
  core: StoreCore<T>,
  key: string,
  signal: CancelSignal | undefined,
  revision: number,
): Promise<{ kv: KeyValue | undefined; answered: number }> {
  if (revision === 0) {
    const result = await core.kv.get(key, callOptions(signal))
    return { kv: result.kv, answered: result.revision }
  }
  // Only ranges can be read at an old revision: this one begins at the key, within its folder.
  const folder = key.slice(0, key.lastIndexOf('/') + 1)
  const read = core.kv.list(folder, { startKey: key, limit: 1, revision, ...callOptions(signal) })
  const result = await read.catch((error: unknown) => rethrowListError(core, error, revision))
  const [kv] = result.kvs
  return { kv: kv?.key === key ? kv : undefined, answered: result.revision }
}

async function listRecursive<T>(
  core: StoreCore<T>,
  keyPrefix: string,
  options: ListOptions<T>,
  position: ListPosition,
): Promise<ListResult<T>> {
  const { predicate } = options
  const page = new ListPage(core, options)
  let { revision } = position
  let startKey = position.startKey ?? keyPrefix
  let chunkLimit = predicate.limit
  for (;;) {
    const chunk: KvListResult = await core.kv
      .list(keyPrefix, { startKey, limit: chunkLimit, revision, ...callOptions(options.signal) })
      .catch((error: unknown) =>
        rethrowListError(core, error, revision, predicate.continueToken === '' ? undefined : { startKey, keyPrefix }),
      )
    if (revision === 0) {
      checkMinimumRevision(position.minimumRevision, chunk.revision)
      // All further chunks must be of the same state.
      revision = chunk.revision
    }
    const taken = await page.take(chunk.kvs)
    const hasMore = chunk.more || taken < chunk.kvs.length
    if (!hasMore) return page.result(revision, '', undefined)
    startKey = `${page.lastKey}\0`
    if (page.full) {
      const remaining = selectsEverything(predicate) ? chunk.count - taken : undefined
      return page.result(revision, encodeContinue(startKey, keyPrefix, revision), remaining)
    }
    chunkLimit = Math.max(chunkLimit, Math.min(chunkLimit * 2, MAX_CHUNK))
  }
}

/** The objects of one answer, gathered chunk by chunk. */
class ListPage<T> {
  readonly #core: StoreCore<T>
  readonly #options: ListOptions<T>
  readonly #items: T[] = []
  #fetched = 0
  #evaluated = 0
  #lastKey = ''

  constructor(core: StoreCore<T>, options: ListOptions<T>) {
    this.#core = core
    this.#options = options
  }

  get full(): boolean {
    const { limit } = this.#options.predicate
    return limit > 0 && this.#items.length >= limit
  }

  /** The last key that was looked at, whether it matched or not. */
  get lastKey(): string {
    return this.#lastKey
  }

  /** Looks at keys until the page is full; gives how many it looked at. */
  async take(kvs: readonly KeyValue[]): Promise<number> {
    const { predicate } = this.#options
    let taken = 0
    this.#fetched += kvs.length
    for (const kv of kvs) {
      if (this.full) break
      const read = this.#core.objects.read(kv)
      const object = read instanceof Promise ? await read : read
      if (matchesPredicate(predicate, object)) this.#items.push(object)
      this.#lastKey = kv.key
      taken++
    }
    this.#evaluated += taken
    return taken
  }

  result(resourceVersion: number, continueToken: string, remainingItemCount: number | undefined): ListResult<T> {
    this.#core.metrics?.listed({ fetched: this.#fetched, evaluated: this.#evaluated, returned: this.#items.length })
    return { items: this.#items, resourceVersion, continueToken, remainingItemCount }
  }
}

/** Turns the failure of a read at a revision into what a client of lists is told. */
async function rethrowListError<T>(
  core: StoreCore<T>,
  error: unknown,
  revision: number,
  continued?: { startKey: string; keyPrefix: string },
): Promise<never> {
  if (isStorageError(error, 'too-large')) {
    throw tooLargeResourceVersion(revision, error.fields.currentRevision ?? (await core.kv.currentRevision()))
  }
  if (!isStorageError(error, 'too-old')) throw error
  const fields = { ...error.fields, resourceVersion: revision, cause: error }
  if (continued === undefined) {
    throw new StorageError('too-old', `a list at resource version ${revision} is no longer possible`, fields)
  }
  const continueToken = encodeContinue(continued.startKey, continued.keyPrefix, NEWEST_REVISION)
  throw new StorageError(
    'too-old',
    'the state that this list began with is gone: start a new list, or go on with the token in this answer and ' +
      'accept that what changed since may be missing or appear twice',
    { ...fields, continueToken },
  )
}
