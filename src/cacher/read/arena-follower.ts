/**
 * Thread: any but the owner. Keeps something in this thread equal to one resource in shared memory: first everything, then
 * what changes. Whoever is about to use it calls sync(), which costs two loads when nothing has happened; so a decision
 * never rests on something older than the clock while memory is there, and nobody waits for it.
 *
 *   unknown ──memory is there: sink.reset(), all of it──▶ following ──the ring has passed us, or a new arena──▶ (again)
 *                                                          │     ▲
 *                          memory is filled anew or dropped▼     │it is there again: sink.reset(), all of it
 *                                                         stale ─┘
 *
 * A stale follower leaves the last known state in force: who may do what must not hang on whether there is room in memory.
 */

import { isStorageError } from '../../storage/contract/errors.js'
import type { ArenaReader, EventCursor, RecordView, Snapshot } from '../memory/shared-memory.js'
import type { ResourceView } from './resource-view.js'

/** What follows. Records are views: take what is needed, keep no view. */
export interface ArenaSink {
  /** Forget everything: what follows, at once, is the whole state. */
  reset(): void
  put(record: RecordView): void
  delete(record: RecordView): void
}

export type FollowedView = Pick<ResourceView, 'clock' | 'known'>

/** Is told when followers begin and cease to rest on what a resource was; StaleFollowers says it aloud. */
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

  /** Brings the sink up to the clock, or leaves it as it was last. False: nothing has ever been known. */
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

  /** Calls back after each move of the clock that brought something; for those who act rather than answer. */
  follow(onSynced: (ready: boolean) => void): () => void {
    return this.#source.clock.onAdvance(() => onSynced(this.sync()))
  }

  #advance(): boolean {
    const outcome = this.#cursor?.advance((event) => {
      if (event.type === 'DELETED') this.#sink.delete(event.record)
      else this.#sink.put(event.record)
      return true
    })
    return outcome !== undefined && outcome !== 'expired'
  }

  /** False: memory went while it was opened. Nothing is forgotten before there is something to take its place. */
  #fill(arena: ArenaReader): boolean {
    // Only a fill that went through leaves something to go on from.
    this.#arena = undefined
    this.#cursor = undefined
    const opened = open(arena)
    if (opened === undefined) return false
    const { snapshot, cursor } = opened
    try {
      this.#sink.reset()
      snapshot.scan('', '', (record) => {
        this.#sink.put(record)
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

/** A state and the place after it; undefined when the arena is closed or emptied meanwhile. */
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
