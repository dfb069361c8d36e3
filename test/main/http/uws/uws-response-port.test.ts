import { connect } from 'node:net'
import t from 'tap'
import type * as uws from 'uws-newest'
import { findUwsBinary, installedUws, loadUwsBinary } from '#keelson/main/http/uws/uws-binary.js'
import { UwsResponsePort } from '#keelson/main/http/uws/uws-response-port.js'

const binary = findUwsBinary(installedUws())

/** What a client receives of the answer, byte by byte as it is on the wire. */
const received = (port: number): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1')
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1')
    })
    socket.once('error', reject)
    socket.once('close', () => resolve(text))
    socket.write('GET / HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n')
  })

t.test(
  'an answer in chunks has its first length right after its head, with every version that loads',
  { skip: typeof binary === 'string' ? false : 'no binary of uWebSockets.js loads here' },
  async (t) => {
    const { App, us_listen_socket_close, us_socket_local_port } = loadUwsBinary(String(binary)) as typeof uws
    const app = App()
    app.any('/*', (response) => {
      const port = new UwsResponsePort(response)
      port.onAborted(() => undefined)
      port.cork(() => port.writeHead({ status: 200, contentType: 'application/json' }, 'an-id', []))
      port.cork(() => {
        port.flushHead()
        port.write('{"first":1}')
      })
      port.cork(() => port.end())
    })
    const listening = await new Promise<uws.us_listen_socket>((resolve, reject) =>
      app.listen('127.0.0.1', 0, (socket) =>
        socket === false ? reject(new Error('no port')) : resolve(socket as uws.us_listen_socket),
      ),
    )
    t.teardown(() => app.close())
    const text = await received(us_socket_local_port(listening))
    us_listen_socket_close(listening)
    t.match(text, /^HTTP\/1\.1 200 OK\r\n/)
    t.equal(text.slice(text.indexOf('\r\n\r\n')), '\r\n\r\nb\r\n{"first":1}\r\n0\r\n\r\n')
  },
)
