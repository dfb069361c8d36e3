/**
 * Thread: owner. The ring of events: appends entries that readers do not see yet, publishes them, and moves the tail.
 * It grows while it is full of young events and shrinks when a quarter of it would do.
 */
import { assert } from '../../lib/assert.js'
import type { Clock } from '../../lib/clock.js'
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
  nextSequence,
  RING_CAPACITY,
  RING_ENTRIES,
  SEQUENCE_MASK,
  sequenceDistance,
  TWO_32,
} from './memory-layout.js'
import { type SegmentTable, wordOffset } from './segment-table.js'

export interface EventRingOptions {
  readonly table: SegmentTable
  /** The words of segment 0, which begins with the control block. */
  readonly control: Int32Array
  readonly clock: Clock
  /** The smallest and the largest capacity of the ring, both powers of two. */
  readonly minEvents: number
  readonly maxEvents: number
  /** A full ring grows while its oldest event is younger than this. */
  readonly freshMs: number
  readonly firstSequence: number
  allocate(bytes: number): number
  onResize(capacity: number, before: number): void
  /** Whether memory allows a ring of twice the capacity. */
  mayGrow(): boolean
  /** Gives up the block of the old ring after the ring was resized. */
  retire(pointer: number): void
}

/** The entry of the oldest state, and one for the next event. */
const KEPT_FREE = 2

export interface RingEntry {
  readonly type: number
  readonly revision: number
  readonly record: number
  readonly previous: number
  readonly root: number
}

export class EventRingWriter {
  readonly #options: EventRingOptions
  #ring = 0
  #capacity = 0
  /** The numbers of the oldest entry, of the newest one that readers see, and of the newest one. */
  #tail: number
  #head: number
  #last: number
  #times = new Float64Array(0)

  /** `base` is the state before any event. */
  constructor(options: EventRingOptions, base: RingEntry) {
    this.#options = options
    this.#tail = this.#head = this.#last = options.firstSequence
    this.#resize(options.minEvents)
    this.#write(this.#last, base)
    Atomics.store(options.control, CONTROL_HEAD, this.#head)
    Atomics.store(options.control, CONTROL_TAIL, this.#tail)
  }

  get tail(): number {
    return this.#tail
  }

  get head(): number {
    return this.#head
  }

  /** The number that the next event gets. */
  get next(): number {
    return nextSequence(this.#last)
  }

  /** Events in the window, the unpublished included. */
  get length(): number {
    return sequenceDistance(this.#last, this.#tail)
  }

  /** The block of the ring. */
  get pointer(): number {
    return this.#ring
  }

  get capacity(): number {
    return this.#capacity
  }

  /**
   * Appends an entry, which readers do not see before publish(). Throws, before anything has changed, when the ring
   * must grow and cannot.
   */
  append(entry: RingEntry): number {
    this.makeRoom()
    this.#last = nextSequence(this.#last)
    this.#write(this.#last, entry)
    return this.#last
  }

  /** Makes room, so that the next append() cannot fail; a full ring grows, shrinks or moves its tail. */
  makeRoom(): void {
    if (this.length + 1 < this.#capacity) return
    const { maxEvents, minEvents, freshMs, clock, mayGrow } = this.#options
    const now = clock.monotonicMs()
    const young = now - this.#times[this.#tail & (this.#capacity - 1)]! < freshMs
    if (this.#tail === this.#head || (young && this.#capacity < maxEvents && mayGrow())) {
      this.#resized(this.#capacity * 2)
      return
    }
    const quarter = this.#last - (this.#capacity >> 2)
    const quiet = this.#capacity > minEvents && now - this.#times[quarter & (this.#capacity - 1)]! >= freshMs
    const keep = this.#capacity >> 1
    if (quiet && sequenceDistance(this.#last, this.#head) < keep - 2) {
      this.#moveTail((this.#last - keep + 2) & SEQUENCE_MASK)
      this.#resized(keep)
      return
    }
    this.#moveTail(nextSequence(this.#tail))
  }

  publish(): void {
    this.#head = this.#last
    Atomics.store(this.#options.control, CONTROL_HEAD, this.#head)
  }

  /** Ends the serving of states before `sequence`. The tail never goes back, nor beyond the head. */
  moveTail(sequence: number): void {
    if (sequenceDistance(sequence, this.#tail) <= 0) return
    assert(sequenceDistance(this.#head, sequence) >= 0, 'the newest published state stays in the window')
    this.#moveTail(sequence)
  }

  /**
   * Ends the serving of states before the newest one that is not after `revision`, but for as many events as the smallest ring holds; and
   * shrinks a ring that is larger than what is left asks for. Everything must be published.
   */
  forget(revision: number): void {
    const { minEvents, table } = this.#options
    assert(this.#last === this.#head, 'nothing is forgotten between an event and its publication')
    const words = table.of(this.#ring).words
    let tail = this.#tail
    while (sequenceDistance(this.#head, tail) > minEvents - KEPT_FREE) {
      const at = this.#entry(nextSequence(tail))
      if (words[at + ENTRY_REVISION_HIGH]! * TWO_32 + (words[at + ENTRY_REVISION_LOW]! >>> 0) > revision) break
      tail = nextSequence(tail)
    }
    if (tail === this.#tail) return
    this.#moveTail(tail)
    let capacity = this.#capacity
    while (capacity > minEvents && this.length + KEPT_FREE <= capacity >> 1) capacity >>= 1
    if (capacity < this.#capacity) this.#resized(capacity)
  }

  #moveTail(sequence: number): void {
    this.#tail = sequence
    Atomics.store(this.#options.control, CONTROL_TAIL, sequence)
  }

  #write(sequence: number, entry: RingEntry): void {
    const words = this.#options.table.of(this.#ring).words
    const at = this.#entry(sequence)
    this.#times[sequence & (this.#capacity - 1)] = this.#options.clock.monotonicMs()
    Atomics.store(words, at + ENTRY_REVISION_LOW, entry.revision | 0)
    Atomics.store(words, at + ENTRY_REVISION_HIGH, Math.floor(entry.revision / TWO_32))
    Atomics.store(words, at + ENTRY_RECORD, entry.record)
    Atomics.store(words, at + ENTRY_PREVIOUS, entry.previous)
    Atomics.store(words, at + ENTRY_ROOT, entry.root)
    Atomics.store(words, at + ENTRY_TYPE, entry.type)
  }

  #entry(sequence: number): number {
    return wordOffset(this.#ring) + RING_ENTRIES + (sequence & (this.#capacity - 1)) * ENTRY_WORDS
  }

  #resized(capacity: number): void {
    const before = this.#capacity
    this.#resize(capacity)
    this.#options.onResize(capacity, before)
  }

  #resize(capacity: number): void {
    const { table, control, allocate, retire } = this.#options
    const ring = allocate((RING_ENTRIES + capacity * ENTRY_WORDS) << 2)
    const words = table.of(ring).words
    const at = wordOffset(ring)
    const times = new Float64Array(capacity)
    words[at + RING_CAPACITY] = capacity
    const before = this.#ring
    if (before !== 0) {
      const old = table.of(before).words
      for (let s = this.#tail; sequenceDistance(s, this.#last) <= 0; s = nextSequence(s)) {
        const from = this.#entry(s)
        const to = at + RING_ENTRIES + (s & (capacity - 1)) * ENTRY_WORDS
        for (let w = 0; w < ENTRY_WORDS; w++) words[to + w] = old[from + w]!
        times[s & (capacity - 1)] = this.#times[s & (this.#capacity - 1)]!
      }
    }
    this.#ring = ring
    this.#capacity = capacity
    this.#times = times
    Atomics.store(control, CONTROL_RING, ring)
    if (before !== 0) retire(before)
  }
}
