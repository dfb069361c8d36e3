/**
 * Thread: owner. The blocks that events took out of the newest state, in the order of the events. A block is first in
 * the window, because a state that is still served needs it; once the tail has passed its event, it waits for pins to
 * be released.
 */
import { sequenceDistance } from './memory-layout.js'

const WORDS = 3

export class RetireQueue {
  readonly #free: (pointer: number, bytes: number) => void
  /** Sequence, pointer and bytes of each block, in a circular buffer whose capacity is a power of two. */
  #blocks = new Int32Array(64 * WORDS)
  #capacity = 64
  /**
   * The running numbers of the first block not freed, of the first that is still in the window, and of the next block
   * to come.
   */
  #first = 0
  #window = 0
  #end = 0
  #windowBytes = 0
  #pinnedBytes = 0

  constructor(free: (pointer: number, bytes: number) => void) {
    this.#free = free
  }

  get windowBytes(): number {
    return this.#windowBytes
  }

  get pinnedBytes(): number {
    return this.#pinnedBytes
  }

  push(sequence: number, pointer: number, bytes: number): void {
    if (this.#end - this.#first === this.#capacity) this.#resize(this.#capacity * 2)
    const at = this.#place(this.#end++)
    this.#blocks[at] = sequence
    this.#blocks[at + 1] = pointer
    this.#blocks[at + 2] = bytes
    this.#windowBytes += bytes
  }

  /** The window begins at `tail` now: blocks of earlier events wait for pins only. */
  evict(tail: number): void {
    while (this.#window < this.#end) {
      const at = this.#place(this.#window)
      if (sequenceDistance(this.#blocks[at]!, tail) > 0) return
      this.#windowBytes -= this.#blocks[at + 2]!
      this.#pinnedBytes += this.#blocks[at + 2]!
      this.#window++
    }
  }

  /** Whether anything waits for pins only. */
  get waiting(): boolean {
    return this.#first < this.#window
  }

  /** Frees the blocks that left the window and belong to events up to `oldestPin`; undefined when nobody pins. */
  reclaim(oldestPin: number | undefined): void {
    while (this.#first < this.#window) {
      const at = this.#place(this.#first)
      if (oldestPin !== undefined && sequenceDistance(this.#blocks[at]!, oldestPin) > 0) return
      this.#pinnedBytes -= this.#blocks[at + 2]!
      this.#first++
      this.#free(this.#blocks[at + 1]!, this.#blocks[at + 2]!)
    }
    if (this.#capacity > 1024 && this.#end - this.#first < this.#capacity >> 3) this.#resize(this.#capacity >> 1)
  }

  #place(number: number): number {
    return (number & (this.#capacity - 1)) * WORDS
  }

  #resize(capacity: number): void {
    const blocks = new Int32Array(capacity * WORDS)
    for (let i = this.#first; i < this.#end; i++) {
      const from = this.#place(i)
      const to = (i - this.#first) * WORDS
      for (let w = 0; w < WORDS; w++) blocks[to + w] = this.#blocks[from + w]!
    }
    this.#blocks = blocks
    this.#capacity = capacity
    this.#window -= this.#first
    this.#end -= this.#first
    this.#first = 0
  }
}
