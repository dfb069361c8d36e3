/**
 * Thread: any. Between a watch's stream and its consumer: batches that are complete but not pulled yet. Puts the
 * fragments of a reply together again, so that all events of one revision are in one batch, and knows where the
 * stream must be resumed when it breaks: after the last revision that is complete here.
 */
import type { KvEvent, KvWatchBatch } from '../contract/kv.js'
import type { WatchResponse } from './messages.js'

interface Entry {
  readonly batch: KvWatchBatch
  readonly bytes: number
}

export class WatchBuffer {
  #entries: Entry[] = []
  #bytes = 0
  /** The events of the last revision of a fragment: the next fragment may have more of them. */
  #held: KvEvent[] = []
  /** The first revision that is not complete yet. */
  #nextRevision: number

  constructor(startRevision: number) {
    this.#nextRevision = startRevision
  }

  get nextRevision(): number {
    return this.#nextRevision
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Takes over the events of one reply, which had `bytes` bytes. */
  pushEvents(response: WatchResponse, bytes: number): void {
    // A server that was restored from a snapshot may send again what a watch has passed.
    const fresh = response.events.filter((event) => event.kv.modRevision >= this.#nextRevision)
    const events = this.#held.length === 0 ? fresh : this.#held.concat(fresh)
    this.#held = []
    const last = events.at(-1)
    if (last === undefined) return
    if (!response.fragment) {
      this.#add({ events, revision: last.kv.modRevision }, bytes)
      return
    }
    const open = last.kv.modRevision
    const complete = events.findIndex((event) => event.kv.modRevision === open)
    this.#held = events.slice(complete)
    if (complete > 0)
      this.#add({ events: events.slice(0, complete), revision: events[complete - 1]!.kv.modRevision }, bytes)
  }

  /** Everything up to `revision` has been sent. `deliver`: the consumer wants to know. */
  pushProgress(revision: number, deliver: boolean): void {
    if (this.#held.length > 0 || revision < this.#nextRevision - 1) return
    this.#nextRevision = revision + 1
    if (!deliver) return
    const newest = this.#entries.at(-1)
    if (newest !== undefined && newest.batch.events.length === 0) this.#entries.pop()
    this.#entries.push({ batch: { events: [], revision }, bytes: 0 })
  }

  /** The stream broke: events that were not complete will be sent again. */
  dropIncomplete(): void {
    this.#held = []
  }

  shift(): KvWatchBatch | undefined {
    const entry = this.#entries.shift()
    if (entry === undefined) return undefined
    this.#bytes -= entry.bytes
    return entry.batch
  }

  clear(): void {
    this.#entries = []
    this.#held = []
    this.#bytes = 0
  }

  #add(batch: KvWatchBatch, bytes: number): void {
    this.#entries.push({ batch, bytes })
    this.#bytes += bytes
    this.#nextRevision = batch.revision + 1
  }
}
