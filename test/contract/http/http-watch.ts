import type { IncomingMessage } from 'node:http'
import type { CancelSignal } from '#keelson/lib/cancellation.js'
import type { WatchEvent, WatchStream } from '#keelson/storage/contract/interface.js'
import type { Pod } from '../pod.js'
import { type EventForm, toPod, type Uids } from './event-form.js'
import { type StatusForm, storageError } from './http-error.js'

/** What a client takes in before somebody reads it: enough for the suite's small queues, not for a run of events. */
const QUEUED_BYTES = 32 << 10
const EVENT_MS = 30_000

interface EventLine {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: EventForm & StatusForm & { metadata: { annotations?: Record<string, string> } }
}

/** A watch as clients read it: a line of JSON an event. Reads no further than its queue reaches, so that it can be slow. */
export class HttpWatch implements WatchStream<Pod> {
  readonly #response: IncomingMessage | undefined
  readonly #uids: Uids
  readonly #target: string
  readonly #queue: string[] = []
  #queuedBytes = 0
  #text = ''
  #over = false
  #wake: () => void = () => undefined

  /** Without an answer it is a watch that was cancelled before it was asked for. */
  constructor(response: IncomingMessage | undefined, uids: Uids, target: string, signal?: CancelSignal) {
    this.#target = target
    this.#response = response
    this.#uids = uids
    if (response === undefined) {
      this.#over = true
      return
    }
    response.setEncoding('utf8')
    response.on('data', (chunk: string) => this.#take(chunk))
    for (const end of ['end', 'close', 'error']) response.on(end, () => this.#end())
    signal?.addEventListener('abort', () => this.stop(), { once: true })
  }

  async next(): Promise<IteratorResult<WatchEvent<Pod>, undefined>> {
    const endsAt = Date.now() + EVENT_MS
    for (;;) {
      const first = this.#queue.shift()
      if (first !== undefined) {
        this.#queuedBytes -= first.length
        if (this.#queuedBytes < QUEUED_BYTES) this.#response?.resume()
        return { done: false, value: this.#read(JSON.parse(first) as EventLine) }
      }
      if (this.#over) return { done: true, value: undefined }
      if (Date.now() >= endsAt) throw new Error(`no event on ${this.#target} within ${EVENT_MS} ms`)
      await this.#change(endsAt - Date.now())
    }
  }

  stop(): void {
    this.#end()
    this.#response?.destroy()
  }

  async *[Symbol.asyncIterator](): AsyncIterator<WatchEvent<Pod>> {
    try {
      for (;;) {
        const result = await this.next()
        if (result.done === true) return
        yield result.value
      }
    } finally {
      this.stop()
      this.#queue.length = 0
    }
  }

  #change(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #end(): void {
    this.#over = true
    this.#wake()
  }

  #take(chunk: string): void {
    if (this.#over) return
    const lines = (this.#text + chunk).split('\n')
    this.#text = lines.pop()!
    for (const line of lines) {
      this.#queue.push(line)
      this.#queuedBytes += line.length
    }
    if (this.#queuedBytes >= QUEUED_BYTES) this.#response?.pause()
    this.#wake()
  }

  /** Not before somebody wants it: an event may arrive sooner than the answer to the create, which says whose uid it has. */
  #read({ type, object }: EventLine): WatchEvent<Pod> {
    if (type === 'ERROR') return { type, error: storageError(object) }
    const resourceVersion = Number(object.metadata.resourceVersion)
    if (type !== 'BOOKMARK') return { type, object: toPod(object, this.#uids), resourceVersion }
    const initialEventsEnd = object.metadata.annotations?.['k8s.io/initial-events-end'] === 'true'
    return { type, resourceVersion, initialEventsEnd }
  }
}
