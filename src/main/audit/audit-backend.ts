/** Thread: audit. Where events go: a log or a webhook, at once or in batches. */
import type { Clock, Timer } from '../../lib/clock.js'
import type { AuditBatchConfig } from '../../protocol/main-audit.js'
import { eventText, type ReadEvent, truncated } from './event-text.js'

/** Takes a batch of events out of the process. Throws when it cannot. */
export interface AuditBackend {
  readonly name: string
  write(events: readonly ReadEvent[]): Promise<void> | void
  close(): Promise<void> | void
}

export interface BackendQueueOptions {
  readonly backend: AuditBackend
  readonly config: AuditBatchConfig
  readonly clock: Clock
  /** Is told of events that were never written. */
  readonly onLost: (events: number, why: unknown) => void
}

/** Stands before a backend: in `batch` mode as a buffer, in the other modes for truncation alone. */
export class BackendQueue {
  readonly #options: BackendQueueOptions
  readonly #waiting: ReadEvent[] = []
  readonly #underWay = new Set<Promise<void>>()
  #timer: Timer | undefined
  #tokens: number
  #tokensAtMs: number

  constructor(options: BackendQueueOptions) {
    this.#options = options
    this.#tokens = options.config.throttleBurst
    this.#tokensAtMs = options.clock.monotonicMs()
  }

  get strict(): boolean {
    return this.#options.config.mode === 'blocking-strict'
  }

  /** Resolves when the events are written (blocking modes) or wait (batch). False when some are lost. */
  async add(events: readonly ReadEvent[]): Promise<boolean> {
    const { config, onLost } = this.#options
    const fitting = config.truncate ? this.#truncated(events) : events
    if (config.mode !== 'batch') return (await this.#send(fitting)) && fitting.length === events.length
    const room = Math.max(0, config.bufferSize - this.#waiting.length)
    this.#waiting.push(...fitting.slice(0, room))
    if (fitting.length > room) onLost(fitting.length - room, new Error('the buffer is full'))
    this.#sendDue(false)
    return fitting.length <= room
  }

  async close(): Promise<void> {
    this.#timer?.cancel()
    this.#sendDue(true)
    await Promise.all(this.#underWay)
    await this.#options.backend.close()
  }

  #truncated(events: readonly ReadEvent[]): ReadEvent[] {
    const { config, onLost } = this.#options
    return events.flatMap((event) => {
      const short = truncated(event, config.maxEventBytes)
      if (short === undefined) onLost(1, new Error('the event is too large even without its bodies'))
      return short === undefined ? [] : [short]
    })
  }

  #sendDue(all: boolean): void {
    const { config, clock } = this.#options
    while (this.#waiting.length >= config.maxSize || (all && this.#waiting.length > 0)) {
      const waitMs = all ? 0 : this.#takeToken()
      if (waitMs > 0) {
        this.#again(waitMs)
        return
      }
      this.#start(this.#waiting.splice(0, config.maxSize))
    }
    if (this.#waiting.length === 0) {
      this.#timer?.cancel()
      this.#timer = undefined
    } else
      this.#timer ??= clock.after(config.maxWaitMs, () => {
        this.#timer = undefined
        const waitMs = this.#takeToken()
        if (waitMs > 0) this.#again(waitMs)
        else this.#start(this.#waiting.splice(0, config.maxSize))
        this.#sendDue(false)
      })
  }

  #again(waitMs: number): void {
    this.#timer?.cancel()
    this.#timer = this.#options.clock.after(waitMs, () => {
      this.#timer = undefined
      this.#sendDue(false)
    })
  }

  /** How long until the next batch may go; 0 when it may, and has taken its token. */
  #takeToken(): number {
    const { throttle, throttleQps, throttleBurst } = this.#options.config
    if (!throttle) return 0
    const now = this.#options.clock.monotonicMs()
    this.#tokens = Math.min(throttleBurst, this.#tokens + ((now - this.#tokensAtMs) / 1000) * throttleQps)
    this.#tokensAtMs = now
    if (this.#tokens < 1) return Math.ceil(((1 - this.#tokens) / throttleQps) * 1000)
    this.#tokens--
    return 0
  }

  #start(batch: readonly ReadEvent[]): void {
    if (batch.length === 0) return
    const sending = this.#send(batch).then(() => void this.#underWay.delete(sending))
    this.#underWay.add(sending)
  }

  async #send(batch: readonly ReadEvent[]): Promise<boolean> {
    try {
      for (const part of this.#parts(batch)) await this.#options.backend.write(part)
      return true
    } catch (error) {
      this.#options.onLost(batch.length, error)
      return false
    }
  }

  /** Splits a batch into parts of at most so many bytes. */
  *#parts(batch: readonly ReadEvent[]): Iterable<readonly ReadEvent[]> {
    const { truncate, maxBatchBytes } = this.#options.config
    if (!truncate) {
      yield batch
      return
    }
    let part: ReadEvent[] = []
    let bytes = 0
    for (const event of batch) {
      const size = Buffer.byteLength(eventText(event))
      if (part.length > 0 && bytes + size > maxBatchBytes) {
        yield part
        part = []
        bytes = 0
      }
      part.push(event)
      bytes += size
    }
    if (part.length > 0) yield part
  }
}
