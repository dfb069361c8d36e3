/**
 * Thread: any. The stream that a watcher reads: a queue of at most QUEUE_LIMIT events between what produces them
 * and who reads them. When it is full the producer waits, and nobody else does.
 *
 *   open ──finish()/stop()──▶ draining (what is queued is delivered, nothing is added) ──▶ ended
 *   open or draining ──abort()──▶ ended (what is queued is dropped)
 */
import type { WatchEvent, WatchStream } from './interface.js'

const QUEUE_LIMIT = 100

type Result<T> = IteratorResult<WatchEvent<T>, undefined>

export class WatchQueue<T> implements WatchStream<T> {
  readonly #limit: number
  readonly #onClose: () => void
  #events: WatchEvent<T>[] = []
  #readers: ((result: Result<T>) => void)[] = []
  #room: (() => void) | undefined
  #open = true

  /** `onClose` runs once, when the queue leaves `open`: the producer stops its work there. */
  constructor(onClose: () => void, limit = QUEUE_LIMIT) {
    this.#onClose = onClose
    this.#limit = limit
  }

  get finished(): boolean {
    return !this.#open
  }

  /**
   * Adds an event; has no effect once the queue is closed. The producer awaits room() before the next event; an ERROR
   * may always be added.
   */
  push(event: WatchEvent<T>): void {
    if (!this.#open) return
    const reader = this.#readers.shift()
    if (reader !== undefined) reader({ done: false, value: event })
    else this.#events.push(event)
  }

  /**
   * Undefined when there is room for an event now; else a promise that resolves when there is, or when the queue is
   * closed.
   */
  room(): Promise<void> | undefined {
    if (!this.#open || this.#events.length < this.#limit) return undefined
    return new Promise((resolve) => {
      this.#room = resolve
    })
  }

  finish(): void {
    if (!this.#open) return
    this.#open = false
    this.#wakeProducer()
    for (const reader of this.#readers.splice(0)) reader({ done: true, value: undefined })
    this.#onClose()
  }

  stop(): void {
    this.finish()
  }

  abort(): void {
    this.#events = []
    this.finish()
  }

  next(): Promise<Result<T>> {
    const event = this.#events.shift()
    if (event !== undefined) {
      this.#wakeProducer()
      return Promise.resolve({ done: false, value: event })
    }
    if (!this.#open) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve) => this.#readers.push(resolve))
  }

  /** Leaving a for-await loop stops the watch. */
  [Symbol.asyncIterator](): AsyncIterator<WatchEvent<T>, undefined> {
    return {
      next: () => this.next(),
      return: () => {
        this.abort()
        return Promise.resolve({ done: true, value: undefined })
      },
    }
  }

  #wakeProducer(): void {
    const room = this.#room
    this.#room = undefined
    room?.()
  }
}
