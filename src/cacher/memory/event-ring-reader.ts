/** Thread: any. Reads the ring of one arena; what it reads counts only if the tail has not passed it afterwards. */
import {
  CONTROL_HEAD,
  CONTROL_RING,
  CONTROL_TAIL,
  ENTRY_PREVIOUS,
  ENTRY_RECORD,
  ENTRY_REVISION_HIGH,
  ENTRY_REVISION_LOW,
  ENTRY_ROOT,
  ENTRY_TYPE,
  ENTRY_WORDS,
  RING_CAPACITY,
  RING_ENTRIES,
  SEQUENCE_MASK,
  sequenceDistance,
  TWO_32,
} from './memory-layout.js'
import { type SegmentTable, wordOffset } from './segment-table.js'

export class EventRingReader {
  readonly #table: SegmentTable
  readonly #control: Int32Array
  readonly #drain: () => void
  #words: Int32Array
  #entries = 0
  #mask = 0

  /** `drain` takes in the segments that were sent to this thread. */
  constructor(table: SegmentTable, control: Int32Array, drain: () => void) {
    this.#drain = drain
    this.#table = table
    this.#control = control
    this.#words = control
  }

  head(): number {
    return Atomics.load(this.#control, CONTROL_HEAD)
  }

  tail(): number {
    return Atomics.load(this.#control, CONTROL_TAIL)
  }

  /** Whether the state after this event is still served. */
  holds(sequence: number): boolean {
    return sequenceDistance(sequence, this.tail()) >= 0
  }

  /**
   * Takes the ring as it is now; the caller holds a pin, which keeps it in place. Afterwards this thread has every
   * segment that the ring, and anything up to a head read before, can point into.
   */
  open(): void {
    const ring = Atomics.load(this.#control, CONTROL_RING)
    this.#drain()
    this.#words = this.#table.of(ring).words
    const at = wordOffset(ring)
    this.#entries = at + RING_ENTRIES
    this.#mask = this.#words[at + RING_CAPACITY]! - 1
  }

  revision(sequence: number): number {
    const at = this.#at(sequence)
    const low = Atomics.load(this.#words, at + ENTRY_REVISION_LOW) >>> 0
    return Atomics.load(this.#words, at + ENTRY_REVISION_HIGH) * TWO_32 + low
  }

  root(sequence: number): number {
    return Atomics.load(this.#words, this.#at(sequence) + ENTRY_ROOT)
  }

  type(sequence: number): number {
    return Atomics.load(this.#words, this.#at(sequence) + ENTRY_TYPE)
  }

  record(sequence: number): number {
    return Atomics.load(this.#words, this.#at(sequence) + ENTRY_RECORD)
  }

  previous(sequence: number): number {
    return Atomics.load(this.#words, this.#at(sequence) + ENTRY_PREVIOUS)
  }

  /** The last event up to `head` whose revision is not after this one; undefined when all are after it. */
  find(revision: number, head: number): number | undefined {
    // The search begins at the newest event: most readers want it or one of the few before it.
    let low = this.tail()
    let high = head
    for (let step = 0; step < 4; step++) {
      if (sequenceDistance(high, low) < 0) return undefined
      if (this.revision(high) <= revision) return high
      high = (high - 1) & SEQUENCE_MASK
    }
    let count = sequenceDistance(high, low) + 1
    let found: number | undefined
    while (count > 0) {
      const half = count >> 1
      const middle = (low + half) & SEQUENCE_MASK
      if (this.revision(middle) <= revision) {
        found = middle
        low = (middle + 1) & SEQUENCE_MASK
        count -= half + 1
      } else count = half
    }
    return found
  }

  #at(sequence: number): number {
    return this.#entries + (sequence & this.#mask) * ENTRY_WORDS
  }
}
