/**
 * Thread: controllers. One controller while it runs. What it throws is its own affair: it is stopped, the failure is logged,
 * and it is started anew after a pause that doubles.
 *
 *   start() ──▶ running ──a handler throws──▶ pausing ──▶ running
 *                  └───────────stop()────────────┴──▶ stopped
 */

import type { Authorizer } from '../../auth/interface.js'
import type { ResourceViews } from '../../cacher/read/resource-view.js'
import { assert } from '../../lib/assert.js'
import type { Clock, Timer } from '../../lib/clock.js'
import { backoff } from '../../lib/jitter.js'
import type { Logger } from '../../lib/logger.js'
import type { WorkMetrics } from '../../metrics/work-metrics.js'
import type { ControllerSettings } from '../../protocol/main-controllers.js'
import type { ControlledResource, ControlledResources } from './controlled-resource.js'
import type { Controller, ControllerContext, QueueOptions } from './controller.js'
import type { ControllerClient } from './controller-client.js'
import type { EventRecorder } from './event-recorder.js'
import { Informer, type InformerHandler } from './informer.js'
import type { ObjectReader } from './object-reader.js'
import type { RemoteObjects } from './remote-objects.js'
import { WorkQueue } from './work-queue.js'

const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 60_000
const WORKERS = 5

export interface RunningControllerOptions {
  readonly controller: Controller
  readonly resources: ControlledResources
  readonly views: ResourceViews
  readonly client: ControllerClient
  readonly objects: ObjectReader
  readonly remotes: RemoteObjects
  readonly events: EventRecorder
  readonly authorizer: Authorizer
  readonly settings: ControllerSettings
  readonly metrics: WorkMetrics
  readonly clock: Clock
  readonly logger: Logger
}

export class RunningController {
  readonly #options: RunningControllerOptions
  #informers = new Set<Informer>()
  #queues: WorkQueue[] = []
  #closers: (() => void)[] = []
  #timer: Timer | undefined
  #attempts = 0
  #failure: string | undefined

  constructor(options: RunningControllerOptions) {
    this.#options = options
  }

  get name(): string {
    return this.#options.controller.name
  }

  /** '' when the controller is well, else what it failed with last. */
  get health(): string {
    return this.#failure ?? this.#queues.find((queue) => queue.lastFailure !== undefined)?.lastFailure?.message ?? ''
  }

  start(): void {
    this.#guard(() => {
      this.#options.controller.start(this.#context())
      for (const queue of this.#queues) queue.start()
      this.#syncAll()
      this.#failure = undefined
    })
  }

  /** Brings what the controller follows up to the clock; called when the clock has moved. */
  sync(): void {
    this.#guard(() => this.#syncAll())
  }

  async stop(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    await this.#close()
  }

  #syncAll(): void {
    for (const informer of [...this.#informers]) informer.sync()
  }

  #guard(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    const { clock, logger } = this.#options
    this.#failure = error instanceof Error ? error.message : String(error)
    const pauseMs = backoff(this.#attempts++, FIRST_PAUSE_MS, MAX_PAUSE_MS)
    logger.error({ err: error, pauseMs }, 'the controller failed and is started anew')
    const closed = this.#close()
    this.#timer?.cancel()
    this.#timer = clock.after(pauseMs, () => {
      this.#timer = undefined
      void closed.then(() => this.start())
    })
  }

  #close(): Promise<unknown> {
    for (const close of this.#closers.splice(0)) close()
    this.#informers.clear()
    return Promise.all(this.#queues.splice(0).map((queue) => queue.stop()))
  }

  #context(): ControllerContext {
    const { resources, client, objects, remotes, events, authorizer, settings, clock, logger } = this.#options
    return {
      resources,
      client,
      objects,
      remotes,
      events,
      authorizer,
      settings,
      clock,
      logger,
      resource: (id) => {
        const found = resources.find(id)
        assert(found !== undefined, `${id} is served, because the controller requires it`)
        return found
      },
      follow: (resource, handler) => this.#follow(resource, handler),
      queue: (options) => this.#queue(options),
      catchUp: () => this.#syncAll(),
      onStop: (listener) => void this.#closers.push(listener),
    }
  }

  #follow(resource: ControlledResource, handler: InformerHandler): () => void {
    const informer = new Informer(resource, this.#options.views(resource.arena), handler)
    this.#informers.add(informer)
    return () => void this.#informers.delete(informer)
  }

  #queue({ sync, workers = WORKERS, firstPauseMs, maxPauseMs }: QueueOptions): WorkQueue {
    const { clock, logger, metrics } = this.#options
    const queue = new WorkQueue({ sync, workers, firstPauseMs, maxPauseMs, clock, logger, metrics })
    this.#queues.push(queue)
    return queue
  }
}
