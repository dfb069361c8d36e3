import http2 from 'node:http2'
import type net from 'node:net'
import { WireReader, WireWriter } from '#keelson/storage/etcd/wire.js'
import { GrpcFramer } from '#keelson/storage/grpc/grpc-framer.js'

export interface FakeWatchReply {
  readonly revision: number
  readonly watchId?: number
  readonly created?: boolean
  readonly canceled?: boolean
  readonly compactRevision?: number
  readonly cancelReason?: string
  readonly fragment?: boolean
  /** key and mod revision of puts. */
  readonly events?: readonly (readonly [string, number])[]
}

/** Says what real servers of other versions say, or say rarely: one watch a stream, replies as the test wants them. */
export class FakeEtcd {
  readonly #server = http2.createServer()
  readonly #version: string
  readonly #sessions = new Set<http2.ServerHttp2Session>()
  /** The start revision of each watch, in the order in which they came. */
  readonly starts: number[] = []
  readonly streams: http2.ServerHttp2Stream[] = []
  progressRequests = 0
  /** What a range says: the store's revision, and the revision at which every key was written that is asked for at one. */
  revision = 50
  keyRevision: (askedRevision: number) => number = (asked) => asked

  private constructor(version: string) {
    this.#version = version
    this.#server.on('session', (session) => this.#sessions.add(session))
    this.#server.on('stream', (stream, headers) => this.#accept(stream, String(headers[':path'])))
  }

  static async start(version: string): Promise<FakeEtcd> {
    const fake = new FakeEtcd(version)
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve))
    return fake
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as net.AddressInfo).port}`
  }

  /** To the newest stream. */
  send(reply: FakeWatchReply): void {
    this.streams.at(-1)!.write(encodeWatchReply(reply))
  }

  async stop(): Promise<void> {
    for (const session of this.#sessions) session.destroy()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }

  #accept(stream: http2.ServerHttp2Stream, method: string): void {
    stream.on('error', () => stream.destroy())
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    if (method.endsWith('/Status')) {
      const status = new WireWriter(64)
      status.string(2, this.#version)
      stream.end(status.finishFrame())
      return
    }
    if (method.endsWith('/Range')) {
      stream.once('data', (chunk: Buffer) => stream.end(this.#range(chunk.subarray(5))))
      return
    }
    this.streams.push(stream)
    const framer = new GrpcFramer()
    stream.on('data', (chunk: Buffer) => {
      for (const message of framer.push(chunk)) this.#request(message)
    })
  }

  #range(request: Buffer): Buffer {
    const reader = new WireReader(request)
    let asked = 0
    for (let field = reader.nextField(); field !== 0; field = reader.nextField()) {
      if (field === 4) asked = reader.number()
      else reader.skip()
    }
    const reply: number[] = [0x0a, ...sized([0x18, ...varint(this.revision)])]
    if (asked > 0) reply.push(0x12, ...sized([0x0a, 1, 97, 0x18, ...varint(this.keyRevision(asked))]))
    const frame = Buffer.alloc(5 + reply.length)
    frame.writeUInt32BE(reply.length, 1)
    frame.set(reply, 5)
    return frame
  }

  #request(message: Buffer): void {
    const reader = new WireReader(message)
    if (reader.nextField() === 3) {
      this.progressRequests++
      return
    }
    let start = 0
    reader.message((create) => {
      for (let field = create.nextField(); field !== 0; field = create.nextField()) {
        if (field === 3) start = create.number()
        else create.skip()
      }
    })
    this.starts.push(start)
  }
}

function varint(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return [...bytes, rest]
    bytes.push((rest & 127) | 128)
  }
}

const sized = (bytes: readonly number[]): number[] => [...varint(bytes.length), ...bytes]

function encodeWatchReply(reply: FakeWatchReply): Buffer {
  const w = new WireWriter(64)
  for (const [key, modRevision] of (reply.events ?? []).toReversed()) {
    const event = w.mark()
    const kv = w.mark()
    w.string(5, 'value')
    w.number(4, 1)
    w.number(3, modRevision)
    w.number(2, modRevision)
    w.string(1, key)
    w.message(2, kv)
    w.message(11, event)
  }
  w.flag(7, reply.fragment === true)
  if (reply.cancelReason !== undefined) w.string(6, reply.cancelReason)
  w.numberUnlessZero(5, reply.compactRevision ?? 0)
  w.flag(4, reply.canceled === true)
  w.flag(3, reply.created === true)
  w.int64(2, BigInt(reply.watchId ?? 0))
  const header = w.mark()
  w.number(3, reply.revision)
  w.message(1, header)
  return w.finishFrame()
}
