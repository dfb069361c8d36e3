/** Thread: owner. Moves the clock of one storage cluster. */
import { CLOCK_BUSY, CLOCK_BYTES, CLOCK_EPOCH, CLOCK_HIGH, CLOCK_LOW, TWO_32 } from '../memory/memory-layout.js'
import type { ClockWriter } from '../memory/shared-memory.js'

export class RevisionClockWriter implements ClockWriter {
  readonly buffer = new SharedArrayBuffer(CLOCK_BYTES)
  readonly #words = new Int32Array(this.buffer)
  #revision = 0

  revision(): number {
    return this.#revision
  }

  advance(revision: number): void {
    if (revision > this.#revision) this.#set(revision)
  }

  rewind(revision: number): void {
    if (revision < this.#revision) this.#set(revision)
  }

  #set(revision: number): void {
    const high = Math.floor(revision / TWO_32)
    const carries = high !== Math.floor(this.#revision / TWO_32)
    this.#revision = revision
    if (carries) Atomics.store(this.#words, CLOCK_HIGH, CLOCK_BUSY)
    Atomics.store(this.#words, CLOCK_LOW, revision | 0)
    if (carries) Atomics.store(this.#words, CLOCK_HIGH, high)
    Atomics.notify(this.#words, CLOCK_LOW)
  }

  /** Called after each message to readers, and before anything is published that a reader needs the message for. */
  nextEpoch(): void {
    Atomics.add(this.#words, CLOCK_EPOCH, 1)
  }
}
