/**
 * Thread: any. Spans as the message that collectors take: ExportTraceServiceRequest of OTLP, in protobuf. Numbers in calls are
 * those of its fields; it is written from its end to its beginning.
 */
import { BackwardWriter } from '../api/protobuf/backward-writer.js'
import type { SpanAttributes, SpanRecord } from './span.js'

const WIRE_VARINT = 0
const WIRE_FIXED64 = 1
const WIRE_BYTES = 2
/** The code of a Status that says that an operation failed. */
const STATUS_ERROR = 2
const NS_PER_MS = 1_000_000n

/** Longer values are cut: a path or a message is as long as its sender likes. */
const MAX_VALUE_LENGTH = 1024

export class OtlpEncoder {
  readonly #writer = new BackwardWriter()
  readonly #resource: SpanAttributes
  readonly #scope: string

  /** `resource`: what is said of the process once for all spans; `scope`: who made them. */
  constructor(resource: SpanAttributes, scope: string) {
    this.#resource = resource
    this.#scope = scope
  }

  encode(spans: readonly SpanRecord[]): Buffer {
    const writer = this.#writer
    this.#message(1, () => {
      this.#message(2, () => {
        for (let i = spans.length - 1; i >= 0; i--) this.#span(2, spans[i]!)
        this.#message(1, () => this.#text(1, this.#scope))
      })
      this.#message(1, () => this.#attributes(1, this.#resource))
    })
    return writer.take()
  }

  #span(field: number, span: SpanRecord): void {
    const { context, parentSpanId, link, name, kind, startMs, endMs, attributes, error } = span
    this.#message(field, () => {
      if (error !== undefined)
        this.#message(15, () => {
          this.#number(3, STATUS_ERROR)
          this.#text(2, error)
        })
      if (link !== undefined)
        this.#message(13, () => {
          this.#id(2, link.spanId)
          this.#id(1, link.traceId)
        })
      this.#attributes(9, attributes)
      this.#time(8, endMs)
      this.#time(7, startMs)
      this.#number(6, kind)
      this.#text(5, name)
      if (parentSpanId !== '') this.#id(4, parentSpanId)
      this.#id(2, context.spanId)
      this.#id(1, context.traceId)
    })
  }

  #attributes(field: number, attributes: SpanAttributes): void {
    for (const [key, value] of Object.entries(attributes).reverse())
      this.#message(field, () => {
        this.#message(2, () => {
          if (typeof value === 'string') this.#text(1, value)
          else if (typeof value === 'boolean') this.#number(2, value ? 1 : 0)
          else {
            this.#writer.int64(Math.round(value))
            this.#tag(3, WIRE_VARINT)
          }
        })
        this.#text(1, key)
      })
  }

  #message(field: number, write: () => void): void {
    const before = this.#writer.length
    write()
    this.#writer.varint(this.#writer.length - before)
    this.#tag(field, WIRE_BYTES)
  }

  #text(field: number, text: string): void {
    this.#writer.string(text.length > MAX_VALUE_LENGTH ? text.slice(0, MAX_VALUE_LENGTH) : text)
    this.#tag(field, WIRE_BYTES)
  }

  #id(field: number, hex: string): void {
    const bytes = Buffer.from(hex, 'hex')
    this.#writer.bytes(bytes)
    this.#writer.varint(bytes.length)
    this.#tag(field, WIRE_BYTES)
  }

  /** Nanoseconds since the epoch, in eight bytes. */
  #time(field: number, ms: number): void {
    const bytes = Buffer.allocUnsafe(8)
    const whole = Math.floor(ms)
    bytes.writeBigUInt64LE(BigInt(whole) * NS_PER_MS + BigInt(Math.floor((ms - whole) * 1e6)))
    this.#writer.bytes(bytes)
    this.#tag(field, WIRE_FIXED64)
  }

  #number(field: number, value: number): void {
    this.#writer.varint(value)
    this.#tag(field, WIRE_VARINT)
  }

  #tag(field: number, wire: number): void {
    this.#writer.varint(field * 8 + wire)
  }
}
