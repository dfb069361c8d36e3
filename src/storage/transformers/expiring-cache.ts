/**
 * Thread: any. Entries live for a fixed time after they were last set, and are then dropped by a later set(); until
 * dropped they are still given, because a key always stands for the same value: the time only bounds the memory.
 */
import type { Clock } from '../../lib/clock.js'

export class ExpiringCache<V> {
  readonly #ttlMs: number
  readonly #clock: Clock
  /** Entries in the order in which they expire. */
  readonly #entries = new Map<string, { value: V; expiresMs: number }>()

  constructor({ ttlMs, clock }: { ttlMs: number; clock: Clock }) {
    this.#ttlMs = ttlMs
    this.#clock = clock
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)?.value
  }

  set(key: string, value: V): void {
    const nowMs = this.#clock.monotonicMs()
    this.#entries.delete(key)
    this.#entries.set(key, { value, expiresMs: nowMs + this.#ttlMs })
    for (const [oldKey, { expiresMs }] of this.#entries) {
      if (expiresMs > nowMs) break
      this.#entries.delete(oldKey)
    }
  }
}
