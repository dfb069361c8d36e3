/**
 * Thread: any. Deletion on conditions. As in an update, a refusal that rests on the caller's copy counts only when the
 * copy turns out to be current; otherwise preconditions and validation run again on the stored object.
 */
import type { KubeObject } from '../../api/object.js'
import { StorageError } from '../contract/errors.js'
import type { DeleteOptions } from '../contract/interface.js'
import { checkPreconditions } from '../contract/preconditions.js'
import { callOptions, readState, type StoreCore, stateOf, throwIfCancelled } from './store-core.js'
import type { ObjectState } from './stored-object.js'

export async function conditionalDelete<T extends KubeObject>(
  core: StoreCore<T>,
  key: string,
  options: DeleteOptions<T>,
): Promise<T> {
  const { cachedExistingObject: suggestion, signal } = options
  const rules = { expectUnreadable: options.ignoreStoreReadError }
  const readCurrent = () => readState(core, key, rules, signal)
  let current = suggestion === undefined || rules.expectUnreadable === true
  let state = current ? await readCurrent() : core.objects.suggestedState(suggestion!)
  for (;;) {
    throwIfCancelled(key, signal)
    try {
      await mayDelete(key, state, options)
    } catch (error) {
      if (current) throw error
      const seen = state.revision
      state = await readCurrent()
      current = true
      if (state.revision === seen) throw error
      continue
    }
    const result = await core.kv.optimisticDelete(key, state.revision, { getOnFailure: true, ...callOptions(signal) })
    if (result.succeeded) return lastState(core, key, state, result.revision)
    state = await stateOf(core, key, result.kv, rules)
    current = true
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
  // Its revision is known, its uid is not: a caller that insists on a uid cannot be sure of the object.
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
