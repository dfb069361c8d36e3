/** Thread: any. What the parts of a KVStore (list, update, delete, watch) share. */
import type { CancelSignal } from '../../lib/cancellation.js'
import type { StoreMetrics } from '../../metrics/store-metrics.js'
import { isStorageError, keyNotFound, StorageError } from '../contract/errors.js'
import type { CallOptions, KeyValue, KV, LeaseId } from '../contract/kv.js'
import type { KeySpace } from '../contract/storage-key.js'
import type { ObjectState, StoredObjects } from './stored-object.js'
import type { Drafts } from './written-object.js'

/** LeaseManager, as a KVStore sees it: may give one lease to many keys whose ends lie close together. */
export interface LeaseSource {
  getLease(ttlSeconds: number, options?: CallOptions): Promise<LeaseId>
}

export interface StoreCore<T> {
  readonly kv: KV
  readonly objects: StoredObjects<T>
  readonly keys: KeySpace
  readonly leases: LeaseSource
  readonly leased: boolean
  readonly drafts: Drafts<T> | undefined
  readonly metrics: StoreMetrics | undefined
}

/** How a missing or an unreadable object is taken. */
export interface StateRules {
  readonly ignoreNotFound?: boolean | undefined
  /** The object must be unreadable; a readable one is refused with `invalid-object`. */
  readonly expectUnreadable?: boolean | undefined
}

export async function readState<T>(
  core: StoreCore<T>,
  key: string,
  rules: StateRules,
  signal: CancelSignal | undefined,
): Promise<ObjectState<T>> {
  const { kv } = await core.kv.get(key, callOptions(signal))
  return stateOf(core, key, kv, rules)
}

export async function stateOf<T>(
  core: StoreCore<T>,
  key: string,
  kv: KeyValue | undefined,
  rules: StateRules,
): Promise<ObjectState<T>> {
  if (kv === undefined) {
    if (rules.ignoreNotFound) return core.objects.absentState()
    throw keyNotFound(key)
  }
  if (!rules.expectUnreadable) return core.objects.state(kv)
  try {
    await core.objects.state(kv)
  } catch (error) {
    if (isStorageError(error, 'corrupt-object')) return core.objects.unreadableState(kv)
    throw error
  }
  throw new StorageError('invalid-object', 'an object that can be read is not deleted as an unreadable one', { key })
}

export function callOptions(signal: CancelSignal | undefined): { signal?: CancelSignal } {
  return signal === undefined ? {} : { signal }
}

/** Called between two attempts: when nobody waits for the outcome any more, there is no next one. */
export function throwIfCancelled(key: string, signal: CancelSignal | undefined): void {
  if (!signal?.aborted) return
  throw new StorageError('unreachable', `the request for ${key} was cancelled before it was done`, {
    key,
    cause: signal.reason,
  })
}
