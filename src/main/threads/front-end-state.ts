/** Thread: any. The state that all front ends of a process share, in a few words of memory. */
import { WATCH_COUNT_BYTES, WatchCounts } from '../flow-control/watch-counts.js'

const READY = 0
const READS = 1
const WRITES = 2
const REFUSING = 3
const WORDS = 16
const HEAD_BYTES = WORDS * Int32Array.BYTES_PER_ELEMENT

export class FrontEndState {
  readonly buffer: SharedArrayBuffer
  readonly watchCounts: WatchCounts
  readonly #words: Int32Array

  constructor(buffer = new SharedArrayBuffer(HEAD_BYTES + WATCH_COUNT_BYTES)) {
    this.buffer = buffer
    this.#words = new Int32Array(buffer, 0, WORDS)
    this.watchCounts = new WatchCounts(new Int32Array(buffer, HEAD_BYTES))
  }

  /** True when every part of the server is ready and the server is not about to stop. Main writes it. */
  get ready(): boolean {
    return Atomics.load(this.#words, READY) === 1
  }

  set ready(ready: boolean) {
    Atomics.store(this.#words, READY, ready ? 1 : 0)
  }

  /** True while new requests are sent away because the server finishes those that it has. Main writes it. */
  get refusing(): boolean {
    return Atomics.load(this.#words, REFUSING) === 1
  }

  set refusing(refusing: boolean) {
    Atomics.store(this.#words, REFUSING, refusing ? 1 : 0)
  }

  get inflight(): { reads: number; writes: number } {
    return { reads: Atomics.load(this.#words, READS), writes: Atomics.load(this.#words, WRITES) }
  }

  /** Takes a place among reads or writes; false when `limit` requests have one already. A limit of 0 is none. */
  enter(mutating: boolean, limit: number): boolean {
    const word = mutating ? WRITES : READS
    if (Atomics.add(this.#words, word, 1) < limit || limit === 0) return true
    Atomics.sub(this.#words, word, 1)
    return false
  }

  leave(mutating: boolean): void {
    Atomics.sub(this.#words, mutating ? WRITES : READS, 1)
  }
}
