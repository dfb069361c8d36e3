/**
 * Thread: any. A watch that memory cannot serve yet: it begins before the window (a client that comes back after a
 * restart of this process, where the store's own log still has what it missed), or memory is still filling. It is
 * served by the storage until memory has what follows, and then goes on there; the client sees one stream.
 *
 *   storage ──the event after everything memory lacks──▶ memory
 */
import type { WatchEvent, WatchStream } from '../../storage/contract/interface.js'

export interface CatchUpOptions<T> {
  readonly storage: WatchStream<T>
  /** Gives the stream of everything after `revision` once memory has it; asked before each event. */
  readonly handOver: (revision: number) => WatchStream<T> | undefined
  /** Whether the storage begins with what exists, and a bookmark at its end. */
  readonly initialEvents: boolean
  /** Which of the storage's bookmarks the client gets. */
  readonly passInitialEventsEnd: boolean
  readonly passProgress: boolean
}

type Result<T> = IteratorResult<WatchEvent<T>, undefined>

export class CatchUpWatcher<T> implements WatchStream<T> {
  readonly #options: CatchUpOptions<T>
  #memory: WatchStream<T> | undefined
  #stopped = false
  /** True during the initial events: their revisions say nothing about how far the stream is. */
  #initial: boolean
  #passedRevision = 0
  #turn: Promise<unknown> = Promise.resolve()

  constructor(options: CatchUpOptions<T>) {
    this.#options = options
    this.#initial = options.initialEvents
  }

  next(): Promise<Result<T>> {
    const result = this.#turn.then(() => this.#next())
    this.#turn = result.catch(() => undefined)
    return result
  }

  stop(): void {
    this.#stopped = true
    this.#options.storage.stop()
    this.#memory?.stop()
  }

  [Symbol.asyncIterator](): AsyncIterator<WatchEvent<T>, undefined> {
    return {
      next: () => this.next(),
      return: () => {
        this.stop()
        return Promise.resolve({ done: true, value: undefined })
      },
    }
  }

  async #next(): Promise<Result<T>> {
    for (;;) {
      if (this.#memory !== undefined) return this.#memory.next()
      const result = await this.#options.storage.next()
      if (result.done) return result
      const event = result.value
      if (this.#takesOver(event)) continue
      if (this.#passes(event)) return result
    }
  }

  #passes(event: WatchEvent<T>): boolean {
    if (event.type === 'ERROR') return true
    if (event.type === 'BOOKMARK') {
      return event.initialEventsEnd ? this.#options.passInitialEventsEnd : this.#options.passProgress
    }
    this.#passedRevision = event.resourceVersion
    return true
  }

  /** True when memory delivers this event and all that follow; a bookmark needs no delivery. */
  #takesOver(event: WatchEvent<T>): boolean {
    if (event.type === 'ERROR' || this.#stopped) return false
    if (event.type === 'BOOKMARK' && event.initialEventsEnd) {
      this.#initial = false
      return false
    }
    if (this.#initial) return false
    // Several events may share a revision: memory takes over before the first of them.
    if (event.type !== 'BOOKMARK' && event.resourceVersion === this.#passedRevision) return false
    const delivered = event.type === 'BOOKMARK' ? event.resourceVersion : event.resourceVersion - 1
    const memory = this.#options.handOver(delivered)
    if (memory === undefined) return false
    this.#memory = memory
    this.#options.storage.stop()
    return true
  }
}
