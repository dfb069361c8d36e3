/**
 * Thread: owner. The newest events, in memory, shared by all watches: a watch keeps no events of its own, only its next
 * revision. A watch that is behind the oldest event here reads the log instead, so slow watches hold nothing back.
 * Every revision has exactly one event.
 */
import type { KvEvent } from '../contract/kv.js'

/** Enough events for a consumer that is a few commits behind; one that is not, or a commit of large objects, is read from the log. */
const MAX_EVENTS = 4096
/** Kept until they are overtaken, so a server that has been written to once keeps so much for good. */
const MAX_BYTES = 8 * 1024 * 1024

export class RecentEvents {
  #events: KvEvent[] = []
  #first: number
  #bytes = 0

  constructor(revision: number) {
    this.#first = revision + 1
  }

  append(events: readonly KvEvent[]): void {
    for (const event of events) {
      this.#events.push(event)
      this.#bytes += bytesOf(event)
    }
    let drop = 0
    while (this.#events.length - drop > MAX_EVENTS || (this.#bytes > MAX_BYTES && drop < this.#events.length))
      this.#bytes -= bytesOf(this.#events[drop++]!)
    if (drop > 0) this.#events.splice(0, drop)
    this.#first += drop
  }

  /** The event of a revision; undefined when it is not in memory any more. */
  at(revision: number): KvEvent | undefined {
    return this.#events[revision - this.#first]
  }
}

const bytesOf = (event: KvEvent): number =>
  event.kv.value.length + (event.prev?.value.length ?? 0) + (event.draft?.body.length ?? 0)
