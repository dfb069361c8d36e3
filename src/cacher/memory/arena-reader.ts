/**
 * Thread: any. Reads one resource's arena. There is one reader for each thread and arena, because a thread has one word
 * in the arena to pin with.
 */
import { StorageError } from '../../storage/contract/errors.js'
import { type CursorArena, RingCursor } from './event-cursor.js'
import { EventRingReader } from './event-ring-reader.js'
import { KeyBuffer } from './key-buffer.js'
import { CONTROL_STATE, STATE_CLOSED, STATE_PARTIAL, STATE_READY } from './memory-layout.js'
import { PinSet } from './pin-set.js'
import type { SegmentTable } from './segment-table.js'
import type { ArenaReader, Snapshot } from './shared-memory.js'
import { SnapshotReader } from './snapshot-reader.js'

export interface ArenaReaderOptions {
  /** The segments of the arena; segment 0 is there from the start. */
  readonly table: SegmentTable
  /** The number of this thread, which says which pin is its own. */
  readonly reader: number
  clockRevision(): number
  /** Takes in the segments that were sent to this thread. Called before a pointer into one of them can be met. */
  drain(): void
}

/** How a follower reads an arena of its thread: also when it is partial, and with the pins of the thread's reader. */
interface KnownOptions {
  readonly pins: PinSet
}

/** A state of the arena that this thread has pinned. */
interface PinnedState {
  readonly sequence: number
  readonly root: number
  readonly revision: number
}

export class SharedArenaReader implements ArenaReader {
  readonly #table: SegmentTable
  readonly #control: Int32Array
  readonly #pins: PinSet
  readonly #ring: EventRingReader
  readonly #key = new KeyBuffer()
  readonly #options: ArenaReaderOptions
  readonly #cursorArena: CursorArena
  readonly #takesPartial: boolean
  #known: SharedArenaReader | undefined

  constructor(options: ArenaReaderOptions, known?: KnownOptions) {
    this.#options = options
    this.#takesPartial = known !== undefined
    this.#table = options.table
    this.#control = options.table.of(0).words
    this.#pins = known?.pins ?? new PinSet(this.#control, options.reader)
    this.#ring = new EventRingReader(options.table, this.#control, options.drain)
    this.#cursorArena = {
      table: this.#table,
      ring: this.#ring,
      clockRevision: options.clockRevision,
      closed: () => this.closed(),
      pin: (sequence) => this.#pins.add(sequence),
      unpin: (sequence) => this.#pins.remove(sequence),
    }
  }

  /**
   * The same arena for followers, for whom a partial arena counts as ready: knowing most objects is better than knowing
   * none.
   */
  known(): SharedArenaReader {
    if (this.#takesPartial) return this
    this.#known ??= new SharedArenaReader(this.#options, { pins: this.#pins })
    return this.#known
  }

  ready(): boolean {
    const state = Atomics.load(this.#control, CONTROL_STATE)
    return state === STATE_READY || (this.#takesPartial && state === STATE_PARTIAL)
  }

  closed(): boolean {
    const state = Atomics.load(this.#control, CONTROL_STATE)
    return state === STATE_CLOSED || (!this.#takesPartial && state === STATE_PARTIAL)
  }

  /** How many pins are held now; for tests and for the process's own report. */
  pins(): number {
    return this.#pins.size
  }

  snapshot(revision?: number): Snapshot {
    const { sequence, root, revision: at } = this.#pin(revision)
    return new SnapshotReader({
      table: this.#table,
      key: this.#key,
      root,
      revision: at,
      release: () => this.#pins.remove(sequence),
    })
  }

  cursor(revision: number): RingCursor {
    const { sequence, revision: at } = this.#pin(Math.min(revision, this.#options.clockRevision()))
    this.#pins.remove(sequence)
    return new RingCursor(this.#cursorArena, sequence, at, revision)
  }

  oldestRevision(): number {
    for (;;) {
      const tail = this.#ring.tail()
      this.#pins.add(tail)
      try {
        if (!this.#ring.holds(tail)) continue
        this.#ring.open()
        const revision = this.#ring.revision(tail)
        if (this.#ring.holds(tail)) return revision
      } finally {
        this.#pins.remove(tail)
      }
    }
  }

  #pin(wanted: number | undefined): PinnedState {
    if (!this.ready()) throw new StorageError('not-ready', 'the watch cache of this resource is not ready')
    for (;;) {
      const clock = this.#options.clockRevision()
      if (wanted !== undefined && wanted > clock)
        throw new StorageError('too-large', `resource version ${wanted} is beyond the current ${clock}`, {
          resourceVersion: wanted,
          currentRevision: clock,
        })
      const state = this.#pinAt(wanted ?? clock, wanted !== undefined)
      if (state !== undefined) return state
      // The window may have moved during the search: only a revision before its beginning is gone.
      if (wanted !== undefined) {
        const oldest = this.oldestRevision()
        if (wanted < oldest) throw tooOld(wanted, oldest)
      }
    }
  }

  /**
   * Pins the state at the revision; undefined when it has left the window. When the revision need not be exact and the
   * window begins after it (a relist is published and the clock has not moved yet), the newest state is taken.
   */
  #pinAt(revision: number, exact: boolean): PinnedState | undefined {
    const ring = this.#ring
    const head = ring.head()
    this.#pins.add(head)
    let sequence: number | undefined = head
    try {
      if (!ring.holds(head)) return undefined
      ring.open()
      const found = ring.find(revision, head)
      if (found === undefined && exact) return undefined
      if (found !== undefined && found !== head) {
        this.#pins.add(found)
        this.#pins.remove(head)
        sequence = found
      }
      const root = ring.root(sequence)
      const at = found === undefined ? ring.revision(sequence) : revision
      if (!ring.holds(sequence)) return undefined
      const state = { sequence, root, revision: at }
      sequence = undefined
      return state
    } finally {
      if (sequence !== undefined) this.#pins.remove(sequence)
    }
  }
}

function tooOld(revision: number, oldest: number): StorageError {
  return new StorageError('too-old', `resource version ${revision} is too old: the window begins at ${oldest}`, {
    resourceVersion: revision,
    compactRevision: oldest,
  })
}
