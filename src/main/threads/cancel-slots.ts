/**
 * Thread: main. Tells pool threads that nobody waits for a task any longer: a flag a task under way, in memory that all of
 * them see (protocol/main-pool.ts). A message would not do: it may overtake the task, and be for any of the threads.
 */
import { NO_SLOT } from '../../protocol/main-pool.js'
import type { Caller } from './caller.js'

export class CancelSlots {
  readonly memory: SharedArrayBuffer
  readonly #flags: Int32Array
  readonly #free: number[]

  /** `capacity` tasks are under way at most. */
  constructor(capacity: number) {
    this.memory = new SharedArrayBuffer(capacity * Int32Array.BYTES_PER_ELEMENT)
    this.#flags = new Int32Array(this.memory)
    this.#free = Array.from({ length: capacity }, (_, slot) => capacity - 1 - slot)
  }

  /** Runs a task with a flag that is set when the caller goes before the task ends; NO_SLOT for those whom nobody cancels. */
  async lend<T>(caller: Caller | undefined, run: (slot: number) => Promise<T>): Promise<T> {
    const slot = caller === undefined ? undefined : this.#free.pop()
    if (slot === undefined) return run(NO_SLOT)
    const flags = this.#flags
    let ended = false
    Atomics.store(flags, slot, 0)
    // Called after every request, answered ones too: by then the slot may be another task's.
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
