/**
 * Thread: any; written by the owner. One shared word that says whether memory already holds everything that anybody has
 * been told of the store. While it does, the clock itself is the truth, and a linearizable read from memory need not
 * ask the store.
 *
 * This holds on the embedded engine, whose answers are kept back until memory has what they tell (AppliedKV). A reader
 * looks at the word before it looks at the clock; the owner takes the word back before it lets an answer go that memory
 * does not have.
 */
const WORD = 0

export class ClockTruth {
  readonly buffer: SharedArrayBuffer
  readonly #words: Int32Array

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(4)) {
    this.buffer = buffer
    this.#words = new Int32Array(buffer)
  }

  holds(): boolean {
    return Atomics.load(this.#words, WORD) === 1
  }

  set(holds: boolean): void {
    Atomics.store(this.#words, WORD, holds ? 1 : 0)
  }
}
