/**
 * Thread: any. `Storage`, the one contract of the storage stack: what the registry needs of whatever keeps its
 * objects. Implemented by KVStore over etcd, KVStore over the embedded engine, and the cacher around either; one suite
 * (test/contract) runs on all of them. The shape is that of Kubernetes' storage.Interface.
 *
 * Keys are relative to the storage prefix and start with the resource's own: `/pods/default/a`.
 */

import type { PrintedObject } from '../../api/json/encode-draft.js'
import type { AttributeSet, Selector } from '../../api/selector.js'
import type { CancelSignal } from '../../lib/cancellation.js'

/**
 * Reads and sets the version of an object or a list. Objects are stored without it: the store's revision is the truth.
 */
export interface Versioner<T> {
  updateObject(object: T, resourceVersion: number): void
  /** Clears what only the server may set. It never throws `resource-version-set`: create() checks that itself. */
  prepareObjectForStorage(object: T): void
  /** The object's resourceVersion; 0 when it has none. */
  objectResourceVersion(object: T): number
  /** The number of a resourceVersion, 0 for ''; throws `invalid-request` when it is not a decimal number. */
  parseResourceVersion(resourceVersion: string): number
}

/** Between an object and the bytes that are stored, before encryption. */
export interface Codec<T> {
  encode(object: T): Uint8Array
  /** Throws on bytes it cannot read. Every call gives a new object that the caller may change. */
  decode(bytes: Uint8Array): T
  /** The same as encode(), for codecs that may find out on the way how the object is shown. The object is used up. */
  encodePrinted?(object: T): EncodedObject
}

export interface EncodedObject {
  readonly data: Uint8Array
  /** The JSON of what will be read from the bytes. Undefined when that has to be decoded first. */
  readonly printed?: PrintedObject
  /** The object that was given is what will be read from the bytes. */
  readonly isAsRead?: boolean
}

/** Is told of the JSON that was printed of an object that has been written, so that nobody prints it again. */
export type OnPrinted<T> = (object: T, printed: PrintedObject) => void

export interface CreateOptions<T> {
  readonly ttlSeconds?: number
  readonly signal?: CancelSignal
  readonly onPrinted?: OnPrinted<T>
}

export interface ObjectAttributes {
  readonly labels: AttributeSet
  readonly fields: AttributeSet
}

/** Which objects are wanted. */
export interface SelectionPredicate<T> {
  readonly label: Selector
  readonly field: Selector
  getAttributes(object: T): ObjectAttributes
  /** The most objects of a page; 0 when there is no limit. */
  readonly limit: number
  /** The token of the page; '' for the first one. */
  readonly continueToken: string
  readonly allowWatchBookmarks: boolean
}

export interface Preconditions {
  readonly uid?: string
  readonly resourceVersion?: string
}

export type ResourceVersionMatch = '' | 'Exact' | 'NotOlderThan'

export interface GetOptions {
  readonly ignoreNotFound?: boolean
  /**
   * '' asks for everything acknowledged (linearizable), '0' for whatever is at hand, another version for a state not
   * older than it.
   */
  readonly resourceVersion?: string
  readonly signal?: CancelSignal
}

export interface ListOptions<T> {
  readonly resourceVersion: string
  readonly resourceVersionMatch: ResourceVersionMatch
  readonly predicate: SelectionPredicate<T>
  /** Whether everything below the key is wanted; else the one object at the key. */
  readonly recursive: boolean
  /**
   * Watch only: replay what exists, then a bookmark that says so (RV of the whole store, k8s.io/initial-events-end).
   */
  readonly sendInitialEvents?: boolean
  /** Watch only: the wall time (Clock.now()) at which the caller will end it; a bookmark goes out shortly before. */
  readonly deadline?: number
  /** Watch only: forward the storage's progress reports as bookmarks. */
  readonly progressNotify?: boolean
  readonly signal?: CancelSignal
}

export interface ListResult<T> {
  readonly items: T[]
  readonly resourceVersion: number
  /** The token of the next page; '' on the last one. */
  readonly continueToken: string
  /** How many objects are left after this page; known only without selectors. */
  readonly remainingItemCount: number | undefined
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T; readonly resourceVersion: number }
  /** Everything up to resourceVersion has been delivered. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: number; readonly initialEventsEnd: boolean }
  /** The last event of a watch that failed; nothing follows it. */
  | { readonly type: 'ERROR'; readonly error: Error }

/** Ends (done: true) after stop(), when its signal aborts, or after an ERROR event. */
export interface WatchStream<T> extends AsyncIterable<WatchEvent<T>> {
  next(): Promise<IteratorResult<WatchEvent<T>, undefined>>
  /** Events that were already queued are still delivered. */
  stop(): void
}

export interface DeleteOptions<T> {
  readonly preconditions?: Preconditions
  /** Throws to refuse. Called again on the live object when the first one was stale. */
  readonly validateDeletion?: (object: T) => Promise<void> | void
  /** A copy of the object that may be stale: when it is current, it saves a read. */
  readonly cachedExistingObject?: T
  /** Deletes the object even when it cannot be decrypted or decoded. */
  readonly ignoreStoreReadError?: boolean
  readonly signal?: CancelSignal
}

export interface UpdateAttempt<T> {
  readonly object: T
  /** The seconds that the object lives from now on; undefined leaves its lease as it is, 0 takes the lease away. */
  readonly ttlSeconds?: number | undefined
}

/** Makes the new state from the current one. May be called several times; must not keep what it is given. */
export type UpdateFunc<T> = (
  current: T,
  meta: { readonly resourceVersion: number; readonly ttlSeconds: number | undefined },
) => Promise<UpdateAttempt<T>> | UpdateAttempt<T>

export interface GuaranteedUpdateOptions<T> {
  /** When there is no object, the update starts from `newObject()`. */
  readonly ignoreNotFound?: boolean
  readonly preconditions?: Preconditions
  readonly cachedExistingObject?: T
  /** The JSON that cachedExistingObject was read from. */
  readonly cachedExistingText?: CachedText<T>
  readonly signal?: CancelSignal
  readonly onPrinted?: OnPrinted<T>
}

/** An object as memory has it, for who wants to know whether another one prints so too. */
export interface CachedText<T> {
  /** A copy. */
  readonly body: Uint8Array
  /** The object anew. */
  read(): T
}

export interface StorageStats {
  readonly objectCount: number
  /** The mean size of the objects in storage; 0 when it is not known. */
  readonly estimatedAverageObjectSizeBytes: number
}

export interface Storage<T> {
  readonly versioner: Versioner<T>
  create(key: string, object: T, options?: CreateOptions<T>): Promise<T>
  /** The object as it would be read after being written; its version stays. Nothing is stored. */
  asStored(object: T): T | Promise<T>
  /** Gives the object's last state, with the revision of the deletion. */
  delete(key: string, options?: DeleteOptions<T>): Promise<T>
  watch(key: string, options: ListOptions<T>): Promise<WatchStream<T>>
  get(key: string, options?: GetOptions): Promise<T>
  getList(key: string, options: ListOptions<T>): Promise<ListResult<T>>
  guaranteedUpdate(key: string, tryUpdate: UpdateFunc<T>, options?: GuaranteedUpdateOptions<T>): Promise<T>
  /** How many objects lie below a key, asked of the store itself. */
  count(key: string): Promise<number>
  stats(): Promise<StorageStats>
  /** Throws `not-ready`, with the reason, while the storage cannot serve. */
  readinessCheck(): void
  requestWatchProgress(): Promise<void>
  currentResourceVersion(): Promise<number>
  compactRevision(): number
  close(): Promise<void>
}
