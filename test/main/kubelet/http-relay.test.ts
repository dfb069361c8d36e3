import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import type { Exchange } from '#keelson/main/http/exchange.js'
import { answerTo, bodyFraming, hasBody, relayAnswer, sendBody } from '#keelson/main/kubelet/http-relay.js'
import { ask, NodeServer } from '../http/node/node-server.js'

t.test('another side that switches protocols unasked is refused, and its connection is closed', async (t) => {
  let closed: (() => void) | undefined
  const isClosed = new Promise<void>((resolve) => {
    closed = resolve
  })
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('close', () => closed!())
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: anything\r\n\r\n'),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const request = http.request({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  // As the metrics of the server's own requests listen.
  request.once('upgrade', () => undefined)
  const answered = answerTo(request, { onAbort: () => undefined } as unknown as Exchange)
  request.end()
  await t.rejects(answered, { message: /switched protocols/ })
  await isClosed
})

t.test('another side that says "not yet" again and again is not listened to for ever', async (t) => {
  const answered = async (notYet: number): Promise<number | undefined> => {
    const server = net.createServer((socket) => {
      socket.on('error', () => undefined)
      const early = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'
      socket.once('data', () => socket.write(`${early.repeat(notYet)}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const request = http.request({ host: '127.0.0.1', port, agent: false })
    const answer = answerTo(request, { onAbort: () => undefined } as unknown as Exchange)
    request.end()
    const { statusCode } = await answer
    request.destroy()
    return statusCode
  }
  t.equal(await answered(5), 200)
  await t.rejects(answered(6), { message: /too many 1xx/ })
  await t.rejects(answered(10_000), { message: /too many 1xx/ })
})

/** A listener of HTTP/2 that relays everything to the other side. */
async function relayTo(t: Test, upstream: net.Server | http.Server): Promise<NodeServer> {
  upstream.listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  t.teardown(() => upstream.close())
  const { port } = upstream.address() as AddressInfo
  return NodeServer.start(t, (exchange) => {
    const { method, rawPath: path } = exchange.head
    const headers = bodyFraming(exchange)
    const request = http.request({ host: '127.0.0.1', port, method, path, headers, agent: false })
    const answered = answerTo(request, exchange)
    if (hasBody(exchange)) sendBody(request, exchange)
    else request.end()
    answered.then(
      exchange.guard((answer) => relayAnswer(answer, exchange)),
      (error: unknown) => exchange.fail(error),
    )
  })
}

t.test('a body of HTTP/2 is relayed although no header states its length', async (t) => {
  const upstream = http.createServer((request, response) => {
    let text = `${request.headers['transfer-encoding']}:`
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString()
    })
    request.on('end', () => response.end(text))
  })
  const session = (await relayTo(t, upstream)).session(t)
  for (const method of ['POST', 'DELETE']) {
    const answer = await ask(session, { ':path': '/', ':method': method }, Buffer.from('the body'))
    t.equal(answer.body.toString(), 'chunked:the body', method)
  }
  t.equal((await ask(session, { ':path': '/' })).body.toString(), 'undefined:', 'a request that ended with its head')
})

t.test('what HTTP/2 cannot say is not relayed', async (t) => {
  const upstream = net.createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (chunk: Buffer) => {
      const status = /^GET \/(\d+)/.exec(chunk.toString())![1]!
      const headers = 'TE: gzip\r\nHTTP2-Settings: x\r\nETag: a\r\nETag: b\r\nX-Many: a\r\nX-Many: b\r\n'
      socket.end(`HTTP/1.1 ${status} Any\r\n${headers}Content-Length: 2\r\nConnection: close\r\n\r\nhi`)
    })
  })
  const session = (await relayTo(t, upstream)).session(t)
  for (const status of ['000', '099', '600', '999'])
    t.match(await ask(session, { ':path': `/${status}` }), { status: 502, code: 0 }, status)
  const answer = await ask(session, { ':path': '/200' })
  t.match(answer, { status: 200, code: 0, headers: { etag: 'a', 'x-many': 'a, b' } })
  t.equal(answer.body.toString(), 'hi')
  t.notOk('te' in answer.headers || 'http2-settings' in answer.headers)
})
