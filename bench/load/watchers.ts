/**
 * Many watchers over TLS that cost the machine as little as can be, because they share it with the server: most of them are read and
 * counted as they are encrypted, and only some, by which bytes are known as events, are decrypted. Those say also how late
 * events are, where an object says when it was sent.
 */
import { connect as connectTcp, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'

const EVENT_END = Buffer.from('}\n')
const SENT = Buffer.from('"sent":"')
/** Of so many watchers one is decrypted. */
const DECRYPTED = 50
const AT_A_TIME = 250
const READ_BYTES = 64 * 1024

export class Watchers {
  /** From `"sent":"<nanoseconds of the machine's monotonic clock>"` until it was read. */
  readonly latenciesMs: number[] = []
  readonly #sockets: Socket[] = []
  /** What all have read, and what of it those have whose events are counted, encrypted. */
  #bytes = 0
  #countedBytes = 0
  #counted = 0
  /** One for all: what is read is looked at before the next is. */
  readonly #buffer = Buffer.alloc(READ_BYTES)

  /** `target`: what all watch, or each by its number. */
  async open(url: string, target: string | ((i: number) => string), token: string, count: number): Promise<void> {
    const open = (i: number): Promise<void> => {
      const path = typeof target === 'string' ? target : target(i)
      const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`
      return this.#open(new URL(url), request, i % DECRYPTED === 0)
    }
    // No more handshakes at a time than a server has patience for.
    for (let from = 0; from < count; from += AT_A_TIME)
      await Promise.all(Array.from({ length: Math.min(AT_A_TIME, count - from) }, (_, i) => open(from + i)))
  }

  /** Those that all together have read: as many to a byte as those that are decrypted have seen. */
  get events(): number {
    return this.#countedBytes === 0 ? 0 : Math.round(this.#bytes * (this.#counted / this.#countedBytes))
  }

  reset(): void {
    this.#bytes = 0
    this.#countedBytes = 0
    this.#counted = 0
    this.latenciesMs.length = 0
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #open({ hostname, port }: URL, request: string, isDecrypted: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      let isOpen = false
      const encrypted = new Duplex({
        read: () => undefined,
        write: (chunk: Buffer, _encoding, done) => void socket.write(chunk, done),
      })
      const take = (bytes: number): boolean => {
        if (isOpen) this.#bytes += bytes
        if (isOpen && isDecrypted) this.#countedBytes += bytes
        if (!isOpen || isDecrypted) encrypted.push(Buffer.from(this.#buffer.subarray(0, bytes)))
        return true
      }
      const onread = { buffer: this.#buffer, callback: take }
      const socket = connectTcp({ host: hostname, port: Number(port), onread })
      this.#sockets.push(socket)
      const client = connectTls({ socket: encrypted, rejectUnauthorized: false })
      for (const one of [socket, client]) one.on('error', reject)
      client.once('secureConnect', () => client.write(request))
      client.once('data', () => {
        isOpen = true
        if (isDecrypted) client.on('data', (chunk: Buffer) => this.#take(chunk))
        resolve()
      })
    })
  }

  #take(chunk: Buffer): void {
    for (let at = chunk.indexOf(EVENT_END); at >= 0; at = chunk.indexOf(EVENT_END, at + 2)) this.#counted++
    for (let at = chunk.indexOf(SENT); at >= 0; at = chunk.indexOf(SENT, at + 1)) {
      const from = at + SENT.byteLength
      const digits = chunk.toString('latin1', from, chunk.indexOf('"', from))
      this.latenciesMs.push(Number(process.hrtime.bigint() - BigInt(digits)) / 1e6)
    }
  }
}
