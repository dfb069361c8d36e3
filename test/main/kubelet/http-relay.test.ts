import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import t from 'tap'
import type { Exchange } from '#keelson/main/http/exchange.js'
import { answerTo } from '#keelson/main/kubelet/http-relay.js'

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
