/** Thread: any. A place in the ring of events. It holds no pin while it waits. */
import type { EventRingReader } from './event-ring-reader.js'
import { nextSequence, TYPE_ADDED, TYPE_BASE, TYPE_DELETED } from './memory-layout.js'
import { RecordReader } from './record-reader.js'
import type { SegmentTable } from './segment-table.js'
import type { CacheEvent, EventCursor } from './shared-memory.js'

/** What a cursor needs of its arena. */
export interface CursorArena {
  readonly table: SegmentTable
  readonly ring: EventRingReader
  clockRevision(): number
  closed(): boolean
  pin(sequence: number): void
  unpin(sequence: number): void
}

export class RingCursor implements EventCursor {
  readonly #arena: CursorArena
  /**
   * The revision that the cursor was asked to begin after. When it is ahead of the clock, the events up to it are
   * skipped.
   */
  readonly #after: number
  #revision: number
  #begun: number
  /** The number of the last event visited, or of the state that the cursor starts from. */
  #sequence: number

  constructor(arena: CursorArena, sequence: number, revision: number, after = revision) {
    this.#arena = arena
    this.#sequence = sequence
    this.#revision = revision
    this.#begun = revision
    this.#after = after
  }

  get revision(): number {
    return this.#revision
  }

  get begun(): number {
    return this.#begun
  }

  fork(): RingCursor {
    const copy = new RingCursor(this.#arena, this.#sequence, this.#revision, this.#after)
    copy.#begun = this.#begun
    return copy
  }

  advance(visit: (event: CacheEvent) => boolean | undefined): 'current' | 'more' | 'expired' {
    const { ring } = this.#arena
    const clock = this.#arena.clockRevision()
    if (this.#arena.closed()) return 'expired'
    const head = ring.head()
    if (head === this.#sequence) {
      this.#reach(clock)
      return 'current'
    }
    const pinned = this.#sequence
    this.#arena.pin(pinned)
    try {
      if (!ring.holds(pinned)) return 'expired'
      ring.open()
      return this.#visitUpTo(head, clock, visit)
    } finally {
      this.#arena.unpin(pinned)
    }
  }

  #visitUpTo(
    head: number,
    clock: number,
    visit: (event: CacheEvent) => boolean | undefined,
  ): 'current' | 'more' | 'expired' {
    const { ring, table } = this.#arena
    const view = new RecordReader(table)
    const previousView = new RecordReader(table)
    while (this.#sequence !== head) {
      const sequence = nextSequence(this.#sequence)
      const revision = ring.revision(sequence)
      const type = ring.type(sequence)
      const record = ring.record(sequence)
      const previous = ring.previous(sequence)
      // The entry was read whole only if the tail has not passed the cursor: the owner may overwrite an entry that is
      // being read.
      if (!ring.holds(this.#sequence) || type === TYPE_BASE) return 'expired'
      if (revision > clock) break
      this.#sequence = sequence
      if (revision <= this.#after) continue
      const goOn = visit({
        type: type === TYPE_ADDED ? 'ADDED' : type === TYPE_DELETED ? 'DELETED' : 'MODIFIED',
        revision,
        record: view.point(record),
        previous: previous === 0 ? undefined : previousView.point(previous),
      })
      if (goOn === false) return this.#stop(sequence, revision, head, clock)
    }
    this.#reach(clock)
    return 'current'
  }

  #reach(revision: number): void {
    this.#revision = Math.max(this.#revision, revision)
    this.#begun = this.#revision
  }

  /** Notes where the visitor stopped early. A revision counts as visited once its last event was. */
  #stop(sequence: number, revision: number, head: number, clock: number): 'current' | 'more' {
    const { ring } = this.#arena
    if (sequence === head) {
      this.#reach(Math.max(revision, clock))
      return 'current'
    }
    const next = ring.revision(nextSequence(sequence))
    this.#revision = next === revision ? revision - 1 : Math.max(revision, Math.min(next - 1, clock))
    this.#begun = Math.max(revision, this.#revision)
    return next > clock ? 'current' : 'more'
  }
}
