/**
 * Thread: any. The client's end of one HTTP/2 connection, as much of it as gRPC needs: requests with constant headers,
 * flow control both ways, pings, GOAWAY. node:http2 can do all of this and costs four times as much a call (adr/0019).
 *
 * What is written in a turn of the event loop goes to the socket together.
 */
import net from 'node:net'
import tls from 'node:tls'
import type { TlsOptions } from '../tls-options.js'
import {
  content,
  DEFAULT_WINDOW_BYTES,
  ErrorCode,
  Flag,
  type Frame,
  FrameReader,
  FrameType,
  frame,
  HEADER_BYTES,
  MAX_FRAME_BYTES,
  rstStream,
  Setting,
  settings,
  settingsAck,
  windowUpdate,
  writeFrameHeader,
} from './frames.js'
import { HeaderReader, type Headers, HpackError } from './hpack.js'
import { Http2Stream, type StreamCarrier, type StreamHandlers } from './stream.js'

export interface Http2ConnectionOptions {
  readonly url: string
  readonly tls?: TlsOptions | undefined
  /** A connection that leads to the server already; without it one is made. */
  readonly socket?: net.Socket | undefined
  /** The most bytes that a stream holds when nobody reads it. */
  readonly streamWindowBytes: number
  readonly connectionWindowBytes: number
  /** Called when the server's SETTINGS have come. */
  readonly onReady: () => void
  readonly onGoAway: (code: number) => void
  /** The number of the first stream, an odd one; for tests of what happens at the end of the numbers. */
  readonly firstStream?: number
  /** Called once, when the socket is gone. */
  readonly onClose: (error: Error) => void
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
/** The last number of a stream, reached after 2^30 calls: at some 4,000 calls a second that is three days. */
const LAST_STREAM = 2 ** 31 - 1
/** So many numbers before the end the connection takes no new calls; those under way are finished on it. */
const RESERVED_STREAMS = 2 ** 16
/** A longer block of headers cannot be etcd's. */
const MAX_HEADER_BLOCK_BYTES = 256 * 1024
/** Above this size putting pieces together costs more than the system call it saves. */
const JOIN_BYTES = 64 * 1024

export class Http2Connection implements StreamCarrier {
  readonly #options: Http2ConnectionOptions
  readonly #socket: net.Socket
  readonly #reader = new FrameReader()
  readonly #headers = new HeaderReader()
  readonly #streams = new Map<number, Http2Stream>()
  /** Streams that wait until the server allows one more. */
  #waiting: Http2Stream[] = []
  /** Streams that have more to send than flow control lets them. */
  readonly #blocked = new Set<Http2Stream>()
  readonly #pings: (() => void)[] = []
  #out: Buffer[] = []
  #nextStream: number
  #wearingOut = false
  #sendWindow = DEFAULT_WINDOW_BYTES
  #initialWindow = DEFAULT_WINDOW_BYTES
  #maxFrame = MAX_FRAME_BYTES
  #maxStreams = Number.POSITIVE_INFINITY
  #uncredited = 0
  #ready = false
  #closed = false
  /** A block of headers that goes on in the next frame. */
  #partial: { readonly stream: number; readonly isLast: boolean; readonly blocks: Buffer[]; bytes: number } | undefined

  constructor(options: Http2ConnectionOptions) {
    this.#options = options
    this.#nextStream = options.firstStream ?? 1
    this.#socket = connectSocket(options)
    if (this.#socket.connecting || options.url.startsWith('https:'))
      this.#socket.once(isTls(this.#socket) ? 'secureConnect' : 'connect', () => this.#attempt(() => this.#begin()))
    else process.nextTick(() => this.#attempt(() => this.#begin()))
    this.#socket.on('data', (chunk: Buffer) => this.#attempt(() => this.#receive(chunk)))
    this.#socket.on('error', (error) => this.destroy(error))
    this.#socket.on('close', () => this.destroy(new Error('the connection was closed')))
  }

  get closed(): boolean {
    return this.#closed
  }

  request(headerBlock: Buffer, handlers: StreamHandlers): Http2Stream {
    const stream = new Http2Stream(headerBlock, this, handlers)
    if (this.#ready && this.#streams.size < this.#maxStreams) this.#open(stream)
    else this.#waiting.push(stream)
    return stream
  }

  /** `answered` is called when the server has answered, and never when the connection is lost. */
  ping(answered: () => void): void {
    this.#pings.push(answered)
    this.#send(frame(FrameType.ping, 0, 0, Buffer.alloc(8)))
  }

  destroy(error: Error): void {
    if (this.#closed) return
    this.#closed = true
    this.#socket.destroy()
    let failure: unknown
    // Every stream is told, also when the handler of one throws.
    for (const stream of [...this.#streams.values(), ...this.#waiting]) {
      try {
        stream.finish(error)
      } catch (thrown) {
        failure ??= thrown
      }
    }
    this.#options.onClose(failure instanceof Error ? failure : error)
  }

  // StreamCarrier: the methods that streams call.

  wants(stream: Http2Stream): void {
    if (stream.id !== 0) this.#sendFrom(stream)
  }

  consumed(stream: Http2Stream, bytes: number): void {
    stream.uncredited += bytes
    if (stream.uncredited < this.#options.streamWindowBytes / 2) return
    this.#send(windowUpdate(stream.id, stream.uncredited))
    stream.uncredited = 0
  }

  reset(stream: Http2Stream, code: number): void {
    this.#send(rstStream(stream.id, code))
  }

  forget(stream: Http2Stream): void {
    this.#blocked.delete(stream)
    if (stream.id === 0) this.#waiting = this.#waiting.filter((other) => other !== stream)
    else this.#streams.delete(stream.id)
    if (!this.#closed) this.#admit()
  }

  // Sending.

  #begin(): void {
    if (this.#closed) return
    if (isTls(this.#socket) && this.#socket.alpnProtocol !== 'h2') {
      this.destroy(new Error('the server does not speak HTTP/2'))
      return
    }
    const { streamWindowBytes, connectionWindowBytes } = this.#options
    this.#socket.setNoDelay(true)
    this.#send(PREFACE)
    this.#send(
      settings([
        [Setting.headerTableSize, 0],
        [Setting.enablePush, 0],
        [Setting.initialWindowSize, streamWindowBytes],
      ]),
    )
    this.#send(windowUpdate(0, connectionWindowBytes - DEFAULT_WINDOW_BYTES))
  }

  #send(bytes: Buffer): void {
    if (this.#closed) return
    // Flushed at the end of the turn, so that all who send in it share the system call.
    if (this.#out.push(bytes) === 1) setImmediate(() => this.#attempt(() => this.#flush()))
  }

  #flush(): void {
    if (this.#closed) return
    const out = this.#out
    this.#out = []
    const total = out.reduce((sum, { length }) => sum + length, 0)
    if (out.length === 1 || total <= JOIN_BYTES) {
      this.#socket.write(out.length === 1 ? out[0]! : Buffer.concat(out, total))
      return
    }
    this.#socket.cork()
    for (const bytes of out) this.#socket.write(bytes)
    this.#socket.uncork()
  }

  #admit(): void {
    while (this.#ready && this.#waiting.length > 0 && this.#streams.size < this.#maxStreams)
      this.#open(this.#waiting.shift()!)
  }

  #open(stream: Http2Stream): void {
    if (this.#nextStream > LAST_STREAM) {
      // The stream ends as if the server had refused it: it is safe to ask elsewhere.
      stream.rstCode = ErrorCode.refusedStream
      // The stream ends only after the caller has it in hand.
      queueMicrotask(() => this.#attempt(() => stream.finish(undefined)))
      return
    }
    if (this.#nextStream > LAST_STREAM - 2 * RESERVED_STREAMS && !this.#wearingOut) {
      this.#wearingOut = true
      this.#options.onGoAway(ErrorCode.noError)
    }
    stream.id = this.#nextStream
    this.#nextStream += 2
    stream.sendWindow = this.#initialWindow
    this.#streams.set(stream.id, stream)
    this.#send(frame(FrameType.headers, Flag.endHeaders, stream.id, stream.headerBlock))
    this.#sendFrom(stream)
  }

  #sendFrom(stream: Http2Stream): void {
    for (;;) {
      const next = stream.take(Math.min(this.#maxFrame, this.#sendWindow))
      if (next === undefined) break
      const { bytes, last } = next
      this.#sendWindow -= bytes.length
      const head = Buffer.allocUnsafe(HEADER_BYTES)
      writeFrameHeader(head, 0, bytes.length, FrameType.data, last ? Flag.endStream : 0, stream.id)
      this.#send(head)
      this.#send(bytes)
    }
    if (stream.hasMore) this.#blocked.add(stream)
    else this.#blocked.delete(stream)
  }

  #sendBlocked(): void {
    for (const stream of [...this.#blocked]) this.#sendFrom(stream)
  }

  // Receiving.

  #receive(chunk: Buffer): void {
    this.#reader.push(chunk, (received) => {
      if (!this.#closed) this.#take(received)
    })
  }

  /**
   * Runs a callback of the socket. An exception in it ends this connection, and with it the calls that are under way on
   * it.
   */
  #attempt(callback: () => void): void {
    try {
      callback()
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #take(received: Frame): void {
    const { type, flags, stream, payload } = received
    if (this.#partial !== undefined && type !== FrameType.continuation)
      throw new Error('headers were broken off by another frame')
    switch (type) {
      case FrameType.data:
        this.#takeData(received)
        break
      case FrameType.headers:
        this.#takeHeaders(received)
        break
      case FrameType.continuation:
        this.#takeContinuation(received)
        break
      case FrameType.rstStream:
        this.#takeReset(stream, payload.readUInt32BE(0))
        break
      case FrameType.settings:
        if ((flags & Flag.ack) === 0) this.#takeSettings(payload)
        break
      case FrameType.ping:
        if ((flags & Flag.ack) !== 0) this.#pings.shift()?.()
        else this.#send(frame(FrameType.ping, Flag.ack, 0, payload))
        break
      case FrameType.goAway:
        this.#takeGoAway(payload.readUInt32BE(0) & LAST_STREAM, payload.readUInt32BE(4))
        break
      case FrameType.windowUpdate:
        this.#takeWindow(stream, payload.readUInt32BE(0) & LAST_STREAM)
        break
      case FrameType.pushPromise:
        throw new Error('the server pushes what nobody asked for')
      default:
        // Priorities, and whatever is invented later, need no answer.
        break
    }
  }

  #takeData(received: Frame): void {
    const { flags, stream: id, payload } = received
    // The connection's credit is given back at once, so that a stream that is held does not hold the others.
    this.#uncredited += payload.length
    if (this.#uncredited >= this.#options.connectionWindowBytes / 2) {
      this.#send(windowUpdate(0, this.#uncredited))
      this.#uncredited = 0
    }
    const stream = this.#streams.get(id)
    if (stream === undefined) return
    const chunk = content(received)
    if (chunk === undefined) throw new Error('padding longer than its frame')
    stream.uncredited += payload.length - chunk.length
    stream.receiveData(chunk, (flags & Flag.endStream) !== 0)
  }

  #takeHeaders(received: Frame): void {
    const { flags, stream } = received
    const block = content(received)
    if (block === undefined) throw new Error('padding longer than its frame')
    const isLast = (flags & Flag.endStream) !== 0
    if ((flags & Flag.endHeaders) !== 0) this.#showHeaders(stream, block, isLast)
    else this.#partial = { stream, isLast, blocks: [block], bytes: block.length }
  }

  #takeContinuation({ flags, stream, payload }: Frame): void {
    const partial = this.#partial
    if (partial === undefined || partial.stream !== stream) throw new Error('headers go on that never began')
    partial.bytes += payload.length
    if (partial.bytes > MAX_HEADER_BLOCK_BYTES) throw new Error('headers without an end')
    partial.blocks.push(payload)
    if ((flags & Flag.endHeaders) === 0) return
    this.#partial = undefined
    this.#showHeaders(stream, Buffer.concat(partial.blocks), partial.isLast)
  }

  #showHeaders(id: number, block: Buffer, isLast: boolean): void {
    let headers: Headers
    try {
      headers = this.#headers.read(block)
    } catch (error) {
      if (error instanceof HpackError) throw new Error(`headers that cannot be read: ${error.message}`)
      throw error
    }
    this.#streams.get(id)?.receiveHeaders(headers, isLast)
  }

  #takeReset(id: number, code: number): void {
    const stream = this.#streams.get(id)
    if (stream === undefined) return
    stream.rstCode = code
    stream.finish(undefined)
  }

  #takeSettings(payload: Buffer): void {
    for (let at = 0; at + 6 <= payload.length; at += 6)
      this.#takeSetting(payload.readUInt16BE(at), payload.readUInt32BE(at + 2))
    this.#send(settingsAck())
    const first = !this.#ready
    this.#ready = true
    if (first) this.#options.onReady()
    this.#admit()
    this.#sendBlocked()
  }

  #takeSetting(setting: number, value: number): void {
    if (setting === Setting.maxConcurrentStreams) this.#maxStreams = value
    else if (setting === Setting.maxFrameSize) this.#maxFrame = value
    else if (setting === Setting.initialWindowSize) {
      for (const stream of this.#streams.values()) stream.sendWindow += value - this.#initialWindow
      this.#initialWindow = value
    }
  }

  #takeWindow(id: number, bytes: number): void {
    if (id === 0) {
      this.#sendWindow += bytes
      this.#sendBlocked()
      return
    }
    const stream = this.#streams.get(id)
    if (stream === undefined) return
    stream.sendWindow += bytes
    this.#sendFrom(stream)
  }

  /** Takes a GOAWAY. Streams that the server has not begun will never begin, so their calls may be asked elsewhere. */
  #takeGoAway(last: number, code: number): void {
    this.#options.onGoAway(code)
    const refused = [...this.#streams.values()].filter(({ id }) => id > last)
    for (const stream of [...refused, ...this.#waiting]) {
      stream.rstCode = ErrorCode.refusedStream
      stream.finish(undefined)
    }
  }
}

const isTls = (socket: net.Socket): socket is tls.TLSSocket => socket instanceof tls.TLSSocket

/** Where the server of a URL listens. */
export function addressOf(url: string): { readonly host: string; readonly port: number } {
  const { protocol, hostname, port } = new URL(url)
  const usual = protocol === 'https:' ? 443 : 80
  // Addresses of IPv6 stand in brackets in a URL.
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? usual : Number(port) }
}

function connectSocket({ url, tls: given, socket }: Http2ConnectionOptions): net.Socket {
  const { host, port } = addressOf(url)
  if (!url.startsWith('https:')) return socket ?? net.connect({ host, port })
  const servername = given?.serverName ?? (net.isIP(host) === 0 ? host : undefined)
  return tls.connect({
    // The host is what the certificate is held against, also where the connection is there already.
    host,
    port,
    ...(socket !== undefined && { socket }),
    ALPNProtocols: ['h2'],
    ...(given?.ca !== undefined && { ca: given.ca }),
    ...(given?.cert !== undefined && { cert: given.cert }),
    ...(given?.key !== undefined && { key: given.key }),
    ...(servername !== undefined && { servername }),
  })
}
