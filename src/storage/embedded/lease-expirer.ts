/** Thread: owner. Ends leases when their time has come, also those whose time came while no process ran. */
import type { Clock, Timer } from '../../lib/clock.js'
import type { Logger } from '../../lib/logger.js'
import type { LeaseId } from '../contract/kv.js'

/**
 * The longest wait for a lease: timers of Node.js end at 2^31 ms, and a look every hour is enough for longer leases.
 */
const LONGEST_WAIT_MS = 3_600_000
const RETRY_MS = 1000

export interface LeaseExpirerOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** Resolves once the lease and its keys are gone, durably. */
  revoke(lease: LeaseId): Promise<void>
}

export class LeaseExpirer {
  readonly #options: LeaseExpirerOptions
  readonly #leases = new Map<LeaseId, number>()
  #timer: Timer | undefined
  #dueMs = Number.POSITIVE_INFINITY
  #running = false

  constructor(options: LeaseExpirerOptions) {
    this.#options = options
  }

  start(leases: Iterable<{ lease: LeaseId; expiresAtMs: number }>): void {
    this.#running = true
    for (const { lease, expiresAtMs } of leases) this.#leases.set(lease, expiresAtMs)
    this.#arm()
  }

  stop(): void {
    this.#running = false
    this.#timer?.cancel()
  }

  add(lease: LeaseId, expiresAtMs: number): void {
    this.#leases.set(lease, expiresAtMs)
    if (expiresAtMs < this.#dueMs) this.#arm()
  }

  #arm(atLeastMs = 0): void {
    this.#timer?.cancel()
    this.#dueMs = Math.min(Number.POSITIVE_INFINITY, ...this.#leases.values())
    if (!this.#running || this.#leases.size === 0) return
    const delayMs = Math.max(this.#dueMs - this.#options.clock.now(), atLeastMs)
    this.#timer = this.#options.clock.after(Math.min(delayMs, LONGEST_WAIT_MS), () => void this.#expireDue())
  }

  async #expireDue(): Promise<void> {
    const { clock, logger, revoke } = this.#options
    const due = [...this.#leases].filter(([, expiresAtMs]) => expiresAtMs <= clock.now())
    let retryMs = 0
    for (const [lease] of due) {
      if (!this.#running) return
      try {
        await revoke(lease)
        this.#leases.delete(lease)
      } catch (error) {
        logger.warn({ err: error, lease: String(lease) }, 'ending a lease failed; it will be tried again')
        retryMs = RETRY_MS
      }
    }
    this.#arm(retryMs)
  }
}
