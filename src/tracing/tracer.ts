/**
 * Thread: any. Makes the spans of a thread. Whether a trace is recorded is decided once, where it begins; spans below are made
 * only when it is. Within the pool the span of the moment follows the work through its promises (AsyncLocalStorage), so that a
 * call to the storage or to a webhook finds what it is a part of without being told. A server that traces nothing has no Tracer.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import type { TraceContext } from '../api/trace-context.js'
import { Span, type SpanAttributes, SpanKind, type SpanRecord, type SpanStart, type SpanTimes } from './span.js'

export interface TracerOptions {
  /** The part of traces that is recorded, of those that begin here: 0 to 1. */
  readonly samplingRate: number
  readonly times: SpanTimes
  readonly onSpan: (record: SpanRecord) => void
  readonly randomBytes?: (count: number) => Buffer
}

export interface SpanOptions {
  readonly kind?: SpanKind
  readonly attributes?: SpanAttributes
}

/** Ids have so many bytes, and 48 bits of a trace's id decide whether it is recorded: the same ones in every server. */
const TRACE_BYTES = 16
const SPAN_BYTES = 8
const DECIDING_BYTES = 6

export class Tracer {
  readonly #options: TracerOptions
  readonly #randomBytes: (count: number) => Buffer
  readonly #active = new AsyncLocalStorage<Span>()

  constructor(options: TracerOptions) {
    this.#options = options
    this.#randomBytes = options.randomBytes ?? randomBytes
  }

  /**
   * The first span here of a request. A client that is believed (`isTrusted`) says whether its trace is recorded; of
   * others the span begins a trace of its own, and names theirs. Undefined when the trace is not recorded.
   */
  request(
    name: string,
    from: { readonly context: TraceContext | undefined; readonly isTrusted: boolean },
    attributes: SpanAttributes,
  ): Span | undefined {
    const { context, isTrusted } = from
    const kind = SpanKind.server
    if (context !== undefined && isTrusted)
      return context.isSampled
        ? this.#span({
            context: this.#below(context),
            parentSpanId: context.spanId,
            link: undefined,
            name,
            kind,
            attributes,
          })
        : undefined
    const trace = this.#randomBytes(TRACE_BYTES)
    const { samplingRate } = this.#options
    if (trace.readUIntBE(TRACE_BYTES - DECIDING_BYTES, DECIDING_BYTES) >= samplingRate * 2 ** (8 * DECIDING_BYTES))
      return undefined
    const own = { traceId: trace.toString('hex'), spanId: this.#spanId(), isSampled: true }
    return this.#span({ context: own, parentSpanId: '', link: context, name, kind, attributes })
  }

  /** A span below another one, of this thread or of the one that the work came from. */
  below(parent: TraceContext, name: string, { kind = SpanKind.internal, attributes = {} }: SpanOptions = {}): Span {
    return this.#span({
      context: this.#below(parent),
      parentSpanId: parent.spanId,
      link: undefined,
      name,
      kind,
      attributes,
    })
  }

  /** Does the work as a part of the span, which ends with it. */
  async within<T>(span: Span, work: () => Promise<T>): Promise<T> {
    try {
      const result = await this.#active.run(span, work)
      span.end()
      return result
    } catch (error) {
      span.end({}, error instanceof Error ? error.message : String(error))
      throw error
    }
  }

  /** Does the work in a span below that of the moment; without one there is no span. */
  step<T>(name: string, options: SpanOptions, work: (span: Span | undefined) => Promise<T>): Promise<T> {
    const parent = this.#active.getStore()
    if (parent === undefined) return work(undefined)
    const span = this.below(parent.context, name, options)
    return this.within(span, () => work(span))
  }

  #span(start: SpanStart): Span {
    return new Span(start, this.#options.times, this.#options.onSpan)
  }

  #below({ traceId }: TraceContext): TraceContext {
    return { traceId, spanId: this.#spanId(), isSampled: true }
  }

  #spanId(): string {
    return this.#randomBytes(SPAN_BYTES).toString('hex')
  }
}
