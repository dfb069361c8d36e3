/**
 * Thread: any; written by the owner. One shared word that says whether the clock itself is the truth: whether everything
 * that anybody has been told of the store is in memory already, so that a linearizable read needs to ask nobody.
 *
 * It holds on the embedded engine, whose answers wait until memory has what they tell (AppliedKV). A reader looks at it
 * before it looks at the clock; the owner takes it back before it lets an answer go that memory does not have.
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
