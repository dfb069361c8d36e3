/** Thread: owner. Records the size of the store's database, per endpoint, every now and then. */
import type { Clock, Timer } from '../../lib/clock.js'
import { type Logger, nullLogger } from '../../lib/logger.js'
import type { KV } from '../contract/kv.js'
import { logFailure } from '../contract/log-failure.js'

export const DEFAULT_DB_METRIC_POLL_INTERVAL_MS = 30_000

export interface DbSizeMonitorOptions {
  readonly kv: Pick<KV, 'databaseSizes'>
  readonly clock: Clock
  readonly record: (endpoint: string, bytes: number) => void
  readonly logger?: Logger
  /** The time between two measurements; 0 turns the monitor off. */
  readonly intervalMs?: number
}

export class DbSizeMonitor {
  readonly #options: DbSizeMonitorOptions
  readonly #logger: Logger
  readonly #intervalMs: number
  #running = false
  #timer: Timer | undefined
  #measuring: Promise<void> = Promise.resolve()

  constructor(options: DbSizeMonitorOptions) {
    this.#options = options
    this.#logger = options.logger ?? nullLogger
    this.#intervalMs = options.intervalMs ?? DEFAULT_DB_METRIC_POLL_INTERVAL_MS
  }

  /** Measures at once, then an interval after each measurement is done. */
  start(): void {
    if (this.#running || this.#intervalMs === 0) return
    this.#running = true
    this.#next()
  }

  /** Resolves when no measurement is under way any more. */
  async stop(): Promise<void> {
    this.#running = false
    this.#timer?.cancel()
    await this.#measuring
  }

  #next(): void {
    this.#measuring = this.#measure().then(() => {
      if (this.#running) this.#timer = this.#options.clock.after(this.#intervalMs, () => this.#next())
    })
  }

  async #measure(): Promise<void> {
    try {
      const sizes = await this.#options.kv.databaseSizes()
      if (!this.#running) return
      for (const { endpoint, bytes } of sizes) this.#options.record(endpoint, bytes)
    } catch (error) {
      if (this.#running) logFailure(this.#logger, error, {}, 'the size of the database is not known')
    }
  }
}
