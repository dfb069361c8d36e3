/**
 * Thread: pool. Lets a thread breathe that evaluates expressions for one request: policies without end, each just below its cost
 * limit, would otherwise hold the thread and everybody else on it until all of them are done.
 */
import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../lib/clock.js'
import type { AdmissionAttributes } from '../chain.js'

/** How long a request may evaluate before others of its thread have their turn. */
const TURN_MS = 10

export class Breather {
  readonly #clock: Clock
  readonly #attributes: AdmissionAttributes
  #begunMs: number

  constructor(clock: Clock, attributes: AdmissionAttributes) {
    this.#clock = clock
    this.#attributes = attributes
    this.#begunMs = clock.monotonicMs()
  }

  /** To be called between policies. Throws when nobody waits for the request any longer. */
  async breathe(): Promise<void> {
    if (this.#clock.monotonicMs() - this.#begunMs < TURN_MS) return
    await setImmediate()
    this.#begunMs = this.#clock.monotonicMs()
    const { signal } = this.#attributes
    if (signal?.aborted) throw signal.reason
  }
}
