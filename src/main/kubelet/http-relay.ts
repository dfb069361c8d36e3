/**
 * Thread: main. An HTTP request and its answer passed on as they come, in both directions no faster than the other side
 * takes them.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import { pipeline, type Readable, type Transform } from 'node:stream'
import type { Exchange } from '../http/exchange.js'

/** Of one connection; the others are the client's. */
const NOT_PASSED_BACK: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'keep-alive',
  'proxy-connection',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** The answer, when there is one. Rejects when the other side cannot be reached. */
export function answerTo(request: ClientRequest, exchange: Exchange): Promise<IncomingMessage> {
  exchange.onAbort(() => request.destroy())
  return new Promise((resolve, reject) => {
    request.once('response', resolve)
    // A 101 that nobody asked for is no answer, and Node waits for nothing after it: the connection is of no use.
    request.once('upgrade', (_response, socket) => {
      socket.destroy()
      reject(new Error('the other side switched protocols without being asked to'))
    })
    // Also after the answer has begun: then its stream fails too.
    request.on('error', reject)
  })
}

export function sendBody(request: ClientRequest, exchange: Exchange): void {
  const stream = exchange.bodyStream()
  request.on('drain', () => stream.resume())
  request.on('error', () => stream.discard())
  stream.readTo({
    write: (chunk) => request.write(chunk),
    end: () => request.end(),
    gone: () => request.destroy(),
  })
}

export interface RelayOptions {
  /** Instead of the other side's, which may say nothing. */
  readonly contentType?: string
  /** Changes a header of the answer; undefined: it is left out. */
  rewrite?(name: string, value: string): string | undefined
  /** Of an upgrade: it is answered in HTTP, whatever was asked for. */
  readonly refusal?: boolean
  /** What the body goes through. */
  readonly through?: readonly Transform[] | undefined
}

/** Writes the answer out. What breaks on one side is broken off on the other: nobody takes a part for the whole. */
export function relayAnswer(answer: IncomingMessage, exchange: Exchange, options: RelayOptions = {}): void {
  const status = answer.statusCode ?? 502
  const headers: string[] = []
  for (let i = 0; i + 1 < answer.rawHeaders.length; i += 2) {
    const [name, value] = [answer.rawHeaders[i]!, answer.rawHeaders[i + 1]!]
    if (NOT_PASSED_BACK.has(name.toLowerCase())) continue
    const shown = options.rewrite === undefined ? value : options.rewrite(name.toLowerCase(), value)
    if (shown !== undefined) headers.push(name, shown)
  }
  const head = { status, contentType: options.contentType ?? answer.headers['content-type'] ?? '', headers }
  if (exchange.head.method === 'HEAD' || status === 204 || status === 304) {
    answer.resume()
    exchange.respond(head, '')
    return
  }
  const stream = options.refusal === true ? exchange.startPlainStream(head) : exchange.startStream(head)
  if (stream === undefined) {
    answer.destroy()
    return
  }
  const body = bodyOf(answer, options.through)
  stream.onDrain(() => body.resume())
  body.on(
    'data',
    exchange.guard((chunk: Buffer) => {
      let open = true
      stream.cork(() => {
        open = stream.write(chunk)
      })
      if (!open) body.pause()
    }),
  )
  body.once(
    'end',
    exchange.guard(() => stream.end()),
  )
  body.once(
    'error',
    exchange.guard(() => exchange.breakOff()),
  )
  exchange.onAbort(() => answer.destroy())
}

function bodyOf(answer: IncomingMessage, through: readonly Transform[] = []): Readable {
  if (through.length === 0) return answer
  // What fails in one of them fails in the last one too, and there it is heard.
  return pipeline([answer, ...through], () => undefined) as unknown as Readable
}

/** The beginning of an answer that is only looked at: an error's text. */
export function readText(answer: IncomingMessage, limitBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    answer.on('data', (chunk: Buffer) => {
      if (size < limitBytes) chunks.push(chunk)
      size += chunk.byteLength
    })
    answer.once('end', () => resolve(Buffer.concat(chunks).toString('utf8').slice(0, limitBytes)))
    answer.once('error', reject)
  })
}
