/**
 * What stands where a kubelet or a pod's page should: bytes by hand, so that it can break every rule of HTTP. What it does
 * follows from the first number in what it is asked for, so that whoever asks chooses, and a seed repeats it.
 */
import { createHash } from 'node:crypto'
import net, { type AddressInfo, type Socket } from 'node:net'
import tls from 'node:tls'
import type { Identity } from '../support/certificates.js'
import { Random } from '../support/fuzz.js'

const CHUNK = Buffer.alloc(16 * 1024, 'x')
/** Whoever reads an endless body to here has read enough; whoever waits for slow bytes as long, too. */
const ENDLESS_CHUNKS = 400
const SLOW_BYTES = 200
const SLOW_MS = 20
const OK = 'HTTP/1.1 200 OK\r\n'

type Behaviour = (socket: Socket, random: Random, request: string) => void

/** So much at a time as the other side takes, until it is gone or there has been enough. */
function flood(socket: Socket, chunk: () => string | Buffer, chunks: number, end = true): void {
  let sent = 0
  const more = (): void => {
    while (!socket.destroyed && sent++ < chunks) if (!socket.write(chunk())) return
    if (end && !socket.destroyed) socket.destroy()
  }
  socket.on('drain', more)
  more()
}

function drip(socket: Socket, text: string): void {
  let at = 0
  const timer = setInterval(() => {
    if (socket.destroyed || at >= Math.min(text.length, SLOW_BYTES)) {
      clearInterval(timer)
      socket.destroy()
    } else socket.write(text[at++]!)
  }, SLOW_MS)
  socket.once('close', () => clearInterval(timer))
}

const noise = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length: random.below(length) + 1 }, () => random.below(256)))

const links = (random: Random): string =>
  random.pick([
    '<a href="/'.repeat(2000),
    `<a href="/x">${'<'.repeat(20_000)}`,
    `<a ${'href='.repeat(5000)}"`,
    `<img src='/${'%2e/'.repeat(5000)}'>`,
    `<!--${'-'.repeat(30_000)}`,
    '<a href="//evil.example/">x</a><base href="http://evil.example/">'.repeat(300),
    `<a${' '.repeat(50_000)}href=`,
    `<script>${'"\\'.repeat(10_000)}`,
  ])

const BEHAVIOURS: readonly Behaviour[] = [
  (socket) => socket.destroy(),
  (socket, random) => socket.end(noise(random, 3000)),
  (socket, random) => socket.end(Buffer.concat([Buffer.from(OK), noise(random, 500), Buffer.from('\r\n\r\n')])),
  (socket, random) =>
    socket.end(
      `HTTP/1.1 ${random.pick(['', '0', '99', '1000', '-1', 'OK', '101', '100', '200 '.repeat(900)])}\r\n\r\n`,
    ),
  (socket) => socket.end(`${OK}Content-Length: 5\r\nContent-Length: 50\r\n\r\n${'y'.repeat(60)}`),
  (socket, random) =>
    socket.end(`${OK}Content-Length: ${random.pick(['-1', '1e3', '99999999999999999999', 'x', '0x10'])}\r\n\r\nbody`),
  (socket) => socket.end(`${OK}Content-Length: 100\r\n\r\ntoo short`),
  (socket) => flood(socket, () => CHUNK, ENDLESS_CHUNKS),
  (socket) => {
    socket.write(`${OK}Content-Type: text/plain\r\n\r\n`)
    flood(socket, () => CHUNK, ENDLESS_CHUNKS)
  },
  (socket) => drip(socket, `${OK}Content-Type: text/plain\r\nContent-Length: 100\r\n\r\n${'z'.repeat(100)}`),
  (socket, random) =>
    socket.end(
      `${OK}Transfer-Encoding: chunked\r\n\r\n${random.pick(['zz\r\n', '-5\r\nabc\r\n', 'ffffffffffffffff\r\nx', '5\r\nabcdefgh\r\n', '5;x=y\r\nabcde', '0\r\nTrailer: x\r\n\r\nmore'])}`,
    ),
  (socket, random) =>
    socket.end(
      `${OK}Transfer-Encoding: ${random.pick(['gzip', 'chunked, chunked', 'identity', 'x'])}\r\n\r\n0\r\n\r\n`,
    ),
  (socket) => {
    socket.write(OK)
    flood(socket, () => `X-Endless: ${'h'.repeat(4000)}\r\n`, ENDLESS_CHUNKS)
  },
  (socket) => socket.end(`${OK}${'a: b\r\n'.repeat(5000)}\r\n`),
  (socket) => socket.end(`${OK}__proto__: x\r\nconstructor: y\r\nX-A: a\0b\r\nSet-Cookie: a\r\n folded\r\n\r\nhello`),
  (socket, random) =>
    socket.end(
      `HTTP/1.1 ${random.pick([301, 302, 307, 308])} Moved\r\nLocation: ${random.pick(['/', '//evil/', 'http://127.0.0.1:1/', 'https://[::1', `/${'a'.repeat(20_000)}`, '\x01', '/../../api/v1/secrets'])}\r\nContent-Length: 0\r\n\r\n`,
    ),
  (socket, random) => {
    const html = `<html>${links(random)}`
    socket.end(`${OK}Content-Type: text/html\r\nContent-Length: ${html.length}\r\n\r\n${html}`)
  },
  (socket, random) => {
    socket.write(
      `${OK}Content-Type: text/html; charset=${random.pick(['utf-8', 'utf-16', 'x'.repeat(500)])}\r\n\r\n<html>`,
    )
    flood(socket, () => links(random), 60)
  },
  (socket) =>
    socket.end(`${OK}Content-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00`),
  (socket, random) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n')
    socket.end(noise(random, 20_000))
  },
  (socket, random, request) => upgrade(socket, random, request),
  (socket, random, request) => upgrade(socket, random, request),
  (socket) => {
    socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(500))
    socket.end(`${OK}Content-Length: 2\r\n\r\nok`)
  },
  (socket) => flood(socket, () => 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(100), ENDLESS_CHUNKS),
  (socket) => socket.end(`${OK}Content-Length: 2\r\n\r\nok${OK}Content-Length: 6\r\n\r\nsecond`),
  // Says nothing at all; whoever asked gives up, or this does.
  (socket) => {
    const timer = setTimeout(() => socket.destroy(), 3000)
    socket.once('close', () => clearTimeout(timer))
  },
]

const accept = (request: string): string =>
  createHash('sha1')
    .update(`${/sec-websocket-key: (\S+)/i.exec(request)?.[1]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64')

/** Takes the upgrade that was asked for, and then speaks nonsense in it. */
function upgrade(socket: Socket, random: Random, request: string): void {
  const protocol = /sec-websocket-protocol: ([^,\r]+)/i.exec(request)?.[1]
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: websocket']
  lines.push(`Sec-WebSocket-Accept: ${random.chance(70) ? accept(request) : 'wrong'}`)
  if (protocol !== undefined && random.chance(80)) lines.push(`Sec-WebSocket-Protocol: ${protocol}`)
  if (random.chance(10)) lines.push('Sec-WebSocket-Protocol: other', 'Sec-WebSocket-Extensions: permessage-deflate')
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  const frame = (): Buffer =>
    random.pick([
      noise(random, 2000),
      Buffer.from([0x82, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
      Buffer.from([0x82, 0x02, 0x01, 0x61]),
      Buffer.from([0x89, 0x7e, 0x01, 0x00]),
      Buffer.from([0x88, 0x02, 0x00, 0x00]),
      Buffer.concat([Buffer.from([0x82, 0x7e, 0x40, 0x00]), CHUNK]),
      Buffer.from([0x02, 0x02, 0x03, 0x7b, 0x80, 0x01, 0x7d]),
      Buffer.from([0xf2, 0x01, 0x01]),
    ])
  flood(socket, frame, random.below(50), random.chance(60))
}

export class HostileBackend {
  /** What it was asked for, in first lines. */
  readonly requests: string[] = []
  answered = 0
  readonly #server: net.Server
  readonly #sockets = new Set<Socket>()

  constructor(identity?: Identity) {
    const listener = (socket: Socket): void => this.#connected(socket)
    this.#server =
      identity === undefined
        ? net.createServer(listener)
        : tls.createServer({ cert: identity.certificate, key: identity.key }, listener)
    this.#server.on('tlsClientError', () => undefined)
  }

  async listen(host: string): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, host, resolve))
    return this
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  #connected(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    let request = ''
    const read = (chunk: Buffer): void => {
      request += chunk.toString('latin1')
      if (!request.includes('\r\n\r\n') && request.length < 65_536) return
      socket.off('data', read)
      socket.resume()
      const line = request.slice(0, request.indexOf('\r\n'))
      if (this.requests.length < 1000) this.requests.push(line)
      this.answered++
      const random = new Random(Number(/seed[=/](\d+)|tailLines=(\d+)/.exec(line)?.slice(1).find(Boolean) ?? 0))
      random.pick(BEHAVIOURS)(socket, random, request)
    }
    socket.on('data', read)
  }
}
