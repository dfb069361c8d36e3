/**
 * Thread: any. What the two sides of the shared memory offer: the owner writes, everybody else reads.
 *
 * One *clock* (ClockView) a storage cluster: the revision up to which the memory of all its resources is complete.
 * One *arena* a resource: segments of shared memory with records, snapshot pages and a ring of events. Each ring
 * entry holds an event, the record it wrote, the record it replaced and the root of the snapshot after it; so the ring
 * is the window: a list at an exact revision, a continue token and a watch from a revision are served as long as
 * the ring has not passed it. What an event replaced is free once its entry has left the ring and no pin is older.
 *
 * Order of publication by the owner, for each revision: records and pages, ring entries of every resource touched,
 * then the clock. A reader takes the clock first and then the newest root that is not newer, so that what it serves is
 * exactly the state at that revision.
 */
import type { AttributeSet } from '../../api/selector.js'
import type { ArenaCosts, MemoryReport } from '../../protocol/main-owner.js'
import type { RecordDraft } from '../../protocol/record-draft.js'

/**
 * A record in shared memory. Valid while the pin under which it was read is held; a scan reuses one view, so keep
 * nothing but copies.
 */
export interface RecordView {
  readonly key: string
  readonly uid: string
  readonly modRevision: number
  readonly createRevision: number
  readonly labels: AttributeSet
  readonly fields: AttributeSet
  /** Where in the body the digits of modRevision begin. */
  readonly revisionOffset: number
  /** The JSON that a client gets, as a view over shared memory. */
  body(): Uint8Array
}

/** The objects of one resource at one revision, ordered by the bytes of their keys. Holds a pin until released. */
export interface Snapshot {
  /**
   * The revision that was asked for, or the clock's: what a list reports. At or after the last change in the snapshot.
   */
  readonly revision: number
  readonly size: number
  get(key: string): RecordView | undefined
  /** Visits [startKey, endKey) in order; stops when the visitor returns false. */
  scan(startKey: string, endKey: string, visit: (record: RecordView) => boolean | undefined): void
  /** How many keys lie in [startKey, endKey); opens only the records at both ends. */
  count(startKey: string, endKey: string): number
  release(): void
}

export interface CacheEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
  /** DELETED: the last state with the revision of the deletion in its body and modRevision. */
  readonly record: RecordView
  /** MODIFIED and DELETED: the state before; selectors need it to see an object enter or leave. */
  readonly previous: RecordView | undefined
}

/** A place in the ring. It costs nothing while it waits. */
export interface EventCursor {
  /**
   * Everything up to this revision has been visited. Never beyond the clock, wherever the cursor was asked to begin.
   */
  readonly revision: number
  /**
   * Some event of every revision up to here was visited; greater than `revision` while the cursor stands within a
   * revision.
   */
  readonly begun: number
  /** Another cursor at the same place; made during a visit, it stands after the event that is being visited. */
  fork(): EventCursor
  /**
   * Visits events after `revision` and not beyond the clock, in order; stops early when the visitor returns false
   * (that event counts as visited). Gives 'expired' when the ring has passed the cursor: the watch must end with 410.
   */
  advance(visit: (event: CacheEvent) => boolean | undefined): 'current' | 'more' | 'expired'
}

export interface ArenaReader {
  /** Newest state at the clock, or exactly at `revision`; throws `too-old` or `too-large`. */
  snapshot(revision?: number): Snapshot
  /** The oldest revision at which snapshot() and cursor() still work. */
  oldestRevision(): number
  /** A cursor after `revision`, which may be ahead of the clock: then nothing up to it is visited. Throws `too-old`. */
  cursor(revision: number): EventCursor
  /**
   * False while the arena fills, after it was dropped for its memory limit, when it lacks objects that cannot be read,
   * and when it is closed: the storage is to be read instead.
   */
  ready(): boolean
}

/** `patient`: a few milliseconds late is soon enough, when the clock moves all the time. */
export type ClockPace = 'prompt' | 'patient'

export interface ClockView {
  /** The revision up to which all arenas are complete. */
  revision(): number
  /** Resolves once the clock has reached it; rejects when the signal aborts. */
  reached(revision: number, signal?: AbortSignal): Promise<void>
  /** Calls back, at most once a turn of the loop, after the clock moved. Gives the way to stop it. */
  onAdvance(listener: (revision: number) => void, pace?: ClockPace): () => void
}

/** The owner's side of the clock; called once everything up to the revision is published in every arena. */
export interface ClockWriter {
  revision(): number
  /** Moves the clock and wakes who waits for the revision. An older revision has no effect. */
  advance(revision: number): void
  /**
   * Sets the clock back, because the store went back (restored from a backup). Every arena must be closed: nobody may
   * find a state that the clock does not know of.
   */
  rewind(revision: number): void
}

/** One object of a whole state, which replace() and beginReplace() put in place. */
export interface ArenaEntry {
  readonly key: string
  readonly draft: RecordDraft
  readonly modRevision: number
  readonly createRevision: number
}

/**
 * A whole state on its way into an arena, some objects at a time, so that a large one never lies on the heap beside the arena. The arena
 * takes no other changes meanwhile, and readers see what was there before.
 */
export interface ArenaReplacement {
  /** In ascending order of keys, over all calls. */
  add(entries: Iterable<ArenaEntry>): void
  /** Puts what was added in place, as replace() does; publish() has to follow. */
  finish(revision: number): void
  /** Leaves the arena as it was. Has no effect on a closed one. */
  abandon(): void
}

/**
 * The owner's side of one arena. Nothing is visible before publish(). All methods are synchronous. Keys are the store's
 * own (`/registry/pods/default/a`). put() and replace() throw when the memory limit does not let them go on; the arena
 * is then of no more use: setReady(false), close().
 */
export interface ArenaWriter {
  put(key: string, draft: RecordDraft, modRevision: number, createRevision: number): void
  /** Has no effect when the key is not there. */
  delete(key: string, revision: number): void
  /**
   * Puts the whole state at `revision` in place, in ascending order of keys: clears ring and window, so older cursors
   * expire.
   */
  replace(entries: Iterable<ArenaEntry>, revision: number): void
  beginReplace(): ArenaReplacement
  /** Makes every change so far visible as of `revision`; the clock moves once all arenas have published. */
  publish(revision: number): void
  setReady(ready: boolean): void
  /**
   * From now on the arena lacks objects that cannot be read. It is closed for good to all but followers
   * (ResourceView.known).
   */
  setPartial(): void
  memory(): MemoryReport
  /** Looks at every object. */
  costs(): ArenaCosts
  /**
   * The store has forgotten what was before the revision, so the window need not reach back further: what it holds of bursts before is
   * given back. The smallest window stays.
   */
  forget(revision: number): void
  /** Frees blocks that left the window and are not pinned; publish() does so too. */
  reclaim(): void
  close(): void
}
