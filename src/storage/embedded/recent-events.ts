/**
 * Thread: owner. The newest events, in memory, shared by all watches: a watch keeps no events of its own, only its next
 * revision. A watch that is behind the oldest event here reads the log instead, so slow watches hold nothing back.
 * Every revision has exactly one event.
 */
import type { KvEvent } from '../contract/kv.js'

/** Enough events for a consumer that is a few commits behind; one that is not, or a commit of large objects, is read from the log. */
const MAX_EVENTS = 4096
/** Kept while a watch has not got them: so far it may be behind before it reads the log. */
const MAX_BYTES = 8 * 1024 * 1024
/**
 * Kept when all watches have got them, for one that begins a little in the past. What is kept for long grows old in V8's heap, where only a
 * collection of the whole heap frees it; with 8 MiB of pods there were three of those a second.
 */
const PASSED_BYTES = 256 * 1024

export class RecentEvents {
  #events: KvEvent[] = []
  #first: number
  #bytes = 0

  constructor(revision: number) {
    this.#first = revision + 1
  }

  /** `passed`: all watches have got the events before this revision. */
  append(events: readonly KvEvent[], passed: number): void {
    for (const event of events) {
      this.#events.push(event)
      this.#bytes += bytesOf(event)
    }
    let drop = 0
    const isTooMuch = (): boolean =>
      this.#events.length - drop > MAX_EVENTS || this.#bytes > (this.#first + drop < passed ? PASSED_BYTES : MAX_BYTES)
    while (drop < this.#events.length && isTooMuch()) this.#bytes -= bytesOf(this.#events[drop++]!)
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
