import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, createServer as createHttp2Server, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, connect as open } from 'node:net'
import t, { type Test } from 'tap'
import { Http1ResponsePort } from '#keelson/main/http/node/http1-response-port.js'
import { Http2ResponsePort } from '#keelson/main/http/node/http2-response-port.js'
import { NodeConnection } from '#keelson/main/http/node/node-connection.js'
import { STALL_MS, Stalls } from '#keelson/main/http/node/stalls.js'
import { FakeClock } from '../../../support/fake-clock.js'
import { until } from '../../../support/until.js'

const HEAD = { status: 200, contentType: 'text/plain' }
const GIVEN_UP_MS = STALL_MS + 4000

async function listen(t: Test, server: ReturnType<typeof createServer | typeof createHttp2Server>): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

t.test('an answer in HTTP/2 that has ended and is not read is given up', async (t) => {
  const clock = new FakeClock()
  const stalls = new Stalls(clock)
  const server = createHttp2Server()
  let answers = 0
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    const port = new Http2ResponsePort(stream, false, new NodeConnection(stream.session!.socket), stalls)
    port.writeHead(HEAD, 'audit', [])
    const body = Buffer.alloc(60_000, 120)
    if (headers[':path'] === '/end') port.end(body)
    else port.tryEnd(body, body.byteLength)
    answers++
  })
  const port = await listen(t, server)
  const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } })
  t.teardown(() => session.destroy())
  const streams = ['/end', '/sized'].map((path) => session.request({ ':path': path }))
  for (const stream of streams) stream.on('error', () => undefined)
  await until(() => answers === 2, { what: 'two answers' })
  await clock.advance(STALL_MS / 2)
  t.notOk(streams.some(({ closed }) => closed))
  await clock.advance(GIVEN_UP_MS)
  await until(() => streams.every(({ closed }) => closed), { what: 'both to be reset' })
  t.same(
    streams.map(({ rstCode }) => rstCode),
    [2, 2],
  )
  t.equal(clock.pendingTimers, 0, 'nothing is waited for')
})

t.test('an answer in HTTP/2 that is read is waited for no more', async (t) => {
  const clock = new FakeClock()
  const stalls = new Stalls(clock)
  const server = createHttp2Server()
  server.on('stream', (stream: ServerHttp2Stream) => {
    const port = new Http2ResponsePort(stream, false, new NodeConnection(stream.session!.socket), stalls)
    port.writeHead(HEAD, 'audit', [])
    port.end(Buffer.alloc(60_000, 120))
  })
  const session = connect(`http://127.0.0.1:${await listen(t, server)}`)
  t.teardown(() => session.destroy())
  const stream = session.request({ ':path': '/' })
  stream.resume()
  await once(stream, 'close')
  t.equal(stream.rstCode, 0)
  await clock.advance(GIVEN_UP_MS)
  t.equal((await once(session.request({ ':path': '/' }).resume(), 'close')).length, 0, 'the connection goes on')
})

t.test('an answer in HTTP/1.1 that has ended and is not read is given up', async (t) => {
  const clock = new FakeClock()
  const stalls = new Stalls(clock)
  let answered = false
  let closed = false
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const options = { isClosing: () => false, hasBody: false }
    const port = new Http1ResponsePort(request, response, new NodeConnection(request.socket), stalls, options)
    request.socket.once('close', () => {
      closed = true
    })
    port.writeHead(HEAD, 'audit', [])
    // More than the buffers of the kernel hold.
    const body = Buffer.alloc(32 * 1024 * 1024, 120)
    port.tryEnd(body, body.byteLength)
    answered = true
  })
  const socket = open(await listen(t, server), '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
  socket.on('error', () => undefined)
  t.teardown(() => socket.destroy())
  socket.pause()
  await until(() => answered, { what: 'the answer' })
  await clock.advance(STALL_MS / 2)
  t.notOk(closed)
  await clock.advance(GIVEN_UP_MS)
  await until(() => closed, { what: 'the connection to be closed' })
  t.pass('the connection is closed')
})

t.test('an answer behind another one waits for that, and is not given up', async (t) => {
  const clock = new FakeClock()
  const stalls = new Stalls(clock)
  const ports: Http1ResponsePort[] = []
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const options = { isClosing: () => false, hasBody: false }
    const port = new Http1ResponsePort(request, response, new NodeConnection(request.socket), stalls, options)
    port.writeHead(HEAD, 'audit', [])
    if (ports.push(port) === 2) port.end('second')
  })
  let text = ''
  const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
  const socket = open(await listen(t, server), '127.0.0.1', () => socket.write(`${get}${get}`))
  t.teardown(() => socket.destroy())
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    text += chunk
  })
  await until(() => ports.length === 2, { what: 'two requests' })
  await clock.advance(GIVEN_UP_MS)
  ports[0]!.end('first')
  await until(() => text.includes('first') && text.endsWith('second'), { what: 'both answers' })
  t.pass('both answers come')
})

t.test('a body that trickles in after its answer is not waited for', async (t) => {
  const clock = new FakeClock()
  const stalls = new Stalls(clock)
  let received = 0
  let closed = false
  let port: Http1ResponsePort | undefined
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const options = { isClosing: () => false, hasBody: true }
    port = new Http1ResponsePort(request, response, new NodeConnection(request.socket), stalls, options)
    port.onData((chunk) => {
      received += chunk.byteLength
    })
  })
  server.keepAliveTimeout = 0
  const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n'
  const socket = open(await listen(t, server), '127.0.0.1', () => socket.write(head))
  socket.on('error', () => undefined)
  socket.resume()
  socket.once('close', () => {
    closed = true
  })
  t.teardown(() => socket.destroy())
  const trickle = async (): Promise<void> => {
    const before = received
    socket.write('x')
    await until(() => received > before || closed, { what: 'a byte' })
    await clock.advance(STALL_MS / 2)
  }
  await until(() => port !== undefined, { what: 'the request' })
  for (let i = 0; i < 4; i++) await trickle()
  t.notOk(closed, 'before its answer it may take its time: the request has a limit of its own')
  port!.writeHead(HEAD, 'audit', [])
  port!.end('no')
  for (let i = 0; i < 3; i++) await trickle()
  await until(() => closed, { what: 'the connection to be closed' })
  t.pass('the connection is closed')
})
