/** Thread: pool. What a DELETE means for one object: gone at once, told to end, or waiting for its finalizers. */
import type { GroupResource } from '../../api/group-version.js'
import { type KubeObject, metadataOf, nextGeneration } from '../../api/object.js'
import type { Int64 } from '../../api/scalar-types.js'
import { newConflict, newInternalError } from '../../api/status.js'
import { FINALIZER_FOREGROUND, FINALIZER_ORPHAN } from '../../api/validation/object-meta.js'
import type { DeleteOptions, DeleteStrategy, RequestContext } from './strategy.js'
import { formatTime } from './system-fields.js'

/** `graceful`: the object was changed and must be stored; `pending`: it is ending already, nothing to do. */
export type DeletionKind = 'immediate' | 'graceful' | 'pending'

export function checkPreconditions(resource: GroupResource, object: KubeObject, options: DeleteOptions): void {
  const { name = '', uid, resourceVersion } = metadataOf(object)
  const wanted = options.preconditions
  if (wanted?.uid !== undefined && wanted.uid !== uid) {
    throw newConflict(
      resource,
      name,
      `the UID in the precondition (${wanted.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    )
  }
  if (wanted?.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion) {
    throw newConflict(
      resource,
      name,
      `the ResourceVersion in the precondition (${wanted.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    )
  }
}

/** Decides, and marks the object when it is to end gracefully. Fills in options.gracePeriodSeconds. */
export function beforeDelete(
  strategy: DeleteStrategy,
  object: KubeObject,
  options: DeleteOptions,
  context: RequestContext,
): DeletionKind {
  checkPreconditions({ group: strategy.kind.group, resource: strategy.kind.kind }, object, options)
  const metadata = metadataOf(object)
  if (options.gracePeriodSeconds !== undefined && options.gracePeriodSeconds < 0) options.gracePeriodSeconds = 1
  if (metadata.deletionGracePeriodSeconds !== undefined && metadata.deletionGracePeriodSeconds < 0)
    metadata.deletionGracePeriodSeconds = 1
  if (strategy.checkGracefulDelete === undefined) return 'immediate'
  if (metadata.deletionTimestamp !== undefined) return shortenGrace(object, options, context)
  if (!strategy.checkGracefulDelete(object, options, context)) return 'immediate'
  if (options.gracePeriodSeconds === undefined) throw newInternalError('options.GracePeriodSeconds should not be nil')
  metadata.deletionTimestamp = formatTime(context.now() + milliseconds(options.gracePeriodSeconds))
  metadata.deletionGracePeriodSeconds = options.gracePeriodSeconds
  if ((metadata.generation ?? 0) > 0) metadata.generation = nextGeneration(metadata)
  return 'graceful'
}

/** Grace is any int64 of seconds. Go's durations are nanoseconds in 64 bits and wrap around, so that times remain times. */
const milliseconds = (seconds: Int64): number => Number(BigInt.asIntN(64, BigInt(seconds) * 10n ** 9n) / 10n ** 6n)

/** An object that is ending may only be told to end sooner. */
function shortenGrace(object: KubeObject, options: DeleteOptions, context: RequestContext): DeletionKind {
  const metadata = metadataOf(object)
  const current = metadata.deletionGracePeriodSeconds ?? 0
  // An earlier DELETE marked the object, and its second step did not happen: this one finishes it.
  if (current === 0) return 'immediate'
  if (options.gracePeriodSeconds === undefined) {
    options.gracePeriodSeconds = current
    return 'pending'
  }
  let period = options.gracePeriodSeconds
  if (period >= current) return 'pending'
  let endsAt = Date.parse(metadata.deletionTimestamp!) + milliseconds(BigInt(period) - BigInt(current))
  if (endsAt < context.now()) {
    endsAt = context.now()
    // It remains a graceful deletion: somebody else must see it and finish it.
    if (period !== 0) period = 1
  }
  metadata.deletionTimestamp = formatTime(endsAt)
  metadata.deletionGracePeriodSeconds = period
  return 'graceful'
}

/** The finalizers that a deletion leaves on the object, by propagation policy; undefined when they stay as they are. */
export function finalizersForGarbageCollection(
  strategy: DeleteStrategy,
  object: KubeObject,
  options: DeleteOptions,
): string[] | undefined {
  const finalizers = metadataOf(object).finalizers ?? []
  const policy = effectivePolicy(strategy, finalizers, options)
  const next = finalizers.filter((name) => name !== FINALIZER_ORPHAN && name !== FINALIZER_FOREGROUND)
  if (policy === 'Orphan') next.push(FINALIZER_ORPHAN)
  if (policy === 'Foreground') next.push(FINALIZER_FOREGROUND)
  const before = new Set(finalizers)
  const unchanged = next.length === before.size && next.every((name) => before.has(name))
  return unchanged ? undefined : next
}

function effectivePolicy(strategy: DeleteStrategy, finalizers: readonly string[], options: DeleteOptions): string {
  if (strategy.defaultGarbageCollectionPolicy === 'Unsupported') return 'Background'
  if (options.orphanDependents !== undefined) return options.orphanDependents ? 'Orphan' : 'Background'
  if (options.propagationPolicy !== undefined) return options.propagationPolicy
  const own = finalizers.find((name) => name === FINALIZER_ORPHAN || name === FINALIZER_FOREGROUND)
  if (own !== undefined) return own === FINALIZER_ORPHAN ? 'Orphan' : 'Foreground'
  return strategy.defaultGarbageCollectionPolicy === 'OrphanDependents' ? 'Orphan' : 'Background'
}

/** Marks an object that stays until its finalizers are gone. */
export function markAsDeleting(object: KubeObject, nowMs: number): void {
  const metadata = metadataOf(object)
  if (metadata.deletionTimestamp === undefined && (metadata.generation ?? 0) > 0)
    metadata.generation = nextGeneration(metadata)
  if (metadata.deletionTimestamp === undefined || Date.parse(metadata.deletionTimestamp) > nowMs) {
    metadata.deletionTimestamp = formatTime(nowMs)
  }
  metadata.deletionGracePeriodSeconds = 0
}

/** Whether the update took the last finalizer off an object that only waited for it. */
export function shouldDeleteDuringUpdate(next: KubeObject, existing: KubeObject): boolean {
  if ((metadataOf(next).finalizers ?? []).length > 0) return false
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadataOf(existing)
  return deletionTimestamp !== undefined && (deletionGracePeriodSeconds ?? 0) === 0
}
