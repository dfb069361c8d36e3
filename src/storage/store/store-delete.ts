/**
 * Thread: any. Deletion on conditions: preconditions and validation run on the state that the key has when it is
 * deleted (attempted-state.ts).
 */
import type { KubeObject } from '../../api/object.js'
import { StorageError } from '../contract/errors.js'
import type { DeleteOptions } from '../contract/interface.js'
import { checkPreconditions } from '../contract/preconditions.js'
import { AttemptedState } from './attempted-state.js'
import { callOptions, type StoreCore } from './store-core.js'
import type { ObjectState } from './stored-object.js'

export async function conditionalDelete<T extends KubeObject>(
  core: StoreCore<T>,
  key: string,
  options: DeleteOptions<T>,
): Promise<T> {
  const { cachedExistingObject, signal } = options
  const rules = { expectUnreadable: options.ignoreStoreReadError }
  const suggestion = rules.expectUnreadable === true ? undefined : cachedExistingObject
  const attempted = await AttemptedState.open({ core, key, rules, signal }, suggestion)
  for (;;) {
    await attempted.attempt((state) => mayDelete(key, state, options))
    const { state } = attempted
    const result = await core.kv.optimisticDelete(key, state.revision, { getOnFailure: true, ...callOptions(signal) })
    if (result.succeeded) return lastState(core, key, state, result.revision)
    await attempted.take(result.kv)
  }
}

async function mayDelete<T extends KubeObject>(
  key: string,
  state: ObjectState<T>,
  options: DeleteOptions<T>,
): Promise<void> {
  if (state.object !== undefined) {
    checkPreconditions(key, options.preconditions, state.object)
    await options.validateDeletion?.(state.object)
    return
  }
  // The revision of an unreadable object is known, its uid is not: a caller that insists on a uid cannot be sure of it.
  if (options.preconditions?.uid !== undefined) {
    throw new StorageError('invalid-object', 'Precondition failed: the UID of an unreadable object is not known', {
      key,
    })
  }
  checkPreconditions(key, options.preconditions, { metadata: { resourceVersion: String(state.revision) } })
}

function lastState<T extends KubeObject>(core: StoreCore<T>, key: string, state: ObjectState<T>, revision: number): T {
  if (state.object !== undefined) return core.objects.decode(state.data, key, revision)
  const unknown = core.objects.newObject()
  core.objects.versioner.updateObject(unknown, revision)
  return unknown
}
