/** Thread: pool. Failing webhooks in the log: a line a minute for each of them, with how often it failed since the last one. */
import type { Clock } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'

const INTERVAL_MS = 60_000
/** The most webhooks that are told apart; beyond it all are forgotten and begin anew. */
const MAX_KNOWN = 1_000

export class FailureLog {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #last = new Map<string, { atMs: number; silent: number }>()

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger
    this.#clock = clock
  }

  failed(configuration: string, webhook: string, policy: 'Fail' | 'Ignore', why: string): void {
    const key = `${configuration}/${webhook}`
    const nowMs = this.#clock.monotonicMs()
    const last = this.#last.get(key)
    if (last !== undefined && nowMs - last.atMs < INTERVAL_MS) {
      last.silent++
      return
    }
    if (this.#last.size >= MAX_KNOWN) this.#last.clear()
    this.#last.set(key, { atMs: nowMs, silent: 0 })
    const failedBefore = last?.silent ?? 0
    this.#logger.warn({ configuration, webhook, failurePolicy: policy, failedBefore, why }, 'a webhook fails')
  }
}
