/**
 * Thread: pool. A watch of what memory does not hold, for the front end: the storage's events, in the form that the client
 * asked for, in batches over the watch's port.
 *
 *   following ──batches under way──▶ full ──taken──▶ following        any ──the port closes, or the storage ends──▶ ended
 */
import type { MessagePort } from 'node:worker_threads'
import { decodeJson } from '../../api/json/decode.js'
import { type ListOptions, parseListOptions } from '../../api/list-options.js'
import type { AcceptedMediaType } from '../../api/media-type.js'
import type { KubeObject } from '../../api/object.js'
import { parseSelectors } from '../../api/selectors.js'
import { newExpired, newInternalError, type Status, StatusError } from '../../api/status.js'
import {
  BATCH_BYTES,
  BATCH_EVENTS,
  BATCHES_UNDER_WAY,
  type StorageWatchEvent,
  type StorageWatchMessage,
} from '../../protocol/storage-watch.js'
import { interpretStorageError } from '../../registry/generic/storage-status.js'
import { isTooOld } from '../../storage/contract/errors.js'
import type { WatchEvent, WatchStream } from '../../storage/contract/interface.js'
import { acceptedOf } from './encode-response.js'
import type { WorkerRequest } from './request.js'
import { shownObject } from './shown-object.js'

const TOO_OLD = 'The resourceVersion for the provided watch is too old.'

/** Resolves when the watch is open; throws what the client is told in its place. */
export async function watch(worker: WorkerRequest, port: MessagePort): Promise<void> {
  const { endpoint, request } = worker
  const accepted = acceptedOf(worker)
  const options = parseListOptions(worker.query, true)
  const selectors = parseSelectors(options, endpoint.selectableFields)
  const abort = new AbortController()
  const { info } = request
  const stream = await endpoint.store.watch(worker.context(false), selectors, watchOptions(options, info.name, abort))
  const feed = new StorageWatchFeed({ worker, port, stream, accepted })
  port.on('message', () => feed.taken())
  port.on('close', () => {
    abort.abort()
    feed.stop()
  })
  port.unref()
  void feed.run()
}

const watchOptions = (
  { resourceVersion, sendInitialEvents, allowWatchBookmarks }: ListOptions,
  name: string,
  { signal }: AbortController,
) => ({
  name,
  resourceVersion,
  allowWatchBookmarks,
  signal,
  ...(sendInitialEvents === undefined ? {} : { sendInitialEvents }),
})

interface FeedOptions {
  readonly worker: WorkerRequest
  readonly port: MessagePort
  readonly stream: WatchStream<KubeObject>
  readonly accepted: AcceptedMediaType
}

class StorageWatchFeed {
  readonly #options: FeedOptions
  #batch: StorageWatchEvent[] = []
  #batchBytes = 0
  #underWay = 0
  #room: (() => void) | undefined
  #flushing = false
  /** Whether an event was shown, so that a Table has shown its columns. */
  #begun = false
  #ended = false

  constructor(options: FeedOptions) {
    this.#options = options
  }

  async run(): Promise<void> {
    const { stream, port } = this.#options
    try {
      for await (const event of stream) {
        if (this.#ended) return
        if (event.type === 'ERROR') throw event.error
        this.#add({ type: event.type, object: this.#shown(event) })
        while (this.#full() && !this.#ended) await this.#nextRoom()
      }
      this.#flush()
    } catch (error) {
      this.#flush()
      this.#post({ type: 'error', status: this.#statusOf(error) })
    } finally {
      this.#ended = true
      port.close()
    }
  }

  stop(): void {
    this.#ended = true
    this.#wake()
  }

  taken(): void {
    this.#underWay--
    if (this.#batch.length > 0) this.#flush()
    this.#wake()
  }

  #wake(): void {
    const room = this.#room
    this.#room = undefined
    room?.()
  }

  #full(): boolean {
    return this.#batch.length >= BATCH_EVENTS || this.#batchBytes >= BATCH_BYTES
  }

  #nextRoom(): Promise<void> {
    return new Promise((resolve) => {
      this.#room = resolve
    })
  }

  /** Events that come in one turn go as one message. */
  #add(event: StorageWatchEvent): void {
    this.#batch.push(event)
    this.#batchBytes += event.object.byteLength
    if (this.#full() && this.#underWay < BATCHES_UNDER_WAY) this.#flush()
    else if (!this.#flushing) {
      this.#flushing = true
      setImmediate(() => {
        this.#flushing = false
        if (this.#underWay < BATCHES_UNDER_WAY) this.#flush()
      })
    }
  }

  #flush(): void {
    if (this.#batch.length === 0) return
    const events = this.#batch
    this.#batch = []
    this.#batchBytes = 0
    this.#underWay++
    this.#post({ type: 'events', events })
    this.#wake()
  }

  #post(message: StorageWatchMessage): void {
    if (!this.#ended) this.#options.port.postMessage(message)
  }

  #shown(event: Exclude<WatchEvent<KubeObject>, { type: 'ERROR' }>): Uint8Array {
    const { worker, accepted } = this.#options
    const { endpoint } = worker
    const shape = this.#begun ? 'bare' : 'whole'
    this.#begun = true
    const include = worker.query.get('includeObject') ?? ''
    const form = { accepted: { ...accepted, pretty: false }, include, shape, nowMs: worker.now() } as const
    if (event.type !== 'BOOKMARK') return shownObject(endpoint, event.object, form)
    const bookmark = this.#bookmark(event.resourceVersion, event.initialEventsEnd)
    if (accepted.serialization === 'json' && accepted.transformation === undefined) return bookmark
    return shownObject(endpoint, decodeJson(bookmark, endpoint.memorySchema).object, form)
  }

  #bookmark(revision: number, initialEventsEnd: boolean): Buffer {
    const { kind } = this.#options.worker.endpoint
    const apiVersion = kind.group === '' ? kind.version : `${kind.group}/${kind.version}`
    const annotation = initialEventsEnd ? ',"annotations":{"k8s.io/initial-events-end":"true"}' : ''
    return Buffer.from(
      `{"kind":"${kind.kind}","apiVersion":"${apiVersion}","metadata":{"resourceVersion":"${revision}"${annotation}}}`,
    )
  }

  #statusOf(error: unknown): Status {
    const { groupResource } = this.#options.worker.endpoint.store
    const told = isTooOld(error) ? newExpired(TOO_OLD) : interpretStorageError(error, groupResource, '')
    if (told instanceof StatusError) return told.status
    return newInternalError(told instanceof Error ? told.message : String(told)).status
  }
}
