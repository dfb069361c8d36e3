import t from 'tap'
import { BodyTooLarge, ClientGone } from '#keelson/main/http/body-reader.js'
import { Exchange } from '#keelson/main/http/exchange.js'
import { until } from '../../support/until.js'
import { FakePort, requestHead } from './fake-port.js'

const JSON_HEAD = { status: 200, contentType: 'application/json' }
const open = (head = {}) => {
  const port = new FakePort()
  const exchange = new Exchange(requestHead(head), port)
  const finished: number[] = []
  exchange.onFinished((status) => finished.push(status))
  return { port, exchange, finished }
}
const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )
const bytes = (text: string): Uint8Array => Buffer.from(text)
const SPACE = { bytes: bytes(' '), place: 'between' } as const

t.test('one answer, with the headers that every answer has', async (t) => {
  const { port, exchange, finished } = open()
  exchange.respond({ ...JSON_HEAD, headers: ['Warning', 'w'] }, '{}')
  exchange.respond({ ...JSON_HEAD, status: 500 }, 'again')
  t.equal(port.status, '200 OK')
  t.equal(port.body, '{}')
  t.same(port.headers, [
    ['Audit-Id', 'audit'],
    ['Cache-Control', 'no-cache, private'],
    ['Content-Type', 'application/json'],
    ['Warning', 'w'],
  ])
  t.same(finished, [200])
})

t.test('a number that is no status is not written', async (t) => {
  for (const status of [0, 101, 600, 99_999]) {
    const { port, exchange } = open()
    exchange.respond({ ...JSON_HEAD, status }, '{}')
    t.equal(port.status, '500 Internal Server Error', `${status}`)
  }
})

t.test('a value that would end its line does not', async (t) => {
  const { port, exchange } = open()
  exchange.extraHeaders = ['X-Extra', 'a\r\nX-Forged: 1']
  exchange.respond({ ...JSON_HEAD, headers: ['Warning', 'w\nX-Forged: 2'] }, '{}')
  t.same(port.headers.slice(3), [
    ['Warning', 'w X-Forged: 2'],
    ['X-Extra', 'a  X-Forged: 1'],
  ])
})

t.test('HEAD gets no body', async (t) => {
  const { port, exchange } = open({ method: 'HEAD' })
  exchange.respond(JSON_HEAD, '{}')
  t.equal(port.body, '')
})

t.test('nothing touches the response once the client is gone', async (t) => {
  const { port, exchange, finished } = open()
  let heard = 0
  exchange.onAbort(() => heard++)
  const stream = exchange.startStream(JSON_HEAD, SPACE)!
  port.abort()
  t.equal(stream.write(bytes('a')), false)
  stream.idle()
  t.equal(stream.writeAll([bytes('b'), bytes('c')]), false)
  stream.end()
  exchange.respond(JSON_HEAD, 'late')
  exchange.respondAndClose(JSON_HEAD, 'late')
  port.drain(100)
  exchange.onAbort(() => heard++)
  t.equal(heard, 2, 'who asks late is told at once')
  t.same(finished, [0])
  t.ok(exchange.aborted)
})

t.test('a body comes whole, in a copy of its own', async (t) => {
  const { port, exchange } = open({ method: 'POST' })
  const body = exchange.readBody(10)
  port.send('abc', false)
  port.send('def', false)
  port.send('', true)
  t.equal(Buffer.from(await body).toString(), 'abcdef')
})

t.test('a body beyond its limit is taken in to its end, then refused', async (t) => {
  const { port, exchange } = open({ method: 'POST', contentLength: '12' })
  const body = exchange.readBody(10)
  let refused = false
  body.catch(() => {
    refused = true
  })
  port.send('0123456789a', false)
  await Promise.resolve()
  t.equal(refused, false, 'the client is still writing')
  port.send('b', true)
  t.ok((await failure(body)) instanceof BodyTooLarge)
})

t.test('a body far beyond its limit is refused at once', async (t) => {
  const said = open({ method: 'POST', contentLength: '1000' }).exchange.readBody(10)
  t.ok((await failure(said)) instanceof BodyTooLarge)
  const { port, exchange } = open({ method: 'POST' })
  const body = exchange.readBody(10)
  port.send('x'.repeat(41), false)
  t.ok((await failure(body)) instanceof BodyTooLarge, 'also when its length was not said')
  exchange.respondAndClose({ ...JSON_HEAD, status: 413 }, 'too large')
  t.ok(port.closed)
})

t.test('a body that never ends is given up with its client', async (t) => {
  const { port, exchange } = open({ method: 'POST' })
  const body = exchange.readBody(10)
  port.send('abc', false)
  port.abort()
  t.ok((await failure(body)) instanceof ClientGone)
})

t.test('a sized body goes out no faster than the client takes it', async (t) => {
  const { port, exchange, finished } = open()
  const pieces = ['hello ', 'slow ', 'world']
  let asked = 0
  let done = 0
  port.room = 4
  exchange.respondSized(JSON_HEAD, {
    totalBytes: 16,
    heldBytes: 0,
    next: () => {
      const piece = pieces[asked++]
      return piece === undefined ? undefined : bytes(piece)
    },
    done: () => done++,
  })
  t.equal(asked, 1, 'no piece is made before the one before it is out')
  while (!port.ended) t.equal(port.drain(3), port.ended)
  t.equal(port.body, 'hello slow world')
  t.equal(done, 1)
  t.same(finished, [200])
})

t.test('a sized body lets go of what it holds when the client goes away', async (t) => {
  const { port, exchange, finished } = open()
  let done = 0
  port.room = 1
  exchange.respondSized(JSON_HEAD, {
    totalBytes: 5,
    heldBytes: 0,
    next: () => bytes('hello'),
    done: () => done++,
  })
  port.abort()
  port.drain(100)
  t.equal(done, 1)
  t.same(finished, [0])
})

t.test('a stream shows its head at once and fills in nothing afterwards', async (t) => {
  const { port, exchange, finished } = open()
  const stream = exchange.startStream(JSON_HEAD, SPACE)!
  stream.idle()
  t.equal(port.body, ' ', 'without a byte of body the head would wait')
  t.equal(stream.write(bytes('{}\n')), true)
  stream.idle()
  stream.end()
  t.equal(port.body, ' {}\n')
  t.same(finished, [200])
  stream.end()
})

t.test('a stream is drained only when everything before has gone out', async (t) => {
  const { port, exchange } = open()
  const stream = exchange.startStream(JSON_HEAD, SPACE)!
  let drains = 0
  stream.onDrain(() => drains++)
  port.room = 2
  t.equal(stream.write(bytes('{"a":1}\n')), false)
  port.drain(0)
  t.equal(drains, 0, 'the client took a part: what is left comes first')
  port.drain(10)
  t.equal(drains, 1)
})

t.test('an engine that can send a head alone gets no filler', async (t) => {
  const { port, exchange } = open()
  port.flushesHead = true
  port.needsNudge = false
  const stream = exchange.startStream(JSON_HEAD, SPACE)!
  stream.idle()
  t.ok(port.headFlushed)
  port.room = 2
  t.equal(stream.write(bytes('{"a":1}\n')), false)
  let drains = 0
  stream.onDrain(() => drains++)
  port.drain(10)
  t.equal(drains, 1)
  t.equal(port.body, '{"a":1}\n')
  stream.touch()
  t.equal(port.touches, 1)
})

t.test('what every frame begins with can go ahead; the next frame goes without it', async (t) => {
  const { port, exchange } = open()
  const stream = exchange.startStream(JSON_HEAD, { bytes: bytes('0'), place: 'ahead' })!
  stream.idle()
  stream.idle()
  t.equal(port.body, '0', 'the head is out, and the first byte of a frame')
  stream.write(bytes('0one'))
  stream.write(bytes('0two'))
  stream.idle()
  t.equal(port.body, '0one0two')
})

t.test('a frame that cannot follow what went ahead ends the connection', async (t) => {
  const { port, exchange, finished } = open()
  const stream = exchange.startStream(JSON_HEAD, { bytes: bytes('0'), place: 'ahead' })!
  stream.idle()
  t.equal(stream.write(bytes('1one')), false)
  t.equal(stream.write(bytes('0two')), false, 'nothing follows it')
  await until(() => finished.length > 0, { what: 'the exchange to finish' })
  t.ok(port.closed)
  t.equal(port.body, '0')
})

t.test('a sized body whose rest cannot be had ends the connection', async (t) => {
  const { port, exchange, finished } = open()
  let asked = 0
  let done = 0
  exchange.respondSized(JSON_HEAD, {
    totalBytes: 5,
    heldBytes: 0,
    next: () => (asked++ === 0 ? bytes('he') : undefined),
    done: () => done++,
  })
  t.ok(port.closed)
  t.equal(port.body, 'he')
  t.equal(done, 1)
  t.same(finished, [0])
})
