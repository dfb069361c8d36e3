/** Thread: any. A span: one operation of a trace, from its beginning to its end. It is handed on when it ends. */
import type { TraceContext } from '../api/trace-context.js'

/** The numbers are OTLP's. */
export const SpanKind = { internal: 1, server: 2, client: 3 } as const
export type SpanKind = (typeof SpanKind)[keyof typeof SpanKind]

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** A span that has ended. */
export interface SpanRecord {
  readonly context: TraceContext
  /** The span that it is a part of; '' for the first one of a trace. */
  readonly parentSpanId: string
  /** The span of a client that is not believed: it is told and nothing more. */
  readonly link: TraceContext | undefined
  readonly name: string
  readonly kind: SpanKind
  /** Wall time in milliseconds. */
  readonly startMs: number
  readonly endMs: number
  readonly attributes: SpanAttributes
  /** Why the operation failed; undefined when it did not. */
  readonly error: string | undefined
}

export type SpanStart = Omit<SpanRecord, 'endMs' | 'error' | 'startMs'>

/** Times of one span are measured by the clock that never goes back, from the wall time of its beginning on. */
export interface SpanTimes {
  now(): number
  monotonicMs(): number
}

export class Span {
  readonly #start: SpanStart
  readonly #startMs: number
  readonly #startedMs: number
  readonly #times: SpanTimes
  readonly #onEnd: (record: SpanRecord) => void
  #isOver = false

  constructor(start: SpanStart, times: SpanTimes, onEnd: (record: SpanRecord) => void) {
    this.#start = start
    this.#times = times
    this.#onEnd = onEnd
    this.#startMs = times.now()
    this.#startedMs = times.monotonicMs()
  }

  get context(): TraceContext {
    return this.#start.context
  }

  /** Hands the span on; further calls do nothing. */
  end(attributes: SpanAttributes = {}, error?: string): void {
    if (this.#isOver) return
    this.#isOver = true
    const endMs = this.#startMs + (this.#times.monotonicMs() - this.#startedMs)
    const all = { ...this.#start.attributes, ...attributes }
    this.#onEnd({ ...this.#start, startMs: this.#startMs, endMs, attributes: all, error })
  }
}
