/**
 * Thread: main. An HTTP request and its answer passed on as they come, in both directions no faster than the other side
 * takes them.
 */
import type { ClientRequest, IncomingMessage } from 'node:http'
import { pipeline, type Readable, type Transform } from 'node:stream'
import { headerText } from '../../lib/header-text.js'
import type { Exchange } from '../http/exchange.js'
import type { StreamFiller } from '../http/response-stream.js'
import { limitInformation } from './upstream-request.js'

/** Headers that belong to one connection, and are not passed back. */
const NOT_PASSED_BACK: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Answers of these statuses have no body: Node's HTTP/2 ends them with their head. */
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** The answer to a request that was sent. Rejects when the other side cannot be reached. */
export function answerTo(request: ClientRequest, exchange: Exchange): Promise<IncomingMessage> {
  exchange.onAbort(() => request.destroy())
  return new Promise((resolve, reject) => {
    limitInformation(request, reject)
    request.once('response', resolve)
    // A 101 that nobody asked for is no answer, and Node waits for nothing after it: the connection is of no use.
    request.once('upgrade', (_response, socket) => {
      socket.destroy()
      reject(new Error('the other side switched protocols without being asked to'))
    })
    // An error may also come after the answer has begun: then the answer's stream fails too.
    request.on('error', reject)
  })
}

export const hasBody = (exchange: Exchange): boolean => exchange.head.mayHaveBody()

/**
 * The header by which the other side finds the end of a body whose length is not stated. Node adds none with methods
 * that seldom have a body.
 */
export const bodyFraming = (exchange: Exchange): Record<string, string> =>
  exchange.header('transfer-encoding') !== '' || (hasBody(exchange) && exchange.head.contentLength === '')
    ? { 'transfer-encoding': 'chunked' }
    : {}

export function sendBody(request: ClientRequest, exchange: Exchange): void {
  const stream = exchange.bodyStream()
  request.on(
    'drain',
    exchange.guard(() => stream.resume()),
  )
  request.on(
    'error',
    exchange.guard(() => stream.discard()),
  )
  stream.readTo({
    write: (chunk) => request.write(chunk),
    end: () => request.end(),
    gone: () => request.destroy(),
  })
}

export interface RelayOptions {
  /** The content type, instead of the other side's, which may say nothing. */
  readonly contentType?: string
  /** Changes a header of the answer; undefined leaves it out. */
  rewrite?(name: string, value: string): string | undefined
  /** The answer refuses an upgrade: it is sent in HTTP, whatever was asked for. */
  readonly refusal?: boolean
  /** Sent when the body lets itself be waited for, so that the client has the head meanwhile. */
  readonly filler?: StreamFiller | undefined
  /** The streams that the body goes through. */
  readonly through?: readonly Transform[] | undefined
}

/** Writes the answer out. When one side breaks, the other is broken off: nobody takes a part for the whole. */
export function relayAnswer(answer: IncomingMessage, exchange: Exchange, options: RelayOptions = {}): void {
  const status = answer.statusCode ?? 502
  if (status < 200 || status > 599) {
    answer.destroy()
    exchange.respond({ status: 502, contentType: 'text/plain' }, `the other side answered with status ${status}\n`)
    return
  }
  const headers: string[] = []
  for (let i = 0; i + 1 < answer.rawHeaders.length; i += 2) {
    const [name, value] = [answer.rawHeaders[i]!, headerText(answer.rawHeaders[i + 1]!)]
    if (NOT_PASSED_BACK.has(name.toLowerCase())) continue
    const shown = options.rewrite === undefined ? value : options.rewrite(name.toLowerCase(), value)
    if (shown !== undefined) headers.push(name, shown)
  }
  const head = { status, contentType: options.contentType ?? headerText(answer.headers['content-type'] ?? ''), headers }
  if (exchange.head.method === 'HEAD' || WITHOUT_BODY.has(status)) {
    answer.resume()
    exchange.respond(head, '')
    return
  }
  const stream = options.refusal === true ? exchange.startPlainStream(head) : exchange.startStream(head, options.filler)
  if (stream === undefined) {
    answer.destroy()
    return
  }
  const body = bodyOf(answer, options.through)
  stream.onDrain(() => body.resume())
  body.on(
    'data',
    exchange.guard((chunk: Buffer) => {
      if (!stream.write(chunk)) body.pause()
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
  // What came with the head is given out first.
  if (options.filler !== undefined) setImmediate(exchange.guard(() => stream.idle()))
}

function bodyOf(answer: IncomingMessage, through: readonly Transform[] = []): Readable {
  if (through.length === 0) return answer
  // A failure of one stream ends the last one too, where it is heard.
  return pipeline([answer, ...through], () => undefined) as unknown as Readable
}

/** Reads the beginning of an answer as text: an error's. */
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
