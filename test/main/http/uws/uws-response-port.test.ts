import { connect } from 'node:net'
import t, { type Test } from 'tap'
import type * as uws from 'uws-newest'
import { findUwsBinary, installedUws, loadUwsBinary } from '#keelson/main/http/uws/uws-binary.js'
import { UwsResponsePort } from '#keelson/main/http/uws/uws-response-port.js'

const binary = findUwsBinary(installedUws())
const skip = typeof binary === 'string' ? false : 'no binary of uWebSockets.js loads here'

/** A server that has each request answered by the handler, in the turn in which it came; gives its port. */
async function serving(t: Test, handler: (port: UwsResponsePort) => void): Promise<number> {
  const { App, us_socket_local_port } = loadUwsBinary(String(binary)) as typeof uws
  const app = App()
  app.any('/*', (response) => {
    const port = new UwsResponsePort(response, true)
    handler(port)
    port.turnEnded()
  })
  const listening = await new Promise<uws.us_listen_socket>((resolve, reject) =>
    app.listen('127.0.0.1', 0, (socket) =>
      socket === false ? reject(new Error('no port')) : resolve(socket as uws.us_listen_socket),
    ),
  )
  t.teardown(() => app.close())
  return us_socket_local_port(listening)
}

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
  { skip },
  async (t) => {
    const listening = await serving(t, (port) => {
      port.onAborted(() => undefined)
      port.cork(() => port.writeHead({ status: 200, contentType: 'application/json' }, 'an-id', []))
      port.cork(() => {
        port.flushHead()
        port.write('{"first":1}')
      })
      port.cork(() => port.end())
    })
    const text = await received(listening)
    t.match(text, /^HTTP\/1\.1 200 OK\r\n/)
    t.equal(text.slice(text.indexOf('\r\n\r\n')), '\r\n\r\nb\r\n{"first":1}\r\n0\r\n\r\n')
  },
)

t.test('an answer in the turn of its request needs nobody to watch for the end of the client', { skip }, async (t) => {
  let aborted = 0
  const listening = await serving(t, (port) => {
    port.onAborted(() => aborted++)
    port.cork(() => {
      port.writeHead({ status: 404, contentType: 'text/plain' }, 'an-id', [])
      port.end('gone')
    })
  })
  t.match(await received(listening), /^HTTP\/1\.1 404 Not Found\r\nAudit-Id: an-id\r\n[\s\S]*\r\n\r\ngone$/)
  t.equal(aborted, 0)
})

for (const [kind, begin] of [
  ['waits', () => undefined],
  ['is half written', (port: UwsResponsePort) => port.cork(() => void port.tryEnd(Buffer.from('half'), 8))],
  ['is a stream', (port: UwsResponsePort) => port.cork(() => void port.write('first'))],
] as const)
  t.test(`a client that goes while its answer ${kind} is noticed, once`, { skip }, async (t) => {
    let aborted = 0
    let gone: (() => void) | undefined
    const noticed = new Promise<void>((resolve) => {
      gone = resolve
    })
    const listening = await serving(t, (port) => {
      port.onAborted(() => {
        aborted++
        gone?.()
      })
      begin(port)
    })
    const socket = connect(listening, '127.0.0.1')
    socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n')
    setTimeout(() => socket.destroy(), 50)
    await noticed
    t.equal(aborted, 1)
  })

t.test('a connection that is closed in the turn of its request is told of, once', { skip }, async (t) => {
  let aborted = 0
  const listening = await serving(t, (port) => {
    port.onAborted(() => aborted++)
    port.close()
  })
  t.equal(await received(listening), '')
  t.equal(aborted, 1)
})

t.test('an answer after the turn of its request is sent whole', { skip }, async (t) => {
  const listening = await serving(t, (port) => {
    port.onAborted(() => undefined)
    setTimeout(
      () =>
        port.cork(() => {
          port.writeHead({ status: 200, contentType: 'text/plain' }, 'an-id', [])
          port.end('later')
        }),
      10,
    )
  })
  t.match(await received(listening), /^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nlater$/)
})
