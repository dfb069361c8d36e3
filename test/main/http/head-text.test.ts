import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import type { Exchange } from '#keelson/main/http/exchange.js'
import { answerTo, relayAnswer } from '#keelson/main/kubelet/http-relay.js'
import { passedHeaders } from '#keelson/main/kubelet/upstream-request.js'
import { testEngineChoice } from '../../support/http-engine.js'
import { listen } from '../../support/http-listener.js'
import { sendRaw } from '../../support/raw-http.js'
import { ask, NodeServer } from './node/node-server.js'

/** uWebSockets.js cuts off what is no ASCII at both ends (SECURITY.md). */
const INNER = ['jörg', 'a日本z', 'a😀b', 'plain']
const NAMES = [...INNER, '日本', 'adminé', 'éadmin']
const TEXT = { status: 200, contentType: 'text/plain' }

/** Answers with the value of a header, in its body and in a header, byte for byte. */
async function echo(t: Test): Promise<number> {
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', (head) => {
      const [, value = ''] = /x-name: (.*)\r\n/.exec(head.toString('latin1')) ?? []
      const lines = `HTTP/1.1 200 OK\r\nX-Name: ${value}\r\nContent-Length: ${value.length}\r\nConnection: close\r\n\r\n`
      socket.end(Buffer.from(`${lines}${value}`, 'latin1'))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

async function relay(exchange: Exchange, port: number): Promise<void> {
  const headers = passedHeaders(exchange, () => false)
  const request = http.request({ host: '127.0.0.1', port, headers, agent: false })
  const answered = answerTo(request, exchange)
  request.end()
  relayAnswer(await answered, exchange)
}

for (const engine of [testEngineChoice(), { name: 'node' } as const]) {
  t.test(`values of headers are UTF-8, here and on the other side (${engine.name})`, async (t) => {
    const port = await echo(t)
    const onRequest = (exchange: Exchange): void => {
      if (exchange.head.rawPath === '/relay') relay(exchange, port).catch((error: unknown) => exchange.fail(error))
      else exchange.respond(TEXT, exchange.header('x-name'))
    }
    const server = await listen(t, onRequest, { engine })
    for (const name of engine.name === 'node' ? NAMES : INNER) {
      const get = (path: string) =>
        sendRaw(
          `http://127.0.0.1:${server.port}`,
          Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Name: ${name}\r\nConnection: close\r\n\r\n`),
        )
      const utf8 = (text: string): string => Buffer.from(text, 'latin1').toString()
      t.match(utf8((await get('/')).text), new RegExp(`\r\n\r\n${name}`), `${name} is read`)
      const passed = utf8((await get('/relay')).text)
      t.match(passed, new RegExp(`\nx-name: ${name}\r`, 'i'), `${name} is passed back in a header`)
      t.match(passed, new RegExp(`${name}[^]*\r\n\r\n[^]*${name}`), `${name} is passed on`)
    }
  })
}

t.test('the same in HTTP/2', async (t) => {
  const server = await NodeServer.start(t, (exchange) => exchange.respond(TEXT, exchange.header('x-name')))
  const session = server.session(t)
  for (const name of NAMES) {
    const bytes = Buffer.from(name).toString('latin1')
    t.equal((await ask(session, { ':path': '/', 'x-name': bytes })).body.toString(), name)
  }
})
