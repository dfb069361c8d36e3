/**
 * Thread: any; written by the owner. One shared word that says whether the clock of a storage cluster follows its store, and
 * whether it has done so all the time since somebody looked.
 *
 *   even: not following ──follow(true)──▶ odd: following ──follow(false)──▶ even ──▶ …
 *
 * The owner takes the word back before it sets the clock back. So whoever saw an odd epoch before a question, and sees the same
 * one after the clock has reached the answer, has looked at one clock all the time.
 */
const WORD = 0

export class FollowingEpoch {
  readonly buffer: SharedArrayBuffer
  readonly #words: Int32Array

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(4)) {
    this.buffer = buffer
    this.#words = new Int32Array(buffer)
  }

  current(): number {
    return Atomics.load(this.#words, WORD)
  }

  follow(following: boolean): void {
    if (isFollowing(this.current()) !== following) Atomics.add(this.#words, WORD, 1)
  }
}

export const isFollowing = (epoch: number): boolean => (epoch & 1) === 1
