/** Thread: any. The segments of one arena as a thread sees them. */
import { assert } from '../../lib/assert.js'
import { OFFSET_MASK, SEGMENT_SHIFT } from './memory-layout.js'

/** Buffer's own fast slices; Node has them, its type package does not name them. */
export interface SliceBuffer extends Buffer {
  utf8Slice(start: number, end: number): string
}

/** The views of a segment are made once: making one costs more than most reads. */
export interface Segment {
  readonly buffer: SharedArrayBuffer
  readonly words: Int32Array
  readonly bytes: SliceBuffer
}

function openSegment(buffer: SharedArrayBuffer): Segment {
  return { buffer, words: new Int32Array(buffer), bytes: Buffer.from(buffer) as Buffer as SliceBuffer }
}

export class SegmentTable {
  readonly #segments: (Segment | undefined)[] = []
  readonly #onReleased: (buffer: SharedArrayBuffer) => void

  /** `onReleased` is given each segment that the table lets go of. */
  constructor(onReleased: (buffer: SharedArrayBuffer) => void) {
    this.#onReleased = onReleased
  }

  set(index: number, buffer: SharedArrayBuffer | undefined): void {
    while (this.#segments.length < index) this.#segments.push(undefined)
    const before = this.#segments[index]
    this.#segments[index] = buffer === undefined ? undefined : openSegment(buffer)
    if (before !== undefined) this.#onReleased(before.buffer)
  }

  clear(): void {
    for (const segment of this.#segments.splice(0)) if (segment !== undefined) this.#onReleased(segment.buffer)
  }

  /** The segments that there are, each with its number. */
  *entries(): IterableIterator<[number, Segment]> {
    for (const [index, segment] of this.#segments.entries()) if (segment !== undefined) yield [index, segment]
  }

  has(index: number): boolean {
    return this.#segments[index] !== undefined
  }

  /** The segment that a pointer points into; wordOffset() and byteOffset() give the place in it. */
  of(pointer: number): Segment {
    const segment = this.#segments[pointer >>> SEGMENT_SHIFT]
    assert(segment !== undefined, 'a pointer into a segment that this thread has not been given')
    return segment
  }
}

export function wordOffset(pointer: number): number {
  return (pointer & OFFSET_MASK) << 2
}

export function byteOffset(pointer: number): number {
  return (pointer & OFFSET_MASK) << 4
}
