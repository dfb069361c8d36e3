/**
 * Thread: controllers. What a controller is, and what it is given. A controller starts by saying what it follows and what its
 * queue does; everything that it opened through its context is closed when it stops.
 */
import type { Authorizer } from '../../auth/interface.js'
import type { Clock } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import type { ControllerSettings } from '../../protocol/main-controllers.js'
import type { ControlledResource, ControlledResources } from './controlled-resource.js'
import type { ControllerClient } from './controller-client.js'
import type { EventRecorder } from './event-recorder.js'
import type { InformerHandler } from './informer.js'
import type { ObjectReader } from './object-reader.js'
import type { RemoteObjects } from './remote-objects.js'
import type { WorkQueue } from './work-queue.js'

export interface Controller {
  /** The name that kube-controller-manager gives it: controller-names.ts lists it too. */
  readonly name: string
  /** The service account in kube-system whose role it has. */
  readonly account: string
  /** Who its events say that they come from; the name of the controller when it is left out. */
  readonly eventSource?: string
  /** The controller is left out when one of these resources is not served. */
  readonly requires: readonly string[]
  start(context: ControllerContext): void
}

export interface QueueOptions {
  readonly sync: (key: string) => Promise<void>
  /** Default: 5. */
  readonly workers?: number
  readonly firstPauseMs?: number
  readonly maxPauseMs?: number
}

export interface ControllerContext {
  readonly logger: Logger
  readonly clock: Clock
  readonly settings: ControllerSettings
  readonly resources: ControlledResources
  /** Writes as the controller's service account. */
  readonly client: ControllerClient
  readonly objects: ObjectReader
  /** What extension API servers hold, as the controller's service account. */
  readonly remotes: RemoteObjects
  readonly events: EventRecorder
  /** Decides what other users may: for controllers that act on somebody's wish. */
  readonly authorizer: Authorizer
  /** A resource that `requires` names. */
  resource(id: string): ControlledResource
  /** Gives every object, then what changes, until the controller stops or the result is called. */
  follow(resource: ControlledResource, handler: InformerHandler): () => void
  /** A queue that works as long as the controller runs. */
  queue(options: QueueOptions): WorkQueue
  /** Brings everything that the controller follows up to the clock now, without waiting for the next turn. */
  catchUp(): void
  /** Called when the controller stops. */
  onStop(listener: () => void): void
}
