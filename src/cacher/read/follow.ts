/**
 * Thread: any. The third verb of the read engine: one watch on shared memory, without a promise or an object in it.
 * What exists comes first, when that is wanted, then what happens, as it looks to somebody who sees only what the
 * selectors select.
 *
 *   initial ──last key──▶ live
 *
 * Between two calls a feed holds neither a pin nor a copy. The state it starts from is opened again at its exact
 * revision each time, so a reader that is too slow for the window loses its watch and costs nobody else anything. Its
 * place among the events is a cursor: a revision and a place within it, because one revision may hold many events of a
 * resource.
 */
import { isTooOld } from '../../storage/contract/errors.js'
import type { ArenaReader, CacheEvent, EventCursor, RecordView, Snapshot } from '../memory/shared-memory.js'
import type { KeyRange } from './key-range.js'
import { type RecordSelectors, selects, selectsAll } from './record-selectors.js'
import { type EventType, shownRecord, visibleType } from './visible-event.js'

export interface EventFeedOptions {
  readonly arena: ArenaReader
  readonly range: KeyRange
  readonly selectors: RecordSelectors
  /**
   * The feed begins with the state at this revision, or after it. Without a state to begin with it may lie ahead of the
   * clock.
   */
  readonly revision: number
  readonly initialEvents: boolean
  /** How the records of the state are found; the snapshot's own scan when undefined. */
  readonly scan?: (snapshot: Snapshot, range: KeyRange, visit: (record: RecordView) => boolean | undefined) => unknown
}

/**
 * `revision` is that of the event. DELETED comes with the last state that was seen, whose own revision is older when
 * the object only left the selection; so whoever passes it on sets `revision`.
 */
export type FeedVisitor = (type: EventType, record: RecordView, revision: number) => boolean | undefined

/**
 * `more`: there is more, or the initial state has just ended. `ended`: memory is no longer kept up (the resource was
 * dropped or is listed anew). `expired`: the window has passed the feed.
 */
export type FeedOutcome = 'current' | 'more' | 'expired' | 'ended'

export class EventFeed {
  readonly startRevision: number
  readonly #options: EventFeedOptions
  readonly #all: boolean
  #cursor: EventCursor
  #initialKey: string | undefined

  /** Throws `too-old` when the window begins after the revision, `not-ready` when there is nothing to read. */
  constructor(options: EventFeedOptions) {
    this.#options = options
    this.startRevision = options.revision
    this.#all = selectsAll(options.selectors)
    this.#cursor = options.arena.cursor(options.revision)
    this.#initialKey = options.initialEvents ? options.range.startKey : undefined
  }

  /** False while the feed gives its initial state. */
  get live(): boolean {
    return this.#initialKey === undefined
  }

  /** Every event up to this revision has been visited; says something once the feed is live. Never beyond the clock. */
  get revision(): number {
    return this.#cursor.revision
  }

  /** No event up to this revision is still to come: it was visited, or lies before the revision that was asked for. */
  get seenRevision(): number {
    return Math.max(this.startRevision, this.#cursor.revision)
  }

  /** True when the feed stands between two revisions, not within one. */
  get whole(): boolean {
    return this.#cursor.begun === this.#cursor.revision
  }

  /** Visits the state or the events that there are, until the visitor returns false. */
  advance(visit: FeedVisitor): FeedOutcome {
    const result = this.#initialKey === undefined ? this.#follow(visit) : this.#visitState(this.#initialKey, visit)
    return this.#options.arena.ready() || result === 'more' ? result : 'ended'
  }

  /** Goes on at another feed's cursor, up to which everything has been delivered to this feed's reader too. */
  resumeAt(cursor: EventCursor): void {
    this.#cursor = cursor
  }

  #visitState(startKey: string, visit: FeedVisitor): 'more' | 'expired' {
    const { arena, range, revision, selectors, scan } = this.#options
    let stoppedAt: string | undefined
    const visitRecord = (record: RecordView): boolean => {
      if (!this.#all && !selects(selectors, record)) return true
      if (visit('ADDED', record, record.modRevision) !== false) return true
      stoppedAt = `${record.key}\0`
      return false
    }
    try {
      const snapshot = arena.snapshot(revision)
      try {
        if (scan === undefined) snapshot.scan(startKey, range.endKey, visitRecord)
        else scan(snapshot, { startKey, endKey: range.endKey }, visitRecord)
      } finally {
        snapshot.release()
      }
    } catch (error) {
      if (isTooOld(error) || !arena.ready()) return 'expired'
      throw error
    }
    this.#initialKey = stoppedAt
    return 'more'
  }

  #follow(visit: FeedVisitor): 'current' | 'more' | 'expired' {
    return this.#cursor.advance((event) => this.#pass(event, visit))
  }

  #pass(event: CacheEvent, visit: FeedVisitor): boolean | undefined {
    const { range, selectors } = this.#options
    const { key } = event.record
    if (event.revision <= this.startRevision || key < range.startKey || key >= range.endKey) return true
    const type = visibleType(event, selectors)
    return type === undefined ? true : visit(type, shownRecord(event, type), event.revision)
  }
}
