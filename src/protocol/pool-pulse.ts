/**
 * Thread: any. What main sees of a pool thread without asking it: memory that both share, because a thread that is stuck
 * answers nothing.
 *
 *   word 0           beats: how often the thread's event loop has come round its timer; 0 while it loads. Writer: the thread.
 *   word 1           the place of the task that was begun last, plus one. Writer: the thread.
 *   word 2           how many of its tasks wait for a webhook. Writer: the thread.
 *   word 3           the number that the system has for the thread; 0 where it cannot be told. Writer: the thread, before it beats.
 *   word 4 + place    1: the task in this place was begun. Cleared by main before it hands a task over, set by the thread.
 */
import type { SlottedTask } from './main-pool.js'

const BEATS = 0
const LAST_BEGUN = 1
const CALLING = 2
const SYSTEM_THREAD = 3
const PLACES = 4

/** So often a thread that is well beats. */
export const BEAT_MS = 250

/** A task on its way to a thread, and where the thread says that it has begun it. */
export interface PoolHandover {
  readonly place: number
  readonly task: SlottedTask
}

export class PoolPulse {
  readonly buffer: SharedArrayBuffer
  readonly #words: Int32Array

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer
    this.#words = new Int32Array(buffer)
  }

  static create(places: number): PoolPulse {
    return new PoolPulse(new SharedArrayBuffer((PLACES + places) * Int32Array.BYTES_PER_ELEMENT))
  }

  get beats(): number {
    return Atomics.load(this.#words, BEATS)
  }

  /** Undefined: none yet. */
  get lastBegun(): number | undefined {
    const place = Atomics.load(this.#words, LAST_BEGUN) - 1
    return place < 0 ? undefined : place
  }

  get systemThread(): number {
    return Atomics.load(this.#words, SYSTEM_THREAD)
  }

  introduce(systemThread: number): void {
    Atomics.store(this.#words, SYSTEM_THREAD, systemThread)
  }

  /** The count may wrap around, but 0 means a thread that has not started. */
  readonly beat = (): void => {
    if (Atomics.add(this.#words, BEATS, 1) === -1) Atomics.store(this.#words, BEATS, 1)
  }

  /** Tasks that wait for somebody outside: they cost the thread nothing meanwhile. */
  get calling(): number {
    return Math.max(0, Atomics.load(this.#words, CALLING))
  }

  /** A task begins (1) or ends (-1) to wait for somebody outside. */
  readonly call = (change: 1 | -1): void => {
    Atomics.add(this.#words, CALLING, change)
  }

  begin(place: number): void {
    Atomics.store(this.#words, PLACES + place, 1)
    Atomics.store(this.#words, LAST_BEGUN, place + 1)
  }

  hasBegun(place: number): boolean {
    return Atomics.load(this.#words, PLACES + place) === 1
  }

  clear(place: number): void {
    Atomics.store(this.#words, PLACES + place, 0)
  }

  /** Another thread takes the place of one that ended, with the same memory. */
  reset(): void {
    this.#words.fill(0)
  }
}
