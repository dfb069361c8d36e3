/**
 * Thread: owner. Asks a resource's storage from time to time how much it holds: the first time at once, then a period
 * and up to 1.2 of it more after each answer, so that the resources of a server do not ask together.
 */
import type { GroupResource } from '../../api/group-version.js'
import { assert } from '../../lib/assert.js'
import type { Clock, Timer } from '../../lib/clock.js'
import { jitter, type Random } from '../../lib/jitter.js'
import type { Logger } from '../../lib/logger.js'
import type { StorageStats } from '../contract/interface.js'

/** What a resource holds; -1 stands for unknown. */
export interface ObjectCounts {
  readonly objects: number
  readonly estimatedBytes: number
}

export interface CountRecorder {
  update(resource: GroupResource, counts: ObjectCounts): void
  /** Forgets the figures of a resource that is not polled any more. */
  delete(resource: GroupResource): void
}

export interface CountPollerOptions {
  readonly resource: GroupResource
  readonly stats: () => Promise<StorageStats>
  /** The time between two questions; 0 for never (see EtcdOptions). */
  readonly periodMs: number
  readonly recorder: CountRecorder
  readonly clock: Clock
  readonly logger: Logger
  readonly random?: Random
}

const JITTER_FACTOR = 1.2
const UNKNOWN: ObjectCounts = { objects: -1, estimatedBytes: -1 }

export class CountPoller {
  readonly #options: CountPollerOptions
  #timer: Timer | undefined
  #state: 'new' | 'running' | 'stopped' = 'new'

  constructor(options: CountPollerOptions) {
    this.#options = options
  }

  start(): void {
    assert(this.#state === 'new', 'a count poller starts once')
    this.#state = 'running'
    if (this.#options.periodMs > 0) void this.#poll()
  }

  stop(): void {
    if (this.#state === 'running' && this.#options.periodMs > 0) this.#options.recorder.delete(this.#options.resource)
    this.#state = 'stopped'
    this.#timer?.cancel()
  }

  async #poll(): Promise<void> {
    const { resource, periodMs, recorder, clock, random } = this.#options
    const counts = await this.#counts()
    // An answer that arrives after stop() must not bring the figures back.
    if (this.#state !== 'running') return
    recorder.update(resource, counts)
    this.#timer = clock.after(jitter(periodMs, JITTER_FACTOR, random), () => void this.#poll())
  }

  async #counts(): Promise<ObjectCounts> {
    const { resource, stats, logger } = this.#options
    try {
      const { objectCount, estimatedAverageObjectSizeBytes: size } = await stats()
      const sizeUnknown = objectCount > 0 && size === 0
      return { objects: objectCount, estimatedBytes: sizeUnknown ? -1 : objectCount * size }
    } catch (error) {
      logger.debug({ err: error, resource }, 'objects could not be counted')
      return UNKNOWN
    }
  }
}
