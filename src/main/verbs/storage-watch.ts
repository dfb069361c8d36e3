/**
 * Thread: main. A watch that memory cannot serve: a pool thread follows the storage and sends the visible events, a
 * batch at a time; here they are framed and written.
 *
 *   writing ──the socket is full──▶ parked ──drained──▶ writing        any ──client, timeout, error, storage──▶ ended
 *
 * A batch is asked for only when the one before it is written, so the events for a client that does not read stay in
 * the storage.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { type ListOptions, parseListOptions } from '../../api/list-options.js'
import { parseSelectors } from '../../api/selectors.js'
import type { Timer } from '../../lib/clock.js'
import type { EncodedResponse } from '../../protocol/main-pool.js'
import type { StorageWatchMessage, StorageWatchTaken } from '../../protocol/storage-watch.js'
import { respondEncoded } from '../http/respond-encoded.js'
import type { ResponseStream } from '../http/response-stream.js'
import { watchedRevision } from './asked-revision.js'
import type { ReadContext, ReadRequest } from './read-context.js'
import type { WatchSeries } from './read-metrics.js'
import { StallTimer } from './stall-timer.js'
import type { WatchFraming } from './watch-frames.js'
import { watchTimeoutMs } from './watch-timeout.js'

export interface StorageWatchOptions {
  readonly request: ReadRequest
  readonly context: ReadContext
  readonly framing: WatchFraming
  /**
   * Hands `port` to a pool thread, which opens the watch. Resolves with the answer for the client when the watch cannot
   * be opened.
   */
  readonly open: (port: MessagePort) => Promise<EncodedResponse | undefined>
  readonly onEnd: () => void
}

/** Opens the watch. Throws the Status for the client when the stream has not started. */
export async function startStorageWatch(options: StorageWatchOptions): Promise<StorageWatch | undefined> {
  const { request, framing } = options
  const { exchange, query, resource } = request
  const listOptions = parseListOptions(query, true)
  parseSelectors(listOptions, resource.selectableFields)
  watchedRevision(listOptions.resourceVersion)
  const { port1, port2 } = new MessageChannel()
  try {
    const refusal = await options.open(port2)
    if (refusal !== undefined) {
      port1.close()
      await respondEncoded(exchange, refusal)
      return undefined
    }
  } catch (error) {
    port1.close()
    throw error
  }
  const stream = exchange.startStream({ status: 200, contentType: framing.contentType }, framing.filler)
  if (stream === undefined) {
    port1.close()
    return undefined
  }
  const watch = new StorageWatch({ ...options, listOptions, stream, port: port1 })
  watch.start()
  return watch
}

interface RunningOptions extends StorageWatchOptions {
  readonly listOptions: ListOptions
  readonly stream: ResponseStream
  readonly port: MessagePort
}

export class StorageWatch {
  readonly #options: RunningOptions
  readonly #waiting: StorageWatchMessage[] = []
  #state: 'writing' | 'parked' | 'ended' = 'writing'
  #closed = false
  #timeout: Timer | undefined
  readonly #stall: StallTimer
  readonly #series: WatchSeries

  constructor(options: RunningOptions) {
    this.#options = options
    this.#stall = new StallTimer(options.context.clock, options.stream, options.request.exchange)
    this.#series = options.context.metrics.watches(options.request.resource)
  }

  start(): void {
    const { request, context, listOptions, stream, port } = this.#options
    this.#series.watchers.add(1)
    request.exchange.onAbort(() => this.#ended())
    stream.onDrain(() => this.#drained())
    const { exchange } = request
    this.#timeout = context.clock.after(
      watchTimeoutMs(listOptions, context),
      exchange.guard(() => this.end()),
    )
    port.on(
      'message',
      exchange.guard((message: StorageWatchMessage) => {
        this.#waiting.push(message)
        this.#write()
      }),
    )
    port.on(
      'close',
      exchange.guard(() => {
        this.#closed = true
        this.#write()
      }),
    )
    stream.idle()
  }

  end(): void {
    if (this.#state === 'ended') return
    this.#options.stream.end()
    this.#ended()
  }

  #drained(): void {
    this.#stall.stop()
    if (this.#state !== 'parked') return
    this.#series.parked.add(-1)
    this.#state = 'writing'
    this.#taken()
    this.#write()
  }

  #taken(): void {
    this.#options.port.postMessage({ type: 'taken' } satisfies StorageWatchTaken)
  }

  #write(): void {
    const { stream, framing } = this.#options
    while (this.#state === 'writing') {
      const message = this.#waiting.shift()
      if (message === undefined) break
      if (message.type === 'error') {
        stream.write(framing.error(message.status))
        this.end()
        break
      }
      const frames = message.events.map(({ type, object }) => framing.frame(type, object))
      for (const { byteLength } of frames) this.#series.sent(byteLength, 1)
      if (stream.writeAll(frames)) this.#taken()
      else if (this.#state === 'writing') {
        this.#state = 'parked'
        this.#series.parked.add(1)
        this.#stall.start()
      }
    }
    if (this.#closed && this.#waiting.length === 0) this.end()
  }

  #ended(): void {
    if (this.#state === 'ended') return
    if (this.#state === 'parked') this.#series.parked.add(-1)
    this.#series.watchers.add(-1)
    this.#state = 'ended'
    this.#timeout?.cancel()
    this.#stall.stop()
    this.#options.port.close()
    this.#options.onEnd()
  }
}
