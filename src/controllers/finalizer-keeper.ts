/**
 * Thread: controllers. Keeps one finalizer on the objects of one resource: an object that is there has it, and one that is
 * being deleted loses it when nobody uses it any longer. Claims and volumes are protected so.
 */
import type { KubeObject } from '../api/object.js'
import type { ControlledResource } from './framework/controlled-resource.js'
import type { ControllerContext } from './framework/controller.js'
import { failedWith } from './framework/controller-client.js'
import { placeOf, type SeenObject } from './framework/seen-object.js'
import type { WorkQueue } from './framework/work-queue.js'

export interface FinalizerKeeperOptions {
  readonly context: ControllerContext
  readonly resource: ControlledResource
  readonly finalizer: string
  /** Whether somebody uses an object that is being deleted; live. */
  readonly isUsed: (object: KubeObject) => Promise<boolean>
}

/** Follows the resource. What else may free an object is told to the queue that is given back. */
export function keepFinalizer({ context, resource, finalizer, isUsed }: FinalizerKeeperOptions): WorkQueue {
  const { client, objects } = context
  const work = context.queue({
    sync: async (key) => {
      const object = await objects.get(resource, placeOf(key))
      if (object === undefined || !isConcerned(object, finalizer)) return
      const { finalizers = [], deletionTimestamp } = object.metadata ?? {}
      if (deletionTimestamp !== undefined && (await isUsed(object))) return
      const kept =
        deletionTimestamp === undefined ? [...finalizers, finalizer] : finalizers.filter((name) => name !== finalizer)
      try {
        await client.update(resource, { ...object, metadata: { ...object.metadata, finalizers: kept } })
      } catch (error) {
        if (!failedWith(error, 'NotFound')) throw error
      }
    },
  })
  context.follow(resource, {
    onPut: (object: SeenObject) => {
      if (isConcerned(object.read(), finalizer)) work.add(object.key)
    },
    onDelete: () => undefined,
  })
  return work
}

/** Either it is to go and is held, or it is to stay and is not. */
const isConcerned = ({ metadata }: KubeObject, finalizer: string): boolean =>
  (metadata?.deletionTimestamp !== undefined) === (metadata?.finalizers ?? []).includes(finalizer)
