/**
 * Thread: any. Reads the clock and waits for it. However many wait, the thread has one Atomics.waitAsync pending at
 * most, and wakes at most once a turn of its loop. (A message on a port to each thread for each revision costs the
 * owner 12 µs a thread; a notify costs it 0.04 µs, and the wake-up is 70 µs away.)
 *
 * A wake-up costs both threads some 70 µs where cores are few, and under load the clock moves three hundred times a second. A thread in which
 * only patient ones listen (caches of rules, controllers) rests after each.
 *
 * A pending waitAsync does not keep a thread alive, and cannot be taken back: when the last listener goes, the one that
 * is pending is left for the next one to use.
 */
import { abortReason } from '../../lib/cancellation.js'
import { CLOCK_BUSY, CLOCK_EPOCH, CLOCK_HIGH, CLOCK_LOW, TWO_32 } from '../memory/memory-layout.js'
import type { ClockPace, ClockView } from '../memory/shared-memory.js'

/** How long patient listeners may wait for what comes right after what they were told. */
const REST_MS = 5

interface Waiter {
  readonly revision: number
  resolve(): void
}

export class RevisionClockReader implements ClockView {
  readonly #words: Int32Array
  readonly #listeners = new Set<(revision: number) => void>()
  /** Those of the listeners who do not want to wait. */
  readonly #prompt = new Set<(revision: number) => void>()
  readonly #waiters = new Set<Waiter>()
  #armed = false
  #rest: NodeJS.Timeout | undefined
  /** The last revision that listeners were told, or that was there when the first of them came. */
  #told = 0

  constructor(buffer: SharedArrayBuffer) {
    this.#words = new Int32Array(buffer)
  }

  revision(): number {
    for (;;) {
      const high = Atomics.load(this.#words, CLOCK_HIGH)
      const low = Atomics.load(this.#words, CLOCK_LOW) >>> 0
      if (high !== CLOCK_BUSY && high === Atomics.load(this.#words, CLOCK_HIGH)) return high * TWO_32 + low
    }
  }

  /** The feed epoch, which changes with each message that the owner sends to readers. */
  epoch(): number {
    return Atomics.load(this.#words, CLOCK_EPOCH)
  }

  reached(revision: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.reject(abortReason(signal))
    if (this.revision() >= revision) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const onAbort = (): void => {
        this.#waiters.delete(waiter)
        reject(abortReason(signal))
      }
      const waiter: Waiter = {
        revision,
        resolve: () => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      this.#waiters.add(waiter)
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#arm()
    })
  }

  onAdvance(listener: (revision: number) => void, pace: ClockPace = 'prompt'): () => void {
    // A wrapper, so that the same function may listen twice.
    const own = (revision: number): void => listener(revision)
    if (this.#listeners.size === 0) this.#told = this.revision()
    this.#listeners.add(own)
    if (pace === 'prompt') this.#prompt.add(own)
    this.#arm()
    return () => {
      this.#listeners.delete(own)
      this.#prompt.delete(own)
    }
  }

  get #isHurried(): boolean {
    return this.#prompt.size > 0 || this.#waiters.size > 0
  }

  #arm(): void {
    if (this.#armed || (this.#listeners.size === 0 && this.#waiters.size === 0)) return
    if (this.#rest !== undefined) {
      if (!this.#isHurried) return
      clearTimeout(this.#rest)
      this.#rest = undefined
    }
    this.#armed = true
    const low = Atomics.load(this.#words, CLOCK_LOW)
    // The clock may have moved since the caller looked at it: then there is nothing to wait for.
    const wait = this.#behind() ? undefined : Atomics.waitAsync(this.#words, CLOCK_LOW, low)
    if (wait?.async) void wait.value.then(() => this.#wake())
    else setImmediate(() => this.#wake())
  }

  #behind(): boolean {
    const revision = this.revision()
    if (this.#listeners.size > 0 && revision !== this.#told) return true
    for (const waiter of this.#waiters) if (waiter.revision <= revision) return true
    return false
  }

  #wake(): void {
    const revision = this.revision()
    for (const waiter of this.#waiters) {
      if (waiter.revision > revision) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
    // The clock is looked at again a turn later, so that revisions that come meanwhile are told together.
    setImmediate(() => {
      this.#armed = false
      if (this.#isHurried) this.#arm()
      else this.#takeRest()
    })
    if (revision === this.#told) return
    this.#told = revision
    for (const listener of this.#listeners) listener(revision)
  }

  #takeRest(): void {
    this.#rest ??= setTimeout(() => {
      this.#rest = undefined
      this.#arm()
    }, REST_MS).unref()
  }
}
