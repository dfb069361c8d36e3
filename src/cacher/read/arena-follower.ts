/**
 * Thread: any but the owner. Keeps a sink in this thread equal to one resource in shared memory: first it gives the
 * sink everything, then what changes. Code that is about to use the sink calls sync(), which costs two loads when
 * nothing has happened. So, while memory is there, no decision rests on a state older than the clock, and nobody waits.
 *
 *   unknown ──memory is there: sink.reset(), all of it──▶ following ──the ring has passed us, or a new arena──▶ (again)
 *                                                          │     ▲
 *                          memory is filled anew or dropped▼     │it is there again: sink.reset(), all of it
 *                                                         stale ─┘
 *
 * A stale follower leaves the last known state in force: permissions must not depend on whether there is room in
 * memory.
 */

import { isStorageError } from '../../storage/contract/errors.js'
import type { ArenaReader, EventCursor, RecordView, Snapshot } from '../memory/shared-memory.js'
import type { ResourceView } from './resource-view.js'

/** What is kept equal to the resource. Records are views over shared memory: a sink copies what it needs of them. */
export interface ArenaSink {
  /** Forgets everything. The whole new state is given next, in the same turn. */
  reset(): void
  /**
   * `previous` is the object's state before; undefined for a new object, and for every object that is given after a
   * reset.
   */
  put(record: RecordView, previous: RecordView | undefined): void
  delete(record: RecordView): void
}

export type FollowedView = Pick<ResourceView, 'clock' | 'known'>

/**
 * Is told when something in this thread begins and ceases to rest on an old state of a resource; StaleFollowers reports
 * it.
 */
export type StaleListener = (resource: string, stale: boolean) => void

export class ArenaFollower {
  readonly #source: FollowedView
  readonly #sink: ArenaSink
  readonly #onStale: (stale: boolean) => void
  #arena: ArenaReader | undefined
  #cursor: EventCursor | undefined
  #revision = -1
  #filled = false
  #stale = false

  constructor(source: FollowedView, sink: ArenaSink, onStale: (stale: boolean) => void = () => undefined) {
    this.#source = source
    this.#sink = sink
    this.#onStale = onStale
  }

  /** Brings the sink up to the clock, or leaves it in the last known state. False when no state has ever been known. */
  sync(): boolean {
    const revision = this.#source.clock.revision()
    const arena = this.#source.known()
    if (arena === undefined) return this.#lose()
    if (arena === this.#arena && revision === this.#revision) return true
    if ((arena === this.#arena && this.#advance()) || this.#fill(arena)) {
      this.#revision = revision
      this.#setStale(false)
      return true
    }
    return this.#lose()
  }

  /**
   * Syncs and calls back after moves of the clock, patiently, for those who act without being asked. The function that it
   * returns ends this.
   */
  follow(onSynced: (ready: boolean) => void): () => void {
    return this.#source.clock.onAdvance(() => onSynced(this.sync()), 'patient')
  }

  #advance(): boolean {
    const outcome = this.#cursor?.advance((event) => {
      if (event.type === 'DELETED') this.#sink.delete(event.record)
      else this.#sink.put(event.record, event.previous)
      return true
    })
    return outcome !== undefined && outcome !== 'expired'
  }

  /**
   * Gives the sink the whole state; false when the arena was closed before it could be opened. The sink is reset only
   * when there is a new state to give it.
   */
  #fill(arena: ArenaReader): boolean {
    // Both are set again only by a fill that succeeds, so that a failed one is not continued.
    this.#arena = undefined
    this.#cursor = undefined
    const opened = open(arena)
    if (opened === undefined) return false
    const { snapshot, cursor } = opened
    try {
      this.#sink.reset()
      snapshot.scan('', '', (record) => {
        this.#sink.put(record, undefined)
        return true
      })
    } finally {
      snapshot.release()
    }
    this.#cursor = cursor
    this.#arena = arena
    this.#filled = true
    return true
  }

  #lose(): boolean {
    this.#arena = undefined
    this.#cursor = undefined
    if (this.#filled) this.#setStale(true)
    return this.#filled
  }

  #setStale(stale: boolean): void {
    if (this.#stale === stale) return
    this.#stale = stale
    this.#onStale(stale)
  }
}

/** A state and the cursor after it; undefined when the arena was closed or emptied meanwhile. */
function open(arena: ArenaReader): { snapshot: Snapshot; cursor: EventCursor } | undefined {
  let snapshot: Snapshot | undefined
  try {
    snapshot = arena.snapshot()
    return { snapshot, cursor: arena.cursor(snapshot.revision) }
  } catch (error) {
    snapshot?.release()
    if (isStorageError(error, 'too-old') || isStorageError(error, 'not-ready')) return undefined
    throw error
  }
}
