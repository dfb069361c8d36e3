/**
 * Thread: controllers. Follows one resource in shared memory for the controllers of this thread: a cursor into the ring of
 * events, no copy and no socket. First every object is given, then what changes; when the window has passed the cursor, or
 * memory was made anew, everything is given again after `onReset`.
 * While a resource is not in memory the last state it had there stays in force.
 */
import { ArenaFollower } from '../../cacher/read/arena-follower.js'
import type { ResourceView } from '../../cacher/read/resource-view.js'
import type { ControlledResource } from './controlled-resource.js'
import { SeenObject } from './seen-object.js'

export interface InformerHandler {
  /** Everything is given next, in this turn; what is not among it exists no longer. */
  onReset?(): void
  /** Every object has been given after onReset. */
  onSynced?(): void
  /** `previous` is undefined when the object is new, or was not followed from its last state to this one. */
  onPut(object: SeenObject, previous: SeenObject | undefined): void
  onDelete(object: SeenObject): void
}

export class Informer {
  readonly resource: ControlledResource
  readonly #follower: ArenaFollower
  readonly #handler: InformerHandler
  #resetting = false

  /** What a handler throws is thrown by sync(): its controller is at fault, not the others. */
  constructor(resource: ControlledResource, view: ResourceView, handler: InformerHandler) {
    this.resource = resource
    this.#handler = handler
    const seen = (record: ConstructorParameters<typeof SeenObject>[1]): SeenObject => new SeenObject(resource, record)
    this.#follower = new ArenaFollower(view, {
      reset: () => {
        this.#resetting = true
        handler.onReset?.()
      },
      put: (record, previous) => handler.onPut(seen(record), previous && seen(previous)),
      delete: (record) => handler.onDelete(seen(record)),
    })
  }

  /** Brings the handler up to the clock. False while the resource has never been in memory. */
  sync(): boolean {
    const known = this.#follower.sync()
    if (this.#resetting) {
      this.#resetting = false
      this.#handler.onSynced?.()
    }
    return known
  }
}
