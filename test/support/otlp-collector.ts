import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'

/** A span as the collector has read it. */
export interface CollectedSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly name: string
  readonly kind: number
  readonly startNs: bigint
  readonly endNs: bigint
  readonly attributes: Readonly<Record<string, string | bigint | boolean>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly status: { readonly code: number; readonly message: string }
  readonly resource: Readonly<Record<string, string | bigint | boolean>>
}

const EXPORT = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'

/** A collector of traces: OTLP over gRPC, with a reader of its own for the messages. */
export class OtlpCollector {
  readonly spans: CollectedSpan[] = []
  batches = 0
  /** The status that calls are answered with; 0 is success. */
  grpcStatus = 0
  readonly #server: Http2Server
  readonly #sessions = new Set<ServerHttp2Session>()

  private constructor(server: Http2Server) {
    this.#server = server
    server.on('session', (session) => {
      this.#sessions.add(session)
      session.on('close', () => this.#sessions.delete(session))
    })
    server.on('stream', (stream, headers) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => this.#take(stream, String(headers[':path']), Buffer.concat(chunks)))
    })
  }

  static async start(port = 0): Promise<OtlpCollector> {
    const server = createServer()
    const collector = new OtlpCollector(server)
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    return collector
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) session.destroy()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  #take(stream: ServerHttp2Stream, path: string, body: Buffer): void {
    if (path !== EXPORT || body[0] !== 0 || body.readUInt32BE(1) !== body.length - 5) {
      stream.respond({ ':status': 400 }, { endStream: true })
      return
    }
    this.batches++
    if (this.grpcStatus === 0) this.spans.push(...spansOf(body.subarray(5)))
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(this.grpcStatus) }))
    stream.end(Buffer.alloc(5))
  }
}

type Fields = Map<number, (bigint | Buffer)[]>

function fieldsOf(bytes: Buffer): Fields {
  const fields: Fields = new Map()
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]!
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const wire = tag & 7
    let value: bigint | Buffer
    if (wire === 0) value = varint()
    else if (wire === 1) {
      value = bytes.readBigUInt64LE(at)
      at += 8
    } else if (wire === 2) {
      const length = Number(varint())
      value = bytes.subarray(at, at + length)
      at += length
    } else throw new Error(`no wire type of ours: ${wire}`)
    fields.set(tag >> 3, [...(fields.get(tag >> 3) ?? []), value])
  }
  return fields
}

const messages = (fields: Fields, number: number): Fields[] =>
  (fields.get(number) ?? []).map((one) => fieldsOf(one as Buffer))
const bytes = (fields: Fields, number: number): Buffer =>
  (fields.get(number)?.[0] as Buffer | undefined) ?? Buffer.alloc(0)
const text = (fields: Fields, number: number): string => bytes(fields, number).toString()
const hex = (fields: Fields, number: number): string => bytes(fields, number).toString('hex')
const number = (fields: Fields, field: number): bigint => (fields.get(field)?.[0] as bigint | undefined) ?? 0n

function attributesOf(fields: Fields, field: number): Record<string, string | bigint | boolean> {
  return Object.fromEntries(
    messages(fields, field).map((pair) => {
      const [value = new Map()] = messages(pair, 2)
      if (value.has(1)) return [text(pair, 1), text(value, 1)]
      return [text(pair, 1), value.has(2) ? number(value, 2) === 1n : BigInt.asIntN(64, number(value, 3))]
    }),
  )
}

function spansOf(body: Buffer): CollectedSpan[] {
  return messages(fieldsOf(body), 1).flatMap((resourceSpans) => {
    const resource = attributesOf(messages(resourceSpans, 1)[0]!, 1)
    return messages(resourceSpans, 2).flatMap((scope) =>
      messages(scope, 2).map((span) => ({
        traceId: hex(span, 1),
        spanId: hex(span, 2),
        parentSpanId: hex(span, 4),
        name: text(span, 5),
        kind: Number(number(span, 6)),
        startNs: number(span, 7),
        endNs: number(span, 8),
        attributes: attributesOf(span, 9),
        links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
        status: messages(span, 15).map((status) => ({
          code: Number(number(status, 3)),
          message: text(status, 2),
        }))[0] ?? {
          code: 0,
          message: '',
        },
        resource,
      })),
    )
  })
}
