import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import zlib from 'node:zlib'

const [SYN_STREAM, SYN_REPLY, PING] = [1, 2, 6]
const CONTROL = 0x80
const FIN = 1
const HEAD_BYTES = 8

/** How SPDY/3's dictionary begins, how long it is, and its Adler-32, by which it is known that it is whole. */
const DICTIONARY_START = Buffer.from('\0\0\0\x07options\0\0\0\x04head', 'latin1')
const DICTIONARY_BYTES = 1423

/** The dictionary, taken out of the client that is tested with; undefined when there is no client that has it. */
export function dictionaryOfKubectl(): Buffer | undefined {
  let file: string
  try {
    file = execFileSync('sh', ['-c', 'command -v kubectl'], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
  const program = readFileSync(file)
  const at = program.indexOf(DICTIONARY_START)
  return at < 0 ? undefined : Buffer.from(program.subarray(at, at + DICTIONARY_BYTES))
}

export interface SpdyStream {
  readonly headers: Readonly<Record<string, string>>
  send(data: string | Uint8Array, isLast?: boolean): void
  onData: (data: Buffer) => void
  onEnd: () => void
}

/** The server's end of a SPDY/3.1 connection, as much of it as kubelets need: streams of the client, answered and read. */
export class SpdySession {
  readonly #socket: Socket
  readonly #inflate: zlib.Inflate
  readonly #deflate: zlib.Deflate
  readonly #streams = new Map<number, SpdyStream>()
  readonly #onStream: (stream: SpdyStream) => void
  #pending = Buffer.alloc(0)

  constructor(socket: Socket, dictionary: Buffer, onStream: (stream: SpdyStream) => void) {
    this.#socket = socket
    this.#onStream = onStream
    this.#inflate = zlib.createInflate({ dictionary })
    this.#deflate = zlib.createDeflate({ dictionary })
    socket.on('error', () => socket.destroy())
    void this.#read()
  }

  end(): void {
    this.#socket.end()
  }

  async #read(): Promise<void> {
    for await (const chunk of this.#socket as AsyncIterable<Buffer>) {
      this.#pending = Buffer.concat([this.#pending, chunk])
      while (this.#pending.byteLength >= HEAD_BYTES) {
        const length = this.#pending.readUIntBE(5, 3)
        if (this.#pending.byteLength < HEAD_BYTES + length) break
        const frame = this.#pending.subarray(0, HEAD_BYTES + length)
        this.#pending = this.#pending.subarray(HEAD_BYTES + length)
        await this.#take(frame)
      }
    }
  }

  async #take(frame: Buffer): Promise<void> {
    const body = frame.subarray(HEAD_BYTES)
    const isLast = (frame[4]! & FIN) !== 0
    if ((frame[0]! & CONTROL) === 0) {
      const stream = this.#streams.get(frame.readUInt32BE(0))
      stream?.onData(body)
      if (isLast) stream?.onEnd()
      return
    }
    const type = frame.readUInt16BE(2)
    if (type === PING) this.#socket.write(frame)
    if (type !== SYN_STREAM) return
    const id = body.readUInt32BE(0) & 0x7fffffff
    const stream: SpdyStream = {
      headers: headersOf(await through(this.#inflate, body.subarray(10))),
      send: (data, last = false) => this.#data(id, Buffer.from(data), last),
      onData: () => undefined,
      onEnd: () => undefined,
    }
    this.#streams.set(id, stream)
    const reply = await through(this.#deflate, Buffer.alloc(4))
    const head = Buffer.alloc(HEAD_BYTES + 4)
    head.set([CONTROL, 3, 0, SYN_REPLY!, 0])
    head.writeUIntBE(4 + reply.byteLength, 5, 3)
    head.writeUInt32BE(id, HEAD_BYTES)
    this.#socket.write(Buffer.concat([head, reply]))
    this.#onStream(stream)
    if (isLast) stream.onEnd()
  }

  #data(id: number, data: Buffer, isLast: boolean): void {
    const head = Buffer.alloc(HEAD_BYTES)
    head.writeUInt32BE(id, 0)
    head[4] = isLast ? FIN : 0
    head.writeUIntBE(data.byteLength, 5, 3)
    this.#socket.write(Buffer.concat([head, data]))
  }
}

/** One block through a stream of zlib that goes on over all blocks of a connection. */
async function through(stream: zlib.Inflate | zlib.Deflate, block: Buffer): Promise<Buffer> {
  const chunks: Buffer[] = []
  const take = (chunk: Buffer): void => void chunks.push(chunk)
  stream.on('data', take)
  await new Promise<void>((resolve) => stream.write(block, () => stream.flush(zlib.constants.Z_SYNC_FLUSH, resolve)))
  stream.off('data', take)
  return Buffer.concat(chunks)
}

function headersOf(block: Buffer): Record<string, string> {
  const headers: Record<string, string> = {}
  let at = 4
  const text = (): string => {
    const length = block.readUInt32BE(at)
    at += 4 + length
    return block.toString('latin1', at - length, at)
  }
  for (let left = block.readUInt32BE(0); left > 0; left--) {
    const name = text()
    headers[name] = text()
  }
  return headers
}
