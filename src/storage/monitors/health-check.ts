/**
 * Thread: owner. Whether the store answers, for /healthz/etcd and /readyz/etcd. Probes come from many sides and must
 * not become a load of their own: one question is under way at a time, and its answer holds for a moment.
 */
import type { Clock } from '../../lib/clock.js'
import type { KV } from '../contract/kv.js'

export const DEFAULT_HEALTH_CHECK_TIMEOUT_MS = 2_000
/** An answer holds for so long: the store is not asked more often. */
const DEFAULT_LIFETIME_MS = 1_000

export interface HealthCheckOptions {
  readonly kv: Pick<KV, 'get'>
  readonly clock: Clock
  /** The storage prefix; the key that is read lies below it and need not exist. */
  readonly prefix: string
  readonly timeoutMs?: number
  readonly lifetimeMs?: number
}

export type Health = { readonly healthy: true } | { readonly healthy: false; readonly error: Error }

export class HealthCheck {
  readonly #options: HealthCheckOptions
  readonly #timeoutMs: number
  readonly #lifetimeMs: number
  #asking: Promise<Health> | undefined
  #last: { readonly health: Health; readonly untilMs: number } | undefined

  constructor(options: HealthCheckOptions) {
    this.#options = options
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_HEALTH_CHECK_TIMEOUT_MS
    this.#lifetimeMs = options.lifetimeMs ?? DEFAULT_LIFETIME_MS
  }

  /** Asks the store, or gives an answer that still holds. Never rejects. */
  check(): Promise<Health> {
    if (this.#last !== undefined && this.#options.clock.monotonicMs() < this.#last.untilMs)
      return Promise.resolve(this.#last.health)
    this.#asking ??= this.#ask().then((health) => {
      this.#asking = undefined
      this.#last = { health, untilMs: this.#options.clock.monotonicMs() + this.#lifetimeMs }
      return health
    })
    return this.#asking
  }

  async #ask(): Promise<Health> {
    const { kv, clock, prefix } = this.#options
    const timeoutMs = this.#timeoutMs
    const abort = new AbortController()
    const late = new Error(`the store did not answer in ${timeoutMs} ms`)
    return new Promise((resolve) => {
      const timer = clock.after(timeoutMs, () => {
        resolve({ healthy: false, error: late })
        abort.abort(late)
      })
      kv.get(`${prefix}/health`, { timeoutMs, signal: abort.signal }).then(
        () => {
          timer.cancel()
          resolve({ healthy: true })
        },
        (error: unknown) => {
          timer.cancel()
          resolve({ healthy: false, error: error instanceof Error ? error : new Error(String(error)) })
        },
      )
    })
  }
}
