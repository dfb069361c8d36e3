/**
 * Thread: any. Read-modify-write. The state an attempt works on is either current (read from the store in this call, or
 * handed back by the failed comparison) or suggested by the caller:
 *
 *   suggested ──attempt failed──▶ read; same revision? the failure was right : try again on what was read
 *   suggested ──nothing changed─▶ read; same bytes?    done, no write       : try again on what was read
 *   any       ──lost the race───▶ try again on what the comparison found
 *   current   ──attempt failed──▶ the failure is final
 *
 * A write whose outcome is unknown is never repeated here: `unreachable` goes to the caller.
 */

import type { KubeObject } from '../../api/object.js'
import type { CancelSignal } from '../../lib/cancellation.js'
import type { GuaranteedUpdateOptions, UpdateAttempt, UpdateFunc } from '../contract/interface.js'
import { type LeaseId, NO_LEASE } from '../contract/kv.js'
import { checkPreconditions } from '../contract/preconditions.js'
import { callOptions, readState, type StoreCore, stateOf, throwIfCancelled } from './store-core.js'
import type { ObjectState } from './stored-object.js'

export async function guaranteedUpdate<T extends KubeObject>(
  core: StoreCore<T>,
  key: string,
  tryUpdate: UpdateFunc<T>,
  options: GuaranteedUpdateOptions<T>,
): Promise<T> {
  const { cachedExistingObject: suggestion, signal } = options
  const readCurrent = () => readState(core, key, options, signal)
  let current = suggestion === undefined || core.leased
  let state = current ? await readCurrent() : core.objects.suggestedState(suggestion!)
  for (;;) {
    throwIfCancelled(key, signal)
    let attempt: UpdateAttempt<T>
    try {
      attempt = await attemptUpdate(key, state, tryUpdate, options)
    } catch (error) {
      if (current) throw error
      const seen = state.revision
      state = await readCurrent()
      current = true
      if (state.revision === seen) throw error
      continue
    }
    const data = core.objects.encode(attempt.object)
    if (!state.stale && equalBytes(data, state.data) && keepsLease(attempt, state)) {
      if (!current) {
        state = await readCurrent()
        current = true
        if (!equalBytes(data, state.data)) continue
      }
      if (!state.stale) return core.objects.decode(state.data, key, state.revision)
    }
    const object = core.objects.decodeUnversioned(data, key)
    const written = await write(core, key, state, { ...attempt, object }, data, signal)
    if (written.succeeded) {
      core.objects.versioner.updateObject(object, written.revision)
      return object
    }
    state = await stateOf(core, key, written.kv, options)
    current = true
  }
}

async function attemptUpdate<T extends KubeObject>(
  key: string,
  state: ObjectState<T>,
  tryUpdate: UpdateFunc<T>,
  options: GuaranteedUpdateOptions<T>,
): Promise<UpdateAttempt<T>> {
  const object = state.object!
  checkPreconditions(key, options.preconditions, object)
  return tryUpdate(object, { resourceVersion: state.revision, ttlSeconds: undefined })
}

/** False when the attempt makes an object mortal or immortal. As in Kubernetes, a lease is not renewed without a change. */
function keepsLease<T>(attempt: UpdateAttempt<T>, state: ObjectState<T>): boolean {
  if (attempt.ttlSeconds === undefined) return true
  return (attempt.ttlSeconds === 0) === (state.lease === NO_LEASE)
}

async function write<T>(
  core: StoreCore<T>,
  key: string,
  state: ObjectState<T>,
  attempt: UpdateAttempt<T>,
  data: Uint8Array,
  signal: CancelSignal | undefined,
) {
  const draft = core.draftOf?.(attempt.object)
  const value = await core.objects.seal(data, key)
  return core.kv.optimisticPut(key, value, state.revision, {
    getOnFailure: true,
    lease: await leaseFor(core, state, attempt.ttlSeconds, signal),
    ...(draft === undefined ? {} : { draft }),
    ...callOptions(signal),
  })
}

async function leaseFor<T>(
  core: StoreCore<T>,
  state: ObjectState<T>,
  ttlSeconds: number | undefined,
  signal: CancelSignal | undefined,
): Promise<LeaseId> {
  if (ttlSeconds === undefined) return state.lease
  return ttlSeconds > 0 ? core.leases.getLease(ttlSeconds, callOptions(signal)) : NO_LEASE
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && Buffer.compare(a, b) === 0
}
