/**
 * Thread: main, or a front end's own. Lists whose clients take their time. A list may pin its state for a second, which is some
 * hundred times what a client needs that reads; then it goes on without (list-body.ts says how), however many there are.
 */
import type { Clock, Timer } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import { CopyBudget } from './copy-budget.js'
import type { ListBody } from './list-body.js'
import type { ReadMetrics } from './read-metrics.js'
import type { ServedResource } from './served-resource.js'

/** What is replaced in this time is all that lists keep in shared memory beyond its window. */
export const PIN_MS = 1000

export interface SlowListsOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: ReadMetrics
  readonly budget?: CopyBudget
}

/** One list under way. */
export class HeldList {
  readonly #options: SlowListsOptions & { readonly budget: CopyBudget }
  readonly #body: ListBody
  readonly #resource: ServedResource
  #timer: Timer | undefined
  #finished = false
  #unpinned = false

  constructor(options: SlowListsOptions & { readonly budget: CopyBudget }, body: ListBody, resource: ServedResource) {
    this.#options = options
    this.#body = body
    this.#resource = resource
  }

  /** From now on its client has the time that it has. */
  start(): void {
    if (this.#finished || this.#body.made) return
    this.#timer = this.#options.clock.after(PIN_MS, () => this.#unpin())
  }

  /** Undefined: the rest is lost, and the client cannot be told but by the end of its connection. */
  next(): Uint8Array | undefined {
    const piece = this.#body.next()
    if (piece === undefined) this.#lost()
    return piece
  }

  finish(): void {
    this.#finished = true
    this.#timer?.cancel()
    this.#body.finish()
    if (this.#unpinned) this.#options.metrics.slowListBytes(this.#options.budget.usedBytes)
  }

  #unpin(): void {
    const { budget, metrics } = this.#options
    const outcome = this.#body.unpin(budget)
    if (outcome === undefined) return
    this.#unpinned = true
    metrics.slowList(this.#resource, outcome)
    metrics.slowListBytes(budget.usedBytes)
  }

  #lost(): void {
    const { metrics, logger } = this.#options
    metrics.slowList(this.#resource, 'lost')
    logger.warn(
      { resource: this.#resource.arena, bytes: this.#body.totalBytes },
      'a list was read so slowly that its state has left memory: the connection is closed',
    )
  }
}

export class SlowLists {
  readonly #options: SlowListsOptions & { readonly budget: CopyBudget }

  constructor(options: SlowListsOptions) {
    this.#options = { ...options, budget: options.budget ?? new CopyBudget() }
  }

  hold(body: ListBody, resource: ServedResource): HeldList {
    return new HeldList(this.#options, body, resource)
  }
}
