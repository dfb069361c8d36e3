/**
 * Thread: any. One watch on shared memory, without a promise or an object in it: what exists first, when that is wanted,
 * then what happens, as it looks to somebody who sees only what the selectors select.
 *
 *   initial ──last key──▶ live
 *
 * Between two calls it holds neither a pin nor a copy. The state it starts from is opened again at its exact revision each
 * time, so a reader that is too slow for the window loses its watch and costs nobody else anything.
 */
import type { Selector } from '../../api/selector.js'
import { isTooOld } from '../../storage/contract/errors.js'
import type { ArenaReader, CacheEvent, EventCursor, RecordView } from '../memory/shared-memory.js'
import type { KeyRange } from './key-range.js'

export interface EventFeedOptions {
  readonly arena: ArenaReader
  readonly range: KeyRange
  readonly recursive: boolean
  readonly label: Selector
  readonly field: Selector
  /** Begins with the state at this revision, or after it. */
  readonly revision: number
  readonly initialEvents: boolean
}

/**
 * `revision` is the event's. DELETED comes with the last state that was seen: its own version when it only left the
 * selection, so whoever passes it on sets `revision`.
 */
export type FeedVisitor = (
  type: 'ADDED' | 'MODIFIED' | 'DELETED',
  record: RecordView,
  revision: number,
) => boolean | undefined

export class EventFeed {
  readonly startRevision: number
  readonly #options: EventFeedOptions
  readonly #cursor: EventCursor
  readonly #all: boolean
  #initialKey: string | undefined

  /** Throws `too-old` when the window begins later, `not-ready` when there is nothing to read. */
  constructor(options: EventFeedOptions) {
    this.#options = options
    this.startRevision = options.revision
    this.#all = options.label.empty() && options.field.empty()
    this.#cursor = options.arena.cursor(options.revision)
    this.#initialKey = options.initialEvents ? options.range.startKey : undefined
  }

  /** Until false, what comes is the state it starts from. */
  get live(): boolean {
    return this.#initialKey === undefined
  }

  /** Everything up to here has been visited; meaningful once live. */
  get revision(): number {
    return this.#cursor.revision
  }

  /**
   * Visits what there is, until the visitor returns false. `more`: there is more, or the state it started from has just
   * ended. `ended`: the memory is no longer kept up (the resource was dropped or is read anew); `expired`: too slow.
   */
  advance(visit: FeedVisitor): 'current' | 'more' | 'expired' | 'ended' {
    const result = this.#initialKey === undefined ? this.#follow(visit) : this.#visitState(this.#initialKey, visit)
    return this.#options.arena.ready() || result === 'more' ? result : 'ended'
  }

  #visitState(startKey: string, visit: FeedVisitor): 'more' | 'expired' {
    const { arena, range, revision } = this.#options
    let stoppedAt: string | undefined
    try {
      const snapshot = arena.snapshot(revision)
      try {
        snapshot.scan(startKey, range.endKey, (record) => {
          if (!this.#selects(record) || visit('ADDED', record, record.modRevision) !== false) return true
          stoppedAt = `${record.key}\0`
          return false
        })
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
    const { record, previous, type, revision } = event
    if (!this.#inRange(record.key)) return true
    const selected = type !== 'DELETED' && this.#selects(record)
    const wasSelected = previous !== undefined && this.#selects(previous)
    if (selected) return visit(wasSelected ? 'MODIFIED' : 'ADDED', record, revision)
    if (!wasSelected) return true
    return visit('DELETED', type === 'DELETED' ? record : previous, revision)
  }

  #inRange(key: string): boolean {
    const { range, recursive } = this.#options
    return recursive ? key.startsWith(range.startKey) : key === range.startKey
  }

  #selects(record: RecordView): boolean {
    if (this.#all) return true
    const { label, field } = this.#options
    return label.matches(record.labels) && field.matches(record.fields)
  }
}
