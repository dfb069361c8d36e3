/**
 * Thread: owner. The clock as the owner uses it. It moves the shared clock and wakes waiters in this thread at once;
 * readers in other threads are woken through the shared memory, about 70 µs later.
 */
import { abortReason } from '../../lib/cancellation.js'
import type { ClockView, ClockWriter } from '../memory/shared-memory.js'

interface Waiter {
  readonly revision: number
  resolve(): void
}

export class OwnerClock implements ClockWriter, ClockView {
  readonly #shared: ClockWriter
  readonly #waiters = new Set<Waiter>()
  readonly #listeners = new Set<(revision: number) => void>()
  #telling = false

  constructor(shared: ClockWriter) {
    this.#shared = shared
  }

  revision(): number {
    return this.#shared.revision()
  }

  advance(revision: number): void {
    if (revision <= this.#shared.revision()) return
    this.#shared.advance(revision)
    for (const waiter of this.#waiters) {
      if (waiter.revision > revision) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
    this.#tell()
  }

  rewind(revision: number): void {
    this.#shared.rewind(revision)
    this.#tell()
  }

  reached(revision: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(abortReason(signal))
    if (this.revision() >= revision) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const aborted = (): void => {
        this.#waiters.delete(waiter)
        reject(abortReason(signal))
      }
      const waiter = {
        revision,
        resolve: () => {
          signal?.removeEventListener('abort', aborted)
          resolve()
        },
      }
      this.#waiters.add(waiter)
      signal?.addEventListener('abort', aborted)
    })
  }

  onAdvance(listener: (revision: number) => void): () => void {
    const own = (revision: number): void => listener(revision)
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  /** Listeners are told once a turn of the loop, however often the clock moved in it. */
  #tell(): void {
    if (this.#telling || this.#listeners.size === 0) return
    this.#telling = true
    setImmediate(() => {
      this.#telling = false
      const revision = this.revision()
      for (const listener of [...this.#listeners]) listener(revision)
    })
  }
}
