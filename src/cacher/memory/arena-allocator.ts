/**
 * Thread: owner. Allocates blocks of shared memory of any size in constant time, by two-level segregated fit. Free
 * blocks hang in lists by size (16 classes a power of two). A freed block joins its free neighbours, so memory that was
 * freed as small pages serves large objects later, and a segment with nothing in it can be given back.
 *
 * In front of the lists stands a stack of freed blocks for each smaller size. An update frees what the next one of its
 * size takes, and joining and splitting blocks would cost a dozen cache misses each time; a stacked block's memory is
 * not touched. The stacks hold a small part of the arena. They are emptied into the lists when they hold more, when an
 * allocation needs their blocks, and when the arena shrinks.
 */
import { assert } from '../../lib/assert.js'
import {
  CONTROL_BYTES,
  FIRST_SEGMENT_BYTES,
  MAX_SEGMENT_BYTES,
  MAX_SEGMENTS,
  MIN_SEGMENT_BYTES,
  OFFSET_MASK,
  SEGMENT_SHIFT,
  UNIT_SHIFT,
} from './memory-layout.js'
import { type SegmentTable, wordOffset } from './segment-table.js'

/** Thrown when the arena may not grow to hold what was asked for. Nothing that readers see has changed then. */
export class ArenaFullError extends Error {
  override readonly name = 'ArenaFullError'
  readonly code = 'arena-full'
  constructor(
    readonly neededBytes: number,
    readonly segmentBytes: number,
    readonly limitBytes: number,
  ) {
    super(`${neededBytes} bytes do not fit: the arena has ${segmentBytes} of ${limitBytes} bytes`)
  }
}

export interface ArenaAllocatorOptions {
  readonly table: SegmentTable
  readonly limitBytes: number
  /** Called when a segment comes, before anything in it is used, and without a buffer when it goes. */
  onSegment(index: number, buffer: SharedArrayBuffer | undefined): void
}

const HEADER_UNITS = 1
/** A rest smaller than this is not split off: it stays with the block before it. */
const MIN_BLOCK_UNITS = 4
const CLASSES = 16
const CLASS_SHIFT = 4
const ROWS = 28
const FREE = 1

const SIZE = 0
const BEFORE = 1
const NEXT = 2
const PREV = 3

/**
 * Freed blocks below 32 KiB are stacked, until the stacks hold more than a 64th of what is used and more than 64 KiB.
 */
const STACKED_UNITS = 2048
const MIN_STACKED_BYTES = 64 * 1024

/**
 * The units of a block, header included. From half a kilobyte on sizes go in steps of 128 bytes, so that a freed block
 * fits the next object of about its size.
 */
function unitsOf(bytes: number): number {
  const units = ((bytes + 15) >>> UNIT_SHIFT) + HEADER_UNITS
  return units < 32 ? units : (units + 7) & ~7
}

/** The size rounded up to the smallest one of a class: every block of that class is large enough. */
function classCeiling(units: number): number {
  if (units < CLASSES) return units
  const step = 1 << (31 - Math.clz32(units) - CLASS_SHIFT)
  return (units + step - 1) & -step
}

export class ArenaAllocator {
  readonly #table: SegmentTable
  readonly #limitBytes: number
  readonly #onSegment: ArenaAllocatorOptions['onSegment']
  readonly #lists = new Int32Array(ROWS * CLASSES)
  readonly #classBits = new Int32Array(ROWS)
  #rowBits = 0
  #segmentBytes = 0
  #usedBytes = 0
  /**
   * The number of an empty segment that is kept, so that a load that goes up and down does not map and unmap memory; 0
   * is none.
   */
  #spareSegment = 0
  readonly #stacks: number[][] = []
  #stackedBytes = 0
  /** The most bytes that were used since the stacks were last emptied. */
  #peakBytes = 0

  constructor({ table, limitBytes, onSegment }: ArenaAllocatorOptions) {
    this.#table = table
    this.#limitBytes = limitBytes
    this.#onSegment = onSegment
    this.#addSegment(0, FIRST_SEGMENT_BYTES)
  }

  get segmentBytes(): number {
    return this.#segmentBytes
  }

  /** Bytes that are not free: headers, control block and sentinels included, stacked blocks not. */
  get usedBytes(): number {
    return this.#usedBytes - this.#stackedBytes
  }

  /** Gives the pointer of a new block of at least so many bytes. Throws ArenaFullError. */
  allocate(bytes: number): number {
    const units = unitsOf(bytes)
    const stacked = this.#stacks[units]?.pop()
    if (stacked !== undefined) {
      this.#stackedBytes -= units << UNIT_SHIFT
      return stacked
    }
    const ceiling = classCeiling(units)
    let block = this.#take(ceiling)
    if (block === 0 && this.#stackedBytes > 0) {
      this.trim()
      block = this.#take(ceiling)
    }
    if (block === 0) {
      this.#grow(ceiling)
      block = this.#take(ceiling)
      assert(block !== 0, 'a new segment holds what it was made for')
    }
    return this.#use(block, units)
  }

  /**
   * Frees a block. `bytes` is the size that the block takes; a caller who knows it saves a look at the block's header.
   */
  free(pointer: number, bytes = this.bytesOf(pointer)): void {
    const units = bytes >>> UNIT_SHIFT
    if (units >= STACKED_UNITS) this.#free(pointer)
    else {
      this.#stackedBytes += bytes
      const stack = this.#stacks[units]
      if (stack === undefined) this.#stacks[units] = [pointer]
      else stack.push(pointer)
    }
    const used = this.usedBytes
    if (used > this.#peakBytes) this.#peakBytes = used
    if (this.#stackedBytes > Math.max(MIN_STACKED_BYTES, used >>> 6) || used < this.#peakBytes / 2) this.trim()
  }

  /** Empties the stacks, so that their blocks join their free neighbours. */
  trim(): void {
    for (const stack of this.#stacks)
      if (stack !== undefined) for (const pointer of stack.splice(0)) this.#free(pointer)
    this.#stackedBytes = 0
    this.#peakBytes = this.#usedBytes
  }

  #free(pointer: number): void {
    let block = pointer - HEADER_UNITS
    const words = this.#table.of(block).words
    let at = wordOffset(block)
    assert((words[at + SIZE]! & FREE) === 0, 'a block freed twice')
    let units = words[at + SIZE]! >>> 1
    this.#usedBytes -= units << UNIT_SHIFT
    const after = block + units
    // The block after this one is found by its place in the words and not by a pointer, because a dedicated segment may
    // end beyond what a pointer can say. Behind the one block of such a segment there is only the sentinel.
    const afterAt = at + (units << 2)
    const afterSize = words[afterAt + SIZE]!
    if ((afterSize & FREE) !== 0) {
      this.#unlink(after, words, afterAt)
      units += afterSize >>> 1
    }
    const before = words[at + BEFORE]!
    if (before > 0 && (words[at - (before << 2) + SIZE]! & FREE) !== 0) {
      block -= before
      at -= before << 2
      this.#unlink(block, words, at)
      units += before
    }
    this.#link(block, words, at, units)
    words[at + (units << 2) + BEFORE] = units
    this.#releaseIfEmpty(block, words, at, units)
  }

  bytesOf(pointer: number): number {
    const block = pointer - HEADER_UNITS
    return (this.#table.of(block).words[wordOffset(block) + SIZE]! >>> 1) << UNIT_SHIFT
  }

  /** Forgets all segments. Their blocks are not freed one by one: readers that still hold a segment keep it alive. */
  close(): void {
    this.#table.clear()
    this.#lists.fill(0)
    this.#classBits.fill(0)
    this.#stacks.length = 0
    this.#stackedBytes = 0
    this.#rowBits = 0
    this.#segmentBytes = 0
    this.#usedBytes = 0
  }

  #grow(units: number): void {
    const needed = (units << UNIT_SHIFT) + 2 * (1 << UNIT_SHIFT)
    const wanted = 2 ** Math.floor(Math.log2(this.#segmentBytes / 4))
    const room = this.#limitBytes - this.#segmentBytes
    const least = Math.ceil(needed / MIN_SEGMENT_BYTES) * MIN_SEGMENT_BYTES
    const bytes = Math.max(least, Math.min(MAX_SEGMENT_BYTES, wanted, Math.max(0, room)) & -MIN_SEGMENT_BYTES)
    let index = 1
    while (this.#table.has(index)) index++
    if (bytes > room || index >= MAX_SEGMENTS) throw new ArenaFullError(needed, this.#segmentBytes, this.#limitBytes)
    this.#addSegment(index, bytes)
  }

  #addSegment(index: number, bytes: number): void {
    const buffer = new SharedArrayBuffer(bytes)
    this.#table.set(index, buffer)
    this.#onSegment(index, buffer)
    // Unit 0 of every segment stays unused, so that no pointer is 0.
    const start = index === 0 ? CONTROL_BYTES >> UNIT_SHIFT : 1
    const sentinel = (bytes >> UNIT_SHIFT) - 1
    const block = ((index << SEGMENT_SHIFT) + start) | 0
    const words = this.#table.of(block).words
    const at = start << 2
    words[at + BEFORE] = 0
    this.#link(block, words, at, sentinel - start)
    words[(sentinel << 2) + SIZE] = 1 << 1
    words[(sentinel << 2) + BEFORE] = sentinel - start
    this.#segmentBytes += bytes
    this.#usedBytes += (start + 1) << UNIT_SHIFT
  }

  #releaseIfEmpty(block: number, words: Int32Array, at: number, units: number): void {
    const index = block >>> SEGMENT_SHIFT
    const bytes = words.length << 2
    if (index === 0 || (units + 2) << UNIT_SHIFT !== bytes) return
    const spare = this.#spareSegment
    if (spare === 0 && bytes <= MAX_SEGMENT_BYTES / 4) {
      this.#spareSegment = index
      return
    }
    if (spare === index) return
    this.#unlink(block, words, at)
    this.#segmentBytes -= bytes
    this.#usedBytes -= 2 << UNIT_SHIFT
    this.#table.set(index, undefined)
    this.#onSegment(index, undefined)
  }

  #take(units: number): number {
    const row = rowOf(units)
    let bits = this.#classBits[row]! & (-1 << classOf(units))
    let found = row
    if (bits === 0) {
      const rows = row + 1 < 32 ? this.#rowBits & (-1 << (row + 1)) : 0
      if (rows === 0) return 0
      found = 31 - Math.clz32(rows & -rows)
      bits = this.#classBits[found]!
    }
    return this.#lists[found * CLASSES + (31 - Math.clz32(bits & -bits))]!
  }

  #use(block: number, units: number): number {
    const words = this.#table.of(block).words
    const at = wordOffset(block)
    const size = words[at + SIZE]! >>> 1
    this.#unlink(block, words, at)
    const rest = size - units
    if (this.#spareSegment !== 0 && this.#spareSegment === block >>> SEGMENT_SHIFT) this.#spareSegment = 0
    let taken = size
    if (rest >= MIN_BLOCK_UNITS && (block & OFFSET_MASK) + units < OFFSET_MASK) {
      taken = units
      const restAt = at + (units << 2)
      this.#link(block + units, words, restAt, rest)
      words[restAt + BEFORE] = units
      words[restAt + (rest << 2) + BEFORE] = rest
    }
    words[at + SIZE] = taken << 1
    this.#usedBytes += taken << UNIT_SHIFT
    return (block + HEADER_UNITS) | 0
  }

  #link(block: number, words: Int32Array, at: number, units: number): void {
    const row = rowOf(units)
    const kind = classOf(units)
    const list = row * CLASSES + kind
    const first = this.#lists[list]!
    words[at + SIZE] = (units << 1) | FREE
    words[at + NEXT] = first
    words[at + PREV] = 0
    if (first !== 0) this.#table.of(first).words[wordOffset(first) + PREV] = block
    this.#lists[list] = block
    this.#classBits[row]! |= 1 << kind
    this.#rowBits |= 1 << row
  }

  #unlink(block: number, words: Int32Array, at: number): void {
    const next = words[at + NEXT]!
    const prev = words[at + PREV]!
    if (next !== 0) this.#table.of(next).words[wordOffset(next) + PREV] = prev
    if (prev !== 0) {
      this.#table.of(prev).words[wordOffset(prev) + NEXT] = next
      return
    }
    const units = words[at + SIZE]! >>> 1
    const row = rowOf(units)
    const list = row * CLASSES + classOf(units)
    assert(this.#lists[list] === (block | 0), 'the first of its list')
    this.#lists[list] = next
    if (next !== 0) return
    this.#classBits[row]! &= ~(1 << classOf(units))
    if (this.#classBits[row] === 0) this.#rowBits &= ~(1 << row)
  }
}

/** Row 0 has a class for each size below 16 units; row r the sizes from 2^(r+3). */
function rowOf(units: number): number {
  return units < CLASSES ? 0 : 31 - Math.clz32(units) - CLASS_SHIFT + 1
}

function classOf(units: number): number {
  return units < CLASSES ? units : (units >>> (31 - Math.clz32(units) - CLASS_SHIFT)) & (CLASSES - 1)
}
