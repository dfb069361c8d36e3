/**
 * Thread: any but the owner. Keeps something in this thread equal to one resource in shared memory: first everything, then
 * what changes. Whoever is about to use it calls sync(), which costs two loads when nothing has happened; so a decision
 * never rests on something older than the clock, and nobody waits for it.
 *
 *   unready ──the arena is ready: sink.reset(), all of it──▶ following ──the ring has passed us, or a new arena──▶ (again)
 *      ▲                                                         │
 *      └────────────the arena is dropped or closed: sink.reset()─┘
 */

import type { ArenaReader, EventCursor, RecordView } from '../memory/shared-memory.js'
import type { ResourceView } from './resource-view.js'

/** What follows. Records are views: take what is needed, keep no view. */
export interface ArenaSink {
  /** Forget everything: what follows is the whole state, or nothing is known any more. */
  reset(): void
  put(record: RecordView): void
  delete(record: RecordView): void
}

export class ArenaFollower {
  readonly #source: Pick<ResourceView, 'clock' | 'arena'>
  readonly #sink: ArenaSink
  #arena: ArenaReader | undefined
  #cursor: EventCursor | undefined
  #revision = -1

  constructor(source: Pick<ResourceView, 'clock' | 'arena'>, sink: ArenaSink) {
    this.#source = source
    this.#sink = sink
  }

  /** Brings the sink up to the clock. False: the resource is not in memory now, and the sink is empty. */
  sync(): boolean {
    const revision = this.#source.clock.revision()
    const arena = this.#source.arena()
    if (arena === undefined) return this.#lose()
    if (arena === this.#arena && revision === this.#revision) return true
    if (arena === this.#arena && this.#advance()) {
      this.#revision = revision
      return true
    }
    this.#fill(arena)
    this.#revision = revision
    return true
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

  #fill(arena: ArenaReader): void {
    // Only a fill that went through leaves something to go on from.
    this.#arena = undefined
    this.#cursor = undefined
    this.#sink.reset()
    const snapshot = arena.snapshot()
    try {
      snapshot.scan('', '', (record) => {
        this.#sink.put(record)
        return true
      })
      this.#cursor = arena.cursor(snapshot.revision)
      this.#arena = arena
    } finally {
      snapshot.release()
    }
  }

  #lose(): false {
    if (this.#arena !== undefined) {
      this.#arena = undefined
      this.#cursor = undefined
      this.#sink.reset()
    }
    return false
  }
}
