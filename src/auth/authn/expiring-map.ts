/** Thread: any. A map whose entries live for a short time, up to a number of them; the oldest goes first. */
import type { Clock } from '../../lib/clock.js'

export class ExpiringMap<V> {
  readonly #clock: Clock
  readonly #ttlMs: number
  readonly #limit: number
  readonly #entries = new Map<string, { readonly value: V; readonly untilMs: number }>()

  constructor(options: { readonly clock: Clock; readonly ttlMs: number; readonly limit: number }) {
    this.#clock = options.clock
    this.#ttlMs = options.ttlMs
    this.#limit = options.limit
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.untilMs > this.#clock.monotonicMs()) return entry.value
    this.#entries.delete(key)
    return undefined
  }

  set(key: string, value: V): void {
    this.#entries.delete(key)
    if (this.#entries.size >= this.#limit) {
      const oldest = this.#entries.keys().next()
      if (!oldest.done) this.#entries.delete(oldest.value)
    }
    this.#entries.set(key, { value, untilMs: this.#clock.monotonicMs() + this.#ttlMs })
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }
}
