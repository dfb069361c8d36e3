/**
 * Thread: any. Spans on their way to the collector: they wait for others to go with, at most BATCH_MS, and at most MAX_WAITING of
 * them; more are dropped and counted. One batch is under way at a time. After a failure nothing is sent for a while, longer from time
 * to time: a collector that is away costs a full queue and a failed connection a minute.
 *
 *   idle ──a span──▶ waiting ──a full batch, or time──▶ sending ──taken──▶ idle or waiting
 *                       ▲                                  └──failed──▶ pausing ──time──▶ waiting
 */
import type { Clock, Timer } from '../lib/clock.js'
import { backoff, type Random } from '../lib/jitter.js'
import type { SpanRecord } from './span.js'

/** The numbers are those of OpenTelemetry's batch processor. */
const BATCH_SPANS = 512
const BATCH_MS = 5_000
const MAX_WAITING = 2_048
const SEND_TIMEOUT_MS = 10_000
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000
/** How long an end waits for the last spans to be taken. */
const LAST_SEND_MS = 1_000

export interface SpanQueueOptions {
  /** Sends a batch; rejects when the collector did not take it. */
  readonly send: (spans: readonly SpanRecord[], timeoutMs: number) => Promise<void>
  readonly clock: Clock
  readonly random: Random
  /** Counts what became of spans. */
  readonly onOutcome: (outcome: 'sent' | 'dropped' | 'failed', spans: number) => void
  /** Told once for each time that the collector goes away. */
  readonly onAway: (error: unknown) => void
}

export class SpanQueue {
  readonly #options: SpanQueueOptions
  #waiting: SpanRecord[] = []
  #timer: Timer | undefined
  #sending: Promise<void> | undefined
  /** Failures since the last batch that was taken. */
  #failures = 0
  #isPausing = false

  constructor(options: SpanQueueOptions) {
    this.#options = options
  }

  readonly add = (span: SpanRecord): void => {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#options.onOutcome('dropped', 1)
      return
    }
    this.#waiting.push(span)
    if (this.#isPausing || this.#sending !== undefined) return
    if (this.#waiting.length >= BATCH_SPANS) this.#send()
    else this.#timer ??= this.#options.clock.after(BATCH_MS, () => this.#send())
  }

  /** Sends what waits, once, and does not wait for it for long. */
  async stop(): Promise<void> {
    this.#timer?.cancel()
    await this.#sending
    while (this.#waiting.length > 0 && this.#failures === 0) await this.#sendBatch(LAST_SEND_MS)
    this.#options.onOutcome('dropped', this.#waiting.splice(0).length)
    this.#timer?.cancel()
  }

  #send(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#isPausing = false
    this.#sending = this.#sendBatch(SEND_TIMEOUT_MS).then(() => {
      this.#sending = undefined
      this.#next()
    })
  }

  #next(): void {
    const { clock, random } = this.#options
    if (this.#failures > 0) {
      this.#isPausing = true
      const pauseMs = backoff(this.#failures - 1, FIRST_PAUSE_MS, LONGEST_PAUSE_MS, random)
      this.#timer = clock.after(pauseMs, () => this.#resume())
    } else if (this.#waiting.length >= BATCH_SPANS) this.#send()
    else if (this.#waiting.length > 0) this.#timer = clock.after(BATCH_MS, () => this.#send())
  }

  #resume(): void {
    this.#timer = undefined
    this.#isPausing = false
    if (this.#waiting.length > 0) this.#send()
  }

  async #sendBatch(timeoutMs: number): Promise<void> {
    const batch = this.#waiting.splice(0, BATCH_SPANS)
    const { send, onOutcome, onAway } = this.#options
    try {
      await send(batch, timeoutMs)
      this.#failures = 0
      onOutcome('sent', batch.length)
    } catch (error) {
      this.#failures++
      onOutcome('failed', batch.length)
      if (this.#failures === 1) onAway(error)
    }
  }
}
