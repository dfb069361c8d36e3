/** The connection against Node's HTTP/2 server, and against bytes that no server should send. */
import { once } from 'node:events'
import http2 from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { Http2Connection } from '#keelson/storage/etcd/http2/connection.js'
import { ErrorCode } from '#keelson/storage/etcd/http2/frames.js'
import { encodeHeaders } from '#keelson/storage/etcd/http2/hpack.js'
import type { Http2Stream } from '#keelson/storage/etcd/http2/stream.js'
import { until } from '../../../support/until.js'

const BLOCK = encodeHeaders({ ':method': 'POST', ':scheme': 'http', ':path': '/x', ':authority': 'here' })
const WINDOW = 64 * 1024

interface Answer {
  readonly headers: Record<string, string>[]
  readonly body: Buffer
  readonly error: Error | undefined
  readonly rstCode: number
}

/** Gives an answer when the stream has closed. */
function ask(
  connection: Http2Connection,
  body?: Buffer,
): { stream: Http2Stream; answer: Promise<Answer>; got(): number } {
  const headers: Record<string, string>[] = []
  const chunks: Buffer[] = []
  let stream: Http2Stream | undefined
  const answer = new Promise<Answer>((resolve) => {
    stream = connection.request(BLOCK, {
      onHeaders: (one) => headers.push(Object.fromEntries(one)),
      onData: (chunk) => chunks.push(chunk),
      onEnd: () => undefined,
      onClose: (error) => resolve({ headers, body: Buffer.concat(chunks), error, rstCode: stream!.rstCode }),
    })
  })
  if (body !== undefined) stream!.end(body)
  return { stream: stream!, answer, got: () => chunks.reduce((sum, { length }) => sum + length, 0) }
}

async function connect(
  t: Test,
  port: number,
  options: { readonly firstStream?: number } = {},
): Promise<{ connection: Http2Connection; goAways: number[]; closed: Promise<Error> }> {
  const goAways: number[] = []
  let connection: Http2Connection | undefined
  let ready: (() => void) | undefined
  const isReady = new Promise<void>((resolve) => {
    ready = resolve
  })
  const closed = new Promise<Error>((resolve) => {
    connection = new Http2Connection({
      url: `http://127.0.0.1:${port}`,
      streamWindowBytes: WINDOW,
      connectionWindowBytes: 1024 * 1024,
      onReady: () => ready!(),
      onGoAway: (code) => goAways.push(code),
      onClose: resolve,
      ...options,
    })
  })
  t.teardown(() => connection!.destroy(new Error('the test is over')))
  await Promise.race([isReady, closed])
  return { connection: connection!, goAways, closed }
}

async function serve(
  t: Test,
  onStream: (stream: http2.ServerHttp2Stream) => void | Promise<void>,
  settings: http2.Settings = {},
): Promise<number> {
  const server = http2.createServer({ settings })
  const sessions = new Set<http2.ServerHttp2Session>()
  server.on('session', (session) => sessions.add(session))
  server.on('stream', (stream) => {
    // Of streams that are reset.
    stream.on('error', () => undefined)
    void onStream(stream)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

async function bodyOf(stream: http2.ServerHttp2Stream): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** Every printable character, as a header's value may have them. */
const PRINTABLE = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i))
  .join('')
  .trim()

t.test('headers, trailers and bodies of any size, many at once', async (t) => {
  const port = await serve(t, async (stream) => {
    const body = await bodyOf(stream)
    stream.respond({ ':status': 200, 'x-all': PRINTABLE, 'x-length': String(body.length) }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end(body)
  })
  const { connection } = await connect(t, port)
  const sizes = [0, 1, 16_383, 16_384, 16_385, 65_535, 65_536, 1_000_000, 5_000_000]
  await Promise.all(
    sizes.map(async (size) => {
      const body = Buffer.alloc(size, `${size}.`)
      const { headers, body: back, error } = await ask(connection, body).answer
      t.equal(error, undefined)
      t.ok(back.equals(body), `${size} bytes`)
      t.match(headers, [{ ':status': '200', 'x-all': PRINTABLE, 'x-length': String(size) }, { 'grpc-status': '0' }])
    }),
  )
})

t.test('a server that takes one at a time gets one at a time', async (t) => {
  let underWay = 0
  let most = 0
  const port = await serve(
    t,
    async (stream) => {
      most = Math.max(most, ++underWay)
      await bodyOf(stream)
      setImmediate(() => {
        underWay--
        stream.respond({ ':status': 200 }, { endStream: true })
      })
    },
    { maxConcurrentStreams: 1 },
  )
  const { connection } = await connect(t, port)
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(connection, Buffer.from('x')).answer))
  t.equal(answers.length, 20)
  t.equal(most, 1)
})

t.test('a stream that is not read stops its server, and nobody else', async (t) => {
  let sent = 0
  const port = await serve(t, (stream) => {
    stream.respond({ ':status': 200 })
    stream.on('error', () => undefined)
    const more = (): void => {
      while (sent < 4_000_000 && stream.write(Buffer.alloc(10_000, 'x'))) sent += 10_000
      sent += 10_000
    }
    stream.on('drain', more)
    more()
  })
  const { connection } = await connect(t, port)
  const held = ask(connection)
  held.stream.pause()
  const other = ask(connection)
  await until(() => other.got() >= 1_000_000, { what: 'a megabyte of the stream that is read' })
  t.equal(held.got(), 0)
  held.stream.resume()
  await until(() => held.got() >= 1_000_000, { what: 'a megabyte of the stream that was held' })
  held.stream.close(ErrorCode.cancel)
  t.equal((await held.answer).error, undefined)
})

t.test('a reset is told with its code', async (t) => {
  const port = await serve(t, (stream) => stream.close(http2.constants.NGHTTP2_REFUSED_STREAM))
  const { connection } = await connect(t, port)
  t.equal((await ask(connection, Buffer.from('x')).answer).rstCode, ErrorCode.refusedStream)
})

t.test('GOAWAY: what was begun is finished, what was not is refused', async (t) => {
  const port = await serve(t, (stream) => {
    stream.session!.goaway(0, stream.id)
    stream.respond({ ':status': 200 }, { endStream: true })
  })
  const { connection, goAways } = await connect(t, port)
  const first = ask(connection, Buffer.from('x'))
  const second = ask(connection, Buffer.from('x'))
  t.equal((await first.answer).rstCode, ErrorCode.noError)
  t.equal((await second.answer).rstCode, ErrorCode.refusedStream)
  t.ok(goAways.length > 0)
})

t.test('pings are answered, both ways', async (t) => {
  const answered: Promise<void>[] = []
  const port = await serve(t, (stream) => {
    answered.push(new Promise((resolve) => void stream.session!.ping(() => resolve())))
    stream.respond({ ':status': 200 }, { endStream: true })
  })
  const { connection } = await connect(t, port)
  await new Promise<void>((resolve) => connection.ping(resolve))
  await ask(connection, Buffer.from('x')).answer
  await Promise.all(answered)
})

t.test('a connection that is lost ends every stream with why', async (t) => {
  const port = await serve(t, (stream) => stream.session!.destroy())
  const { connection, closed } = await connect(t, port)
  const { error } = await ask(connection, Buffer.from('x')).answer
  t.ok(error instanceof Error)
  t.equal(await closed, error)
  t.ok(connection.closed)
})

const frame = (type: number, flags: number, id: number, payload: string | Buffer): Buffer => {
  const body = Buffer.from(payload)
  const head = Buffer.from([0, 0, 0, type, flags, 0, 0, 0, id])
  head.writeUIntBE(body.length, 0, 3)
  return Buffer.concat([head, body])
}
const SETTINGS = frame(4, 0, 0, '')

/** A server that says just this, in pieces of so many bytes. */
async function recite(t: Test, bytes: Buffer, pieceBytes = 65_536): Promise<number> {
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined)
    // The first request is there.
    let seen = 0
    const say = async (): Promise<void> => {
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        socket.write(bytes.subarray(at, at + pieceBytes))
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    socket.on('data', (chunk: Buffer) => {
      if (seen === 0) socket.write(SETTINGS)
      seen += chunk.length
      if (chunk.includes('/x')) void say()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

t.test('frames in any pieces: padding, priorities, headers over several frames, frames of later times', async (t) => {
  const said = Buffer.concat([
    frame(0xbe, 0xff, 0, 'unheard of'),
    frame(2, 0, 1, Buffer.alloc(5)),
    frame(1, 0x2c, 1, Buffer.from([2, 0, 0, 0, 0, 16, 0x88, 0, 0])),
    frame(0, 8, 1, Buffer.from([3, 0x61, 0x62, 0, 0, 0])),
    frame(0, 0, 1, 'c'),
    frame(1, 1, 1, Buffer.from([0, 1])),
    frame(9, 0, 1, Buffer.from([0x61])),
    frame(9, 4, 1, Buffer.from([1, 0x62])),
  ])
  for (const pieceBytes of [1, 7, 1000]) {
    const { connection } = await connect(t, await recite(t, said, pieceBytes))
    const { headers, body, error } = await ask(connection, Buffer.from('x')).answer
    t.equal(error, undefined)
    t.same(headers, [{ ':status': '200' }, { a: 'b' }])
    t.equal(body.toString(), 'abc')
  }
})

t.test('what no server may say ends the connection', async (t) => {
  const wrong: Record<string, Buffer> = {
    'a frame that is too large': Buffer.from([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]),
    'headers that make no sense': frame(1, 4, 1, Buffer.from([0xff])),
    'padding longer than its frame': frame(0, 8, 1, Buffer.from([9, 1])),
    'headers broken off': Buffer.concat([frame(1, 0, 1, Buffer.from([0x88])), frame(0, 0, 1, 'x')]),
    'headers that go on without a beginning': frame(9, 4, 1, Buffer.from([0x88])),
    'a push': frame(5, 4, 1, Buffer.alloc(4)),
    'a reset that is too short': frame(3, 0, 1, 'x'),
  }
  for (const [name, bytes] of Object.entries(wrong)) {
    const { connection, closed } = await connect(t, await recite(t, bytes))
    const { error } = await ask(connection, Buffer.from('x')).answer
    t.ok(error instanceof Error, name)
    t.equal(await closed, error)
  }
})

t.test(
  'a connection whose stream numbers run out is given up for new calls while those under way are finished',
  async (t) => {
    let finish: (() => void) | undefined
    let opened = 0
    const port = await serve(t, async (stream) => {
      opened++
      if (opened === 1)
        await new Promise<void>((resolve) => {
          finish = resolve
        })
      stream.respond({ ':status': 200 })
      stream.end('done')
    })
    const { connection, goAways } = await connect(t, port, { firstStream: 2 ** 31 - 5 })
    const first = ask(connection, Buffer.from('1'))
    t.same(goAways, [ErrorCode.noError], 'whoever uses it is told to go elsewhere')
    const last = ask(connection, Buffer.from('2'))
    const more = [ask(connection, Buffer.from('3')), ask(connection, Buffer.from('4'))]
    t.equal((await last.answer).body.toString(), 'done')
    const refused = await more[1]!.answer
    t.equal(refused.rstCode, ErrorCode.refusedStream, 'what has no number any more was never sent')
    finish!()
    t.equal((await first.answer).body.toString(), 'done')
  },
)

for (const where of ['onHeaders', 'onData', 'onEnd', 'onClose'] as const)
  t.test(`who throws in ${where} ends the connection, and everybody on it is told`, async (t) => {
    const port = await serve(t, (stream) => {
      stream.respond({ ':status': 200 })
      stream.end('hello')
    })
    const { connection, closed } = await connect(t, port)
    const bang = (): never => {
      throw new Error('bang')
    }
    const told: string[] = []
    const silent = {
      onHeaders: () => undefined,
      onData: () => undefined,
      onEnd: () => undefined,
      onClose: () => undefined,
    }
    const other = connection.request(BLOCK, { ...silent, onClose: () => told.push('other') })
    connection.request(BLOCK, { ...silent, [where]: bang }).end(Buffer.from('x'))
    t.equal((await closed).message, 'bang')
    t.ok(connection.closed)
    t.same(told, ['other'])
    t.ok(other)
  })
