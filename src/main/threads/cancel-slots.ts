/**
 * Thread: main. Tells pool threads that nobody waits for a task any longer. Each task under way has a flag in memory
 * that all of them see (protocol/main-pool.ts). A message would not do: it could overtake the task, and it would have
 * to go to whichever thread gets the task.
 */
import { NO_SLOT } from '../../protocol/main-pool.js'
import type { Caller } from './caller.js'

export class CancelSlots {
  readonly memory: SharedArrayBuffer
  readonly #flags: Int32Array
  readonly #free: number[]

  /** `capacity` is the most tasks that may be under way at once. */
  constructor(capacity: number) {
    this.memory = new SharedArrayBuffer(capacity * Int32Array.BYTES_PER_ELEMENT)
    this.#flags = new Int32Array(this.memory)
    this.#free = Array.from({ length: capacity }, (_, slot) => capacity - 1 - slot)
  }

  /**
   * Runs a task with a flag that is set when the caller goes before the task ends; a task that nobody cancels gets
   * NO_SLOT.
   */
  async lend<T>(caller: Caller | undefined, run: (slot: number) => Promise<T>): Promise<T> {
    const slot = caller === undefined ? undefined : this.#free.pop()
    if (slot === undefined) return run(NO_SLOT)
    const flags = this.#flags
    let ended = false
    Atomics.store(flags, slot, 0)
    // onGone() also calls back after answered requests: by then the slot may be another task's.
    caller!.onGone(() => {
      if (!ended) Atomics.store(flags, slot, 1)
    })
    try {
      return await run(slot)
    } finally {
      ended = true
      this.#free.push(slot)
    }
  }
}
