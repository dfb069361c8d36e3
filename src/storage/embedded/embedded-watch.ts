/**
 * Thread: owner. One watch on the engine: a revision in the event log and a filter.
 *
 *   open ──close()──▶ closed (next gives undefined)
 *     ├──compaction overtakes it──▶ overtaken (next rejects with too-old, once; then closed)
 *     └──it meets a damaged entry──▶ broken (next rejects with corrupt-object, once; then closed)
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { assert } from '../../lib/assert.js'
import type { Clock, Timer } from '../../lib/clock.js'
import type { KvEvent, KvWatch, KvWatchBatch, KvWatchOptions } from '../contract/kv.js'
import { compactedError } from './history.js'
import type { RecentEvents } from './recent-events.js'
import { EMPTY_REVISION } from './records.js'
import type { Snapshot } from './snapshot.js'

/** The most events of a batch, and the most entries that are looked at between two turns of the event loop. */
const MAX_BATCH_EVENTS = 256
const MAX_BATCH_BYTES = 1024 * 1024
const MAX_LOG_ENTRIES_A_TURN = 512

export interface WatchSource {
  readonly snapshot: Snapshot
  readonly recent: RecentEvents
  readonly clock: Clock
  readonly progressIntervalMs: number
  onClose(watch: EmbeddedWatch): void
}

export class EmbeddedWatch implements KvWatch {
  readonly established: Promise<void>
  readonly #source: WatchSource
  readonly #options: KvWatchOptions
  readonly #abort = (): void => this.close()
  #next: number
  #state: 'open' | 'closed' = 'open'
  #pulling = false
  #wake: (() => void) | undefined
  #progressWanted = false
  #delivered = false
  #timer: Timer | undefined

  constructor(source: WatchSource, options: KvWatchOptions) {
    this.#source = source
    this.#options = options
    const { state } = source.snapshot
    this.#next = options.startRevision > 0 ? options.startRevision : state.revision + 1
    this.established =
      this.#next <= state.compacted ? Promise.reject(compactedError(this.#next, state)) : Promise.resolve()
    // A consumer that only pulls hears of the failure from next(); `established` must not count as unhandled then.
    this.established.catch(() => undefined)
  }

  /** The first revision that it has not got. */
  get nextRevision(): number {
    return this.#next
  }

  start(): void {
    const { signal, progressNotify } = this.#options
    signal?.addEventListener('abort', this.#abort, { once: true })
    if (signal?.aborted) this.close()
    else if (progressNotify) this.#armProgress()
  }

  async next(): Promise<KvWatchBatch | undefined> {
    assert(!this.#pulling, 'a watch was pulled twice at once')
    this.#pulling = true
    try {
      return await this.#pull()
    } finally {
      this.#pulling = false
    }
  }

  /** Called when new events have been committed, and when the engine closes. */
  wake(): void {
    const wake = this.#wake
    this.#wake = undefined
    wake?.()
  }

  requestProgress(): void {
    this.#progressWanted = true
    this.wake()
  }

  close(): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#timer?.cancel()
    this.#options.signal?.removeEventListener('abort', this.#abort)
    this.#source.onClose(this)
    this.wake()
  }

  async #pull(): Promise<KvWatchBatch | undefined> {
    while (this.#state === 'open') {
      const { state } = this.#source.snapshot
      if (this.#next <= state.compacted) {
        const error = compactedError(this.#next, state)
        this.close()
        throw error
      }
      if (this.#next <= state.revision) {
        const events = this.#collectOrEnd(state.revision)
        if (events.length > 0) return this.#deliver({ events, revision: this.#next - 1 })
        // Among many entries none was for this watch: others get their turn before it looks further.
        if (this.#next <= state.revision) await nextTurn()
      } else if (this.#progressWanted) {
        return this.#deliver({ events: [], revision: state.revision })
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
      }
    }
    return undefined
  }

  #deliver(batch: KvWatchBatch): KvWatchBatch {
    this.#delivered = true
    if (batch.events.length === 0) this.#progressWanted = false
    return batch
  }

  /** A watch that meets a damaged entry is over: what it could still deliver would have a gap. */
  #collectOrEnd(until: number): KvEvent[] {
    try {
      return this.#collect(until)
    } catch (error) {
      this.close()
      throw error
    }
  }

  #collect(until: number): KvEvent[] {
    const { recent, snapshot } = this.#source
    const events: KvEvent[] = []
    let bytes = 0
    let read = 0
    while (
      this.#next <= until &&
      events.length < MAX_BATCH_EVENTS &&
      bytes < MAX_BATCH_BYTES &&
      read < MAX_LOG_ENTRIES_A_TURN
    ) {
      let event = recent.at(this.#next)
      if (event === undefined && this.#next > EMPTY_REVISION) {
        read++
        if (this.#matches(snapshot.recentEntry(this.#next, false).kv.key)) event = snapshot.event(this.#next)
      } else if (event !== undefined && !this.#matches(event.kv.key)) event = undefined
      this.#next++
      if (event === undefined) continue
      events.push(event)
      bytes += event.kv.value.length
    }
    return events
  }

  #matches(key: string): boolean {
    return this.#options.prefix ? key.startsWith(this.#options.key) : key === this.#options.key
  }

  #armProgress(): void {
    this.#timer = this.#source.clock.after(this.#source.progressIntervalMs, () => {
      if (!this.#delivered) this.requestProgress()
      this.#delivered = false
      this.#armProgress()
    })
  }
}
