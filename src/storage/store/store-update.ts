/**
 * Thread: any. Read-modify-write. Which state an attempt works on, and what its failure means, is told in
 * attempted-state.ts. An attempt that changes nothing writes nothing:
 *
 *   suggested ──nothing changed─▶ read; same bytes? done, no write : try again on what was read
 *
 * A write whose outcome is unknown is never repeated here: `unreachable` goes to the caller.
 */

import type { KubeObject } from '../../api/object.js'
import type { CancelSignal } from '../../lib/cancellation.js'
import type { GuaranteedUpdateOptions, UpdateAttempt, UpdateFunc } from '../contract/interface.js'
import { type LeaseId, NO_LEASE } from '../contract/kv.js'
import { checkPreconditions } from '../contract/preconditions.js'
import { AttemptedState } from './attempted-state.js'
import { callOptions, type StoreCore } from './store-core.js'
import { type ObjectState, TextState } from './stored-object.js'
import { isSameText, type WrittenObject, writtenObject } from './written-object.js'

export async function guaranteedUpdate<T extends KubeObject>(
  core: StoreCore<T>,
  key: string,
  tryUpdate: UpdateFunc<T>,
  options: GuaranteedUpdateOptions<T>,
): Promise<T> {
  const { cachedExistingObject, cachedExistingText, signal } = options
  const suggestion = core.leased ? undefined : cachedExistingObject
  const text = core.drafts?.isOneText === true ? cachedExistingText : undefined
  const attempted = await AttemptedState.open({ core, key, rules: options, signal, text }, suggestion)
  for (;;) {
    const attempt = await attempted.attempt((state) => attemptUpdate(key, state, tryUpdate, options))
    const encoded = core.objects.encodePrinted(attempt.object)
    const printed = attempted.state instanceof TextState ? writtenObject(core, key, attempt.object, encoded) : undefined
    if (!printsOtherwise(attempted.state, printed) && keepsState(attempt, attempted.state, encoded.data)) {
      if (!attempted.isCurrent) {
        await attempted.read()
        if (!equalBytes(encoded.data, attempted.state.data)) continue
      }
      const { state } = attempted
      if (!state.stale) return core.objects.decode(state.data, key, state.revision)
    }
    const written = printed ?? writtenObject(core, key, attempt.object, encoded)
    const result = await write(core, key, attempted.state, written, attempt.ttlSeconds, signal)
    if (result.succeeded) {
      core.objects.versioner.updateObject(written.object, result.revision)
      if (written.printed !== undefined) options.onPrinted?.(written.object, written.printed)
      return written.object
    }
    await attempted.take(result.kv)
  }
}

/** True only when it is certain that something has changed. */
function printsOtherwise<T>(state: ObjectState<T>, written: WrittenObject<T> | undefined): boolean {
  if (written?.draft === undefined || !(state instanceof TextState)) return false
  return !isSameText(written.draft, state.text.body)
}

const keepsState = <T>(attempt: UpdateAttempt<T>, state: ObjectState<T>, data: Uint8Array): boolean =>
  !state.stale && keepsLease(attempt, state) && equalBytes(data, state.data)

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

/**
 * False when the attempt makes an object mortal or immortal. As in Kubernetes, a lease is not renewed without a change.
 */
function keepsLease<T>(attempt: UpdateAttempt<T>, state: ObjectState<T>): boolean {
  if (attempt.ttlSeconds === undefined) return true
  return (attempt.ttlSeconds === 0) === (state.lease === NO_LEASE)
}

async function write<T>(
  core: StoreCore<T>,
  key: string,
  state: ObjectState<T>,
  { data, draft }: WrittenObject<T>,
  ttlSeconds: number | undefined,
  signal: CancelSignal | undefined,
) {
  const value = await core.objects.seal(data, key)
  return core.kv.optimisticPut(key, value, state.revision, {
    getOnFailure: true,
    lease: await leaseFor(core, state, ttlSeconds, signal),
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
