/**
 * Thread: any. Where everything lies in shared memory: who writes it, who reads it, in which order.
 *
 *   CLOCK (one 64-byte buffer a storage cluster)        written by the owner, read by everybody
 *     word 0  revision, low 32 bits     readers sleep on this word with Atomics.waitAsync
 *     word 1  revision, high 21 bits    BUSY while both change (once in 2^32 revisions)
 *     word 2  feed epoch                +1 for each message (segment added, segment dropped, arena closed) sent to readers
 *
 *   ARENA (one a resource): up to 4096 segments, each a fixed-size SharedArrayBuffer
 *
 *     segment 0 (16 KiB, so that an idle resource costs little)      segments 1.. (64 KiB to 16 MiB, or larger for one
 *     ┌────────────────────────────┐                                 object that needs it)
 *     │ control, 8 words           │                                 ┌────────────────────────────┐
 *     │   state  head  tail  ring  │                                 │ blocks                     │
 *     ├────────────────────────────┤                                 ├────────────────────────────┤
 *     │ pins: a 64-byte line for   │                                 │ sentinel                   │
 *     │ each of 64 reader threads  │                                 └────────────────────────────┘
 *     ├────────────────────────────┤
 *     │ blocks                     │   block:  ┌ header, 16 bytes, the owner's alone ┬ payload, 16-byte aligned ┐
 *     ├────────────────────────────┤           │ size·free  size before  next  prev  │ record, page or ring     │
 *     │ sentinel                   │           └─────────────────────────────────────┴──────────────────────────┘
 *     └────────────────────────────┘
 *
 *   POINTER (32 bits)   ┌ 12 bits: segment ┬ 20 bits: offset of the payload in units of 16 bytes ┐      0 is nowhere
 *
 *   HOW IT HANGS TOGETHER
 *
 *     control.ring ──▶ ring: capacity, then entries; entry of event s at s mod capacity
 *                        ┌────────┬──────────────────────────────────────────────────────────────┐
 *              tail ───▶ │ s = t  │ the oldest state still served; its event is not              │
 *                        │ s      │ revision(2)  record  previous  root  type                    │──▶ record, as event s left it
 *              head ───▶ │ s = h  │ the newest published state                                   │──▶ root page after event s
 *                        └────────┴──────────────────────────────────────────────────────────────┘
 *
 *     page   ┌ level · n · skip · size ┬ digest × n ┬ record × n ┬ inner pages: child × n · size of child × n ┐
 *              level 0: a leaf of up to 128 records in the order of their keys' bytes
 *              level k: up to 64 children, each under the first record below it
 *              skip: so many leading bytes are the same in every key below; digest: the four bytes after them
 *              (big-endian, sign flipped, so that integers compare as bytes do). A search compares digests, which lie
 *              together, and opens a record only where they are equal.
 *
 *     record   a FlatBuffer, schema in record.fbs, always laid out the same way: see record-layout.ts
 *
 *   ORDER
 *
 *     owner, an event    record, new pages, ring entry (all invisible) → [publish] control.head → [advance] the clock
 *     owner, window      control.tail moves → pins are read → what events up to the tail replaced and no pin needs is freed
 *     reader, snapshot   clock → control.head → own pin := s → control.tail must not have passed s → root of s
 *     reader, event      own pin := cursor → control.tail must not have passed it → entry → control.tail again
 *
 *     A pin p keeps the state after event p and everything later; what event e replaced is needed by pins below e only.
 *     Both sides store first and look afterwards, with sequentially consistent operations; so either the owner sees the
 *     pin or the reader sees that the tail has passed it.
 *     Ring entries are written and read with Atomics, because the owner may write over one that a reader is looking at;
 *     everything else that readers see is never written again while they can reach it.
 */

/** Offsets within a segment and sizes of blocks are counted in units of 16 bytes. */
export const UNIT_SHIFT = 4
export const SEGMENT_SHIFT = 20
export const OFFSET_MASK = (1 << SEGMENT_SHIFT) - 1
export const MAX_SEGMENTS = 1 << (32 - SEGMENT_SHIFT)

export const FIRST_SEGMENT_BYTES = 16 * 1024
export const MIN_SEGMENT_BYTES = 64 * 1024
export const MAX_SEGMENT_BYTES = 16 * 1024 * 1024

/** The clock: its size, and the places of its words. */
export const CLOCK_BYTES = 64
export const CLOCK_LOW = 0
export const CLOCK_HIGH = 1
export const CLOCK_EPOCH = 2
export const CLOCK_BUSY = -1

/** The places of the words of the control block, at the start of segment 0. */
export const CONTROL_STATE = 0
export const CONTROL_HEAD = 1
export const CONTROL_TAIL = 2
export const CONTROL_RING = 3
export const PINS = 16
export const PIN_STRIDE = 16
/** Threads that may read at the same time, the owner itself included. */
export const MAX_READERS = 64
export const CONTROL_BYTES = (PINS + PIN_STRIDE * MAX_READERS) * 4

/**
 * The states of an arena. It is filling until setReady(true). A partial arena lacks objects that cannot be read and is
 * kept up otherwise; it never becomes ready again, so for code that serves clients partial is as final as closed.
 * Closed is final for everybody.
 */
export const STATE_FILLING = 0
export const STATE_READY = 1
export const STATE_CLOSED = 2
export const STATE_PARTIAL = 3

/** Numbers of events count modulo 2^31; a pin is such a number with the top bit set, or 0. */
export const SEQUENCE_MASK = 0x7fffffff
export const PINNED = -0x80000000

/** How far event a is after event b (negative: before it), for numbers less than 2^30 apart. */
export function sequenceDistance(a: number, b: number): number {
  return ((a - b) << 1) >> 1
}

export function nextSequence(sequence: number): number {
  return (sequence + 1) & SEQUENCE_MASK
}

/** The places of the words of the ring: its capacity, padding, then entries. */
export const RING_CAPACITY = 0
export const RING_ENTRIES = 4
export const ENTRY_WORDS = 8
export const ENTRY_REVISION_LOW = 0
export const ENTRY_REVISION_HIGH = 1
export const ENTRY_RECORD = 2
export const ENTRY_PREVIOUS = 3
export const ENTRY_ROOT = 4
export const ENTRY_TYPE = 5

/** Values of ENTRY_TYPE. A base is no event: it is the state that replace() put there. */
export const TYPE_BASE = 0
export const TYPE_ADDED = 1
export const TYPE_MODIFIED = 2
export const TYPE_DELETED = 3

/** The places of the words of a page. */
export const PAGE_LEVEL = 0
export const PAGE_LENGTH = 1
export const PAGE_SKIP = 2
export const PAGE_SIZE = 3
export const PAGE_ARRAYS = 4
export const LEAF_CAPACITY = 128
export const INNER_CAPACITY = 64

export const TWO_32 = 0x1_0000_0000
