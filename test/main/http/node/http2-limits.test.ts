import { type ClientHttp2Session, constants } from 'node:http2'
import { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import t from 'tap'
import { Exchange } from '#keelson/main/http/exchange.js'
import { Http2ResponsePort } from '#keelson/main/http/node/http2-response-port.js'
import { Http2Sessions } from '#keelson/main/http/node/http2-sessions.js'
import { NodeConnection } from '#keelson/main/http/node/node-connection.js'
import { NodeRequestHead } from '#keelson/main/http/node/node-request-head.js'
import { Stalls } from '#keelson/main/http/node/stalls.js'
import { FakeClock } from '../../../support/fake-clock.js'
import { until } from '../../../support/until.js'
import { ask, NodeServer } from './node-server.js'

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const EMPTY = Buffer.alloc(0)

function frame(type: number, flags: number, stream: number, payload: Buffer = EMPTY): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.byteLength, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}
const SETTINGS = frame(4, 0, 0)
const PING = frame(6, 0, 0, Buffer.alloc(8))
/** GET / over https, by the numbers that HPACK has for them. */
const REQUEST = Buffer.from([0x82, 0x84, 0x87, 0x41, 0x01, 0x78])
const headers = (stream: number): Buffer => frame(1, 5, stream, REQUEST)
const reset = (stream: number): Buffer => {
  const code = Buffer.alloc(4)
  code.writeUInt32BE(8)
  return frame(3, 0, stream, code)
}

/** Node 20 says that it reads no more, and leaves it to the client to close. */
function hasGoaway(chunk: Buffer): boolean {
  for (let at = 0; at + 9 <= chunk.byteLength; at += 9 + chunk.readUIntBE(at, 3)) if (chunk[at + 3] === 7) return true
  return false
}

/** Sends frames as they are until the server has had enough; true: it has ended the connection. */
function flood(server: NodeServer, frames: (round: number) => Buffer, reads = true): Promise<boolean> {
  const rounds = 400
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port: server.port, ca: server.authority.certificate, ALPNProtocols: ['h2'] }
    let isClosed = false
    const socket = connect(options, () => {
      socket.write(Buffer.concat([Buffer.from(PREFACE), SETTINGS, frame(4, 1, 0)]))
      let round = 0
      const next = (): void => {
        if (isClosed) return
        if (round === rounds) {
          socket.destroy()
          resolve(false)
          return
        }
        socket.write(frames(round++), () => setImmediate(next))
      }
      next()
    })
    // When nothing is read, what the server answers stays with it.
    if (reads) socket.on('data', (chunk: Buffer) => hasGoaway(chunk) && end())
    else socket.pause()
    const end = (): void => {
      isClosed = true
      socket.destroy()
      resolve(true)
    }
    socket.on('error', end)
    socket.on('close', end)
  })
}

t.test('floods of frames end their own connection and nobody else’s', async (t) => {
  let requests = 0
  const server = await NodeServer.start(t, (exchange) => {
    requests++
    exchange.respond({ status: 200, contentType: 'text/plain' }, 'here')
  })
  const quiet = server.session(t)
  const many = (one: Buffer): Buffer => Buffer.concat(Array.from({ length: 200 }, () => one))
  t.ok(await flood(server, () => many(PING), false), 'PING')
  t.ok(await flood(server, () => many(SETTINGS), false), 'SETTINGS')
  t.ok(await flood(server, (round) => (round === 0 ? frame(1, 4, 1, REQUEST) : many(frame(0, 0, 1)))), 'empty DATA')
  const before = requests
  const resets = (round: number): Buffer =>
    Buffer.concat(
      Array.from({ length: 100 }, (_, i) => {
        const stream = (round * 100 + i) * 2 + 1
        return Buffer.concat([headers(stream), reset(stream)])
      }),
    )
  t.ok(await flood(server, resets), 'RST_STREAM after each request')
  t.ok(requests - before < 5000, `${requests - before} requests were looked at`)
  t.equal((await ask(quiet, { ':path': '/' })).body.toString(), 'here')
})

t.test('a head is as long as in HTTP/1.1 at most', async (t) => {
  const server = await NodeServer.start(t, (exchange) =>
    exchange.respond({ status: 200, contentType: 'text/plain' }, String(exchange.head.authorization.length)),
  )
  const session = server.session(t)
  const token = (length: number) => ask(session, { ':path': '/', authorization: 'x'.repeat(length) })
  t.equal((await token(40_000)).body.toString(), '40000')
  const refused = await token(70_000)
  t.equal(refused.status, 0)
  t.equal((await ask(server.session(t), { ':path': '/' })).body.toString(), '0', 'others are served')
})

t.test('heads of many headers are held for some streams, and refused to more', async (t) => {
  let requests = 0
  let closed = 0
  const sessions = new Http2Sessions(1000)
  t.teardown(() => sessions.close())
  const connect = (): Duplex => {
    const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() })
    sessions.accept(socket, (stream) => {
      requests++
      stream.once('close', () => closed++)
    })
    socket.push(Buffer.concat([Buffer.from(PREFACE), SETTINGS, frame(4, 1, 0)]))
    return socket
  }
  /** `a: b` goes into the table, at its first place, and is named by one byte from then on. */
  const unlearned = Buffer.from([0x82, 0x84, 0x87, 0x01, 0x01, 0x78])
  const taught = Buffer.concat([unlearned, Buffer.from([0x40, 1, 97, 1, 98])])
  const many = Buffer.concat([unlearned, Buffer.alloc(900, 0xbe)])
  const bombs = (socket: Duplex): void => {
    socket.push(frame(1, 4, 1, taught))
    for (let i = 1; i <= 40; i++) socket.push(frame(1, 4, 1 + 2 * i, many))
  }
  const first = connect()
  bombs(first)
  await until(() => requests > 20, { what: 'requests' })
  t.ok(requests < 30, `${requests} of one connection`)
  const others = Array.from({ length: 12 }, connect)
  for (const other of others) bombs(other)
  await until(() => requests > 200, { what: 'requests of others' })
  t.ok(requests < 280, `${requests} of all`)
  const before = requests
  const plain = connect()
  plain.push(Buffer.concat(Array.from({ length: 500 }, (_, i) => frame(1, 4, 1 + 2 * i, REQUEST))))
  await until(() => requests >= before + 500, { what: 'usual heads to be taken' })
  for (const socket of [first, ...others]) socket.destroy()
  await until(() => closed >= before, { what: 'streams to be closed' })
  const after = connect()
  const left = requests
  bombs(after)
  await until(() => requests > left + 20, { what: 'what is closed to be held no longer' })
  t.pass('what is closed is held no longer')
})

t.test('a connection has as many streams as it is told', async (t) => {
  const server = await NodeServer.start(
    t,
    (exchange) => exchange.startStream({ status: 200, contentType: 'text/plain' })?.idle(),
    { http2: { enabled: true, maxStreams: 3 } },
  )
  const session: ClientHttp2Session = server.session(t)
  await until(() => session.remoteSettings?.maxConcurrentStreams === 3, { what: 'settings' })
  let heads = 0
  for (let i = 0; i < 5; i++) {
    const stream = session.request({ ':path': '/' })
    stream.on('error', () => undefined)
    stream.on('response', () => heads++)
    if (i === 0) stream.on('response', () => setImmediate(() => stream.close(constants.NGHTTP2_CANCEL)))
  }
  await until(() => heads === 4, { what: 'four streams' })
  t.pass('a fourth begins when one of the three has ended')
})

t.test('two hosts are one too many', async (t) => {
  const server = await NodeServer.start(t, (exchange) =>
    exchange.respond({ status: 200, contentType: 'text/plain' }, exchange.header('host')),
  )
  const session = server.session(t)
  t.equal((await ask(session, { ':path': '/', ':authority': 'a', host: 'a' })).body.toString(), 'a')
  t.match(await ask(session, { ':path': '/', ':authority': 'a', host: 'b' }), { status: 400 })
})

t.test('an answer to a stream that was reset ends with its first piece', async (t) => {
  const requests = 300
  let pieces = 0
  let gone = 0
  const sessions = new Http2Sessions(1000)
  t.teardown(() => sessions.close())
  // Frames that come out of JavaScript are all looked at before the first event is told: the resets are known by then.
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() })
  const connection = new NodeConnection(new Socket())
  const stalls = new Stalls(new FakeClock())
  const piece = new Uint8Array(10_000)
  const next = (): Uint8Array => {
    pieces++
    return piece
  }
  sessions.accept(socket, (stream, _headers, rawHeaders) => {
    const head = new NodeRequestHead('GET', '/', rawHeaders)
    const exchange = new Exchange(head, new Http2ResponsePort(stream, false, connection, stalls))
    exchange.onFinished((status) => {
      if (status === 0) gone++
    })
    exchange.respondSized(
      { status: 200, contentType: 'text/plain' },
      { totalBytes: 1_000_000, heldBytes: 0, next, done: () => undefined },
    )
  })
  const pairs = Array.from({ length: requests }, (_, i) => [headers(i * 2 + 1), reset(i * 2 + 1)]).flat()
  socket.push(Buffer.concat([Buffer.from(PREFACE), SETTINGS, frame(4, 1, 0), ...pairs]))
  await until(() => gone === requests, { what: 'every request to end' })
  t.equal(pieces, requests)
})

t.test('by chance a client is told to open another connection, and loses nothing', async (t) => {
  const server = await NodeServer.start(
    t,
    (exchange) => exchange.respond({ status: 200, contentType: 'text/plain' }, 'here'),
    { http2: { enabled: true, maxStreams: 0, goawayChance: 1 } },
  )
  const session = server.session(t)
  const told = new Promise<number>((resolve) => session.once('goaway', resolve))
  t.equal((await ask(session, { ':path': '/' })).body.toString(), 'here')
  t.equal(await told, 0, 'GOAWAY without an error')
  t.equal((await ask(server.session(t), { ':path': '/' })).body.toString(), 'here')
})
