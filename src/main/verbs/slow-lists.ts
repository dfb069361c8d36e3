/**
 * Thread: main, or a front end's own. Bounds how long lists pin their state in shared memory. A list may hold its pin
 * for a second, some hundred times what a client that reads well needs; then the list goes on without a pin
 * (list-body.ts says how), however many slow lists there are.
 */
import type { Clock, Timer } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import type { Exchange } from '../http/exchange.js'
import { CopyBudget } from './copy-budget.js'
import type { ListBody } from './list-body.js'
import type { ReadMetrics } from './read-metrics.js'
import type { ServedResource } from './served-resource.js'

/**
 * How long a list may pin its state: shared memory keeps for lists, beyond its window, only what is replaced in this
 * time.
 */
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

  /** Starts the time of the pin when the answer is on its way: after PIN_MS the pin is given up. */
  start(exchange: Pick<Exchange, 'guard'>): void {
    if (this.#finished || this.#body.made) return
    this.#timer = this.#options.clock.after(
      PIN_MS,
      exchange.guard(() => this.#unpin()),
    )
  }

  /** The next piece; undefined when the rest is lost, which the client learns only by the end of its connection. */
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
