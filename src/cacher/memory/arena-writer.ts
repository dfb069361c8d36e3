/**
 * Thread: owner. Writes one resource's arena. A change makes its record and pages first and enters the ring last, so
 * that a failure in between takes back what it made and leaves everything as it was.
 */
import { assert } from '../../lib/assert.js'
import { type Clock, systemClock } from '../../lib/clock.js'
import type { ArenaCosts, MemoryReport } from '../../protocol/main-owner.js'
import type { RecordDraft } from '../../protocol/record-draft.js'
import { ArenaAllocator, ArenaFullError } from './arena-allocator.js'
import { EventRingWriter } from './event-ring-writer.js'
import { KeyBuffer } from './key-buffer.js'
import {
  CONTROL_STATE,
  MAX_READERS,
  nextSequence,
  PIN_STRIDE,
  PINS,
  SEQUENCE_MASK,
  STATE_CLOSED,
  STATE_FILLING,
  STATE_PARTIAL,
  STATE_READY,
  sequenceDistance,
  TYPE_ADDED,
  TYPE_BASE,
  TYPE_DELETED,
  TYPE_MODIFIED,
} from './memory-layout.js'
import { findRecord, sizeOf, visitPages, visitRecords } from './page-search.js'
import { RecordReader } from './record-reader.js'
import { sameObject } from './record-same.js'
import { RecordWriter } from './record-writer.js'
import { RetireQueue } from './retire-queue.js'
import { SegmentTable } from './segment-table.js'
import type { ArenaEntry, ArenaReplacement, ArenaWriter } from './shared-memory.js'
import { SnapshotWriter } from './snapshot-writer.js'

export interface ArenaOptions {
  /** The most that all segments together may take. Default: no limit. */
  readonly limitBytes?: number
  /**
   * The window holds at least so many events (Kubernetes: 100), while their bytes allow it, and at most `maxEvents`.
   */
  readonly minEvents?: number
  readonly maxEvents?: number
  /** The most bytes that are kept for the window alone: older states that the newest one does not need. */
  readonly windowBytes?: number
  /**
   * A full ring grows while its oldest event is younger than this. The default is Kubernetes': watches resume after a
   * minute and a bit.
   */
  readonly freshMs?: number
  readonly clock?: Clock
  /** Called when the ring has been given another capacity. */
  readonly onResize?: (capacity: number, before: number) => void
  /** The number of the first state; tests choose it to meet the overflow of numbers. */
  readonly firstSequence?: number
}

const DEFAULT_MIN_EVENTS = 64
const DEFAULT_MAX_EVENTS = 65_536
/** Room for some 8,000 changes of 4 KB objects. */
const DEFAULT_WINDOW_BYTES = 48 * 1024 * 1024
const DEFAULT_FRESH_MS = 75_000

/** The part of a new state that is in the arena already. */
interface TakenOver {
  /** In the order of their keys. */
  readonly records: number[]
  /** Those of them that the state before has too. */
  readonly kept: Set<number>
  readonly view: RecordReader
  /** The last key so far. */
  last: Buffer | undefined
}

const powerOfTwo = (n: number): number => 2 ** Math.ceil(Math.log2(Math.max(4, n)))

export class SharedArenaWriter implements ArenaWriter {
  readonly table: SegmentTable
  readonly #allocator: ArenaAllocator
  readonly #records: RecordWriter
  readonly #index: SnapshotWriter
  readonly #ring: EventRingWriter
  readonly #retired: RetireQueue
  readonly #key = new KeyBuffer()
  readonly #control: Int32Array
  readonly #windowBytes: number
  readonly #limitBytes: number
  #root: number
  #revision = 0
  /** Where replace() cuts off the window, from then until it is published. */
  #cutAt: number | undefined
  /** Between beginReplace() and the end of that replacement. */
  #replacing = false
  #closed = false

  constructor(
    options: ArenaOptions,
    onSegment: (index: number, buffer: SharedArrayBuffer | undefined) => void = () => undefined,
    onReleased: (buffer: SharedArrayBuffer) => void = () => undefined,
  ) {
    this.table = new SegmentTable(onReleased)
    const { limitBytes = Number.POSITIVE_INFINITY, windowBytes = DEFAULT_WINDOW_BYTES } = options
    this.#windowBytes = windowBytes
    this.#limitBytes = limitBytes
    this.#allocator = new ArenaAllocator({ table: this.table, limitBytes, onSegment })
    this.#control = this.table.of(0).words
    const allocate = (bytes: number): number => this.#allocate(bytes)
    this.#records = new RecordWriter(this.table, allocate)
    this.#index = new SnapshotWriter(this.table, allocate)
    this.#retired = new RetireQueue((pointer, bytes) => this.#allocator.free(pointer, bytes))
    this.#root = this.#index.empty()
    const minEvents = powerOfTwo(options.minEvents ?? DEFAULT_MIN_EVENTS)
    this.#ring = new EventRingWriter(
      {
        table: this.table,
        control: this.#control,
        clock: options.clock ?? systemClock,
        minEvents,
        maxEvents: Math.max(minEvents, powerOfTwo(options.maxEvents ?? DEFAULT_MAX_EVENTS)),
        freshMs: options.freshMs ?? DEFAULT_FRESH_MS,
        firstSequence: (options.firstSequence ?? 0) & SEQUENCE_MASK,
        allocate,
        onResize: options.onResize ?? (() => undefined),
        mayGrow: () =>
          this.#retired.windowBytes < windowBytes / 2 && this.#allocator.usedBytes < this.#limitBytes * 0.75,
        retire: (pointer) => this.#retire(this.#ring.next, pointer),
      },
      { type: TYPE_BASE, revision: 0, record: 0, previous: 0, root: this.#root },
    )
  }

  put(key: string, draft: RecordDraft, modRevision: number, createRevision: number): void {
    this.#assertNext(modRevision)
    const previous = this.#index.find(this.#root, this.#key.set(key))
    let record = 0
    let root: number
    try {
      this.#ring.makeRoom()
      record = this.#records.write(this.#key.bytes, this.#key.length, draft, modRevision, createRevision)
      root = this.#index.put(record)
    } catch (error) {
      this.#takeBack(record)
      throw error
    }
    this.#commit(previous === 0 ? TYPE_ADDED : TYPE_MODIFIED, modRevision, record, previous, root)
  }

  delete(key: string, revision: number): void {
    this.#assertNext(revision)
    const previous = this.#index.find(this.#root, this.#key.set(key))
    if (previous === 0) return
    let record = 0
    let root: number
    try {
      this.#ring.makeRoom()
      record = this.#records.writeTombstone(previous, revision)
      root = this.#index.remove()
    } catch (error) {
      this.#takeBack(record)
      throw error
    }
    const sequence = this.#commit(TYPE_DELETED, revision, record, previous, root)
    // No state holds the record of a deletion, only its event does.
    this.#retire(sequence, record)
  }

  replace(entries: Iterable<ArenaEntry>, revision: number): void {
    const replacement = this.beginReplace()
    try {
      replacement.add(entries)
      replacement.finish(revision)
    } catch (error) {
      replacement.abandon()
      throw error
    }
  }

  beginReplace(): ArenaReplacement {
    assert(!this.#closed && !this.#replacing, 'one state at a time is put into an open arena')
    this.#replacing = true
    const taken: TakenOver = { records: [], kept: new Set(), view: new RecordReader(this.table), last: undefined }
    return {
      add: (entries) => this.#takeOver(entries, taken),
      finish: (revision) => this.#replaceWith(taken, revision),
      abandon: () => {
        if (this.#closed) return
        this.#replacing = false
        for (const record of taken.records.splice(0)) if (!taken.kept.has(record)) this.#allocator.free(record)
      },
    }
  }

  #replaceWith({ records, kept }: TakenOver, revision: number): void {
    this.#replacing = false
    this.#assertNext(revision)
    this.#index.begin()
    let root: number
    try {
      this.#ring.makeRoom()
      root = this.#index.build(records)
    } catch (error) {
      this.#takeBack(0)
      throw error
    }
    const before = this.#root
    const sequence = this.#ring.append({ type: TYPE_BASE, revision, record: 0, previous: 0, root })
    visitRecords(this.table, before, 0, sizeOf(this.table, before), (record) => {
      if (!kept.has(record)) this.#retire(sequence, record)
      return true
    })
    visitPages(this.table, before, (page) => this.#retire(sequence, page))
    this.#root = root
    this.#cutAt = sequence
  }

  publish(revision: number): void {
    this.#assertNext(revision)
    this.#revision = revision
    this.#ring.publish()
    if (this.#cutAt !== undefined) this.#ring.moveTail(this.#cutAt)
    const cut = this.#cutAt !== undefined
    this.#cutAt = undefined
    this.reclaim()
    if (cut) this.#allocator.trim()
  }

  setReady(ready: boolean): void {
    assert(!this.#closed, 'a closed arena stays closed')
    const partial = Atomics.load(this.#control, CONTROL_STATE) === STATE_PARTIAL
    assert(!ready || !partial, 'an arena that lacked something is not served to clients again')
    Atomics.store(this.#control, CONTROL_STATE, ready ? STATE_READY : STATE_FILLING)
  }

  setPartial(): void {
    assert(!this.#closed, 'a closed arena stays closed')
    Atomics.store(this.#control, CONTROL_STATE, STATE_PARTIAL)
  }

  reclaim(): void {
    if (this.#closed) return
    this.#retired.evict(this.#ring.tail)
    while (this.#retired.windowBytes > this.#windowBytes && this.#ring.tail !== this.#ring.head) {
      this.#ring.moveTail(nextSequence(this.#ring.tail))
      this.#retired.evict(this.#ring.tail)
    }
    if (this.#retired.waiting) this.#retired.reclaim(this.#oldestPin())
  }

  /**
   * Reports the memory, after freeing the blocks that pins have let go of since the last write: a quiet resource has no
   * write that would free them.
   */
  memory(): MemoryReport {
    this.reclaim()
    const { segmentBytes, usedBytes } = this.#allocator
    return {
      segmentBytes,
      usedBytes,
      freeBytes: segmentBytes - usedBytes,
      pinnedBytes: this.#retired.pinnedBytes,
      windowBytes: this.#retired.windowBytes,
      objects: this.#closed ? 0 : sizeOf(this.table, this.#root),
      events: this.#closed ? 0 : this.#ring.length,
      capacity: this.#closed ? 0 : this.#ring.capacity,
    }
  }

  costs(): ArenaCosts {
    const { usedBytes, pinnedBytes, windowBytes } = this.memory()
    const costs = { segments: 0, bodyBytes: 0, headBytes: 0, indexBytes: 0, ringBytes: 0, controlBytes: 0 }
    if (this.#closed) return costs
    costs.segments = [...this.table.entries()].length
    costs.ringBytes = this.#allocator.bytesOf(this.#ring.pointer)
    visitPages(this.table, this.#root, (page) => {
      costs.indexBytes += this.#allocator.bytesOf(page)
    })
    const view = new RecordReader(this.table)
    visitRecords(this.table, this.#root, 0, sizeOf(this.table, this.#root), (record) => {
      const bodyBytes = view.point(record).body().byteLength
      costs.bodyBytes += bodyBytes
      costs.headBytes += this.#allocator.bytesOf(record) - bodyBytes
      return true
    })
    const { bodyBytes, headBytes, indexBytes, ringBytes } = costs
    costs.controlBytes = usedBytes - bodyBytes - headBytes - indexBytes - ringBytes - windowBytes - pinnedBytes
    return costs
  }

  forget(revision: number): void {
    if (this.#closed || this.#replacing) return
    try {
      this.#ring.forget(revision)
    } catch (error) {
      // There is no room for a smaller ring beside the one that is there, which stays.
      if (!(error instanceof ArenaFullError)) throw error
    }
    this.reclaim()
    this.#allocator.trim()
  }

  /**
   * Takes away the pin of a thread that has ended. Blocks that only this pin kept are freed at once, because nobody
   * else would free them when nothing is written any more.
   */
  releaseReader(reader: number): void {
    if (this.#closed) return
    Atomics.store(this.#control, PINS + PIN_STRIDE * reader, 0)
    this.reclaim()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    Atomics.store(this.#control, CONTROL_STATE, STATE_CLOSED)
    this.#allocator.close()
  }

  #commit(type: number, revision: number, record: number, previous: number, root: number): number {
    const sequence = this.#ring.append({ type, revision, record, previous, root })
    if (previous !== 0) this.#retire(sequence, previous)
    for (const page of this.#index.replaced) this.#retire(sequence, page)
    this.#root = root
    this.#revision = revision
    return sequence
  }

  /** Makes the records of a new state; an object that has not changed keeps its record. */
  #takeOver(entries: Iterable<ArenaEntry>, taken: TakenOver): void {
    assert(!this.#closed, 'a closed arena takes no changes')
    const { records, kept, view } = taken
    for (const { key, draft, modRevision, createRevision } of entries) {
      this.#key.set(key)
      const bytes = this.#key.bytes.subarray(0, this.#key.length)
      assert(taken.last === undefined || taken.last.compare(bytes) < 0, 'a whole state has its keys in ascending order')
      taken.last = Buffer.from(bytes)
      const old = findRecord(this.table, this.#root, this.#key)
      if (old !== 0 && sameObject(view.point(old), draft, modRevision, createRevision)) {
        kept.add(old)
        records.push(old)
      } else records.push(this.#records.write(bytes, bytes.length, draft, modRevision, createRevision))
    }
  }

  #takeBack(record: number): void {
    if (record !== 0) this.#allocator.free(record)
    for (const page of this.#index.made) this.#allocator.free(page)
    this.#index.made.length = 0
  }

  #retire(sequence: number, pointer: number): void {
    this.#retired.push(sequence, pointer, this.#allocator.bytesOf(pointer))
  }

  /** At the memory limit the window is shortened before an allocation fails. */
  #allocate(bytes: number): number {
    for (;;) {
      try {
        return this.#allocator.allocate(bytes)
      } catch (error) {
        if (!(error instanceof ArenaFullError) || !this.#shortenWindow()) throw error
      }
    }
  }

  #shortenWindow(): boolean {
    const { usedBytes } = this.#allocator
    const length = sequenceDistance(this.#ring.head, this.#ring.tail)
    if (length > 0) this.#ring.moveTail((this.#ring.tail + Math.ceil(length / 4)) & SEQUENCE_MASK)
    this.reclaim()
    return length > 0 || this.#allocator.usedBytes < usedBytes
  }

  #oldestPin(): number | undefined {
    let oldest: number | undefined
    for (let reader = 0; reader < MAX_READERS; reader++) {
      const pin = Atomics.load(this.#control, PINS + PIN_STRIDE * reader)
      if (pin === 0) continue
      const sequence = pin & SEQUENCE_MASK
      if (oldest === undefined || sequenceDistance(sequence, oldest) < 0) oldest = sequence
    }
    return oldest
  }

  #assertNext(revision: number): void {
    assert(!this.#closed && !this.#replacing, 'a closed arena takes no changes, nor one that gets a new state')
    assert(revision >= this.#revision, `revision ${revision} after ${this.#revision}`)
  }
}
