/** Thread: any. What a caller may demand of the object that it is about to change. */
import type { KubeObject } from '../../api/object.js'
import { StorageError } from './errors.js'
import type { Preconditions } from './interface.js'

/** Throws `invalid-object` when a precondition does not hold. */
export function checkPreconditions(key: string, preconditions: Preconditions | undefined, object: KubeObject): void {
  if (preconditions === undefined) return
  const { uid, resourceVersion } = object.metadata ?? {}
  demand(key, 'UID', preconditions.uid, uid)
  demand(key, 'ResourceVersion', preconditions.resourceVersion, resourceVersion)
}

function demand(key: string, what: string, wanted: string | undefined, found: string | undefined): void {
  if (wanted === undefined || wanted === (found ?? '')) return
  throw new StorageError(
    'invalid-object',
    `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${found ?? ''}`,
    { key },
  )
}
