import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import t from 'tap'
import { WebSocket } from 'ws'
import type { Exchange } from '#keelson/main/http/exchange.js'
import { TestAuthority } from '../../support/certificates.js'
import { listen, listenerFiles } from '../../support/http-listener.js'
import { until } from '../../support/until.js'

const MOST = 8
/** More than there are places: a connection that is not counted out when it goes takes one for good. */
const TIMES = 3 * MOST

for (const isTls of [false, true])
  t.test(`a connection gives its place back, however it goes (${isTls ? 'TLS' : 'plain'})`, async (t) => {
    const onRequest = (exchange: Exchange): void => {
      const { rawPath } = exchange.head
      if (rawPath === '/stream') exchange.startStream({ status: 200, contentType: 'application/json' })?.idle()
      else exchange.respond({ status: rawPath === '/no' ? 403 : 200, contentType: 'text/plain' }, 'here')
    }
    const server = await listen(t, onRequest, {
      tls: isTls ? await listenerFiles(t, await TestAuthority.create()) : undefined,
      connections: { most: MOST, refused: () => undefined },
    })
    const { port } = server
    const host = '127.0.0.1'
    const insecure = { rejectUnauthorized: false }
    const connect = (): net.Socket => {
      const socket = isTls ? tls.connect({ host, port, ...insecure }) : net.connect({ host, port })
      socket.on('error', () => undefined)
      return socket
    }
    const opened = (socket: net.Socket): Promise<unknown> => once(socket, isTls ? 'secureConnect' : 'connect')
    const gone = async (socket: net.Socket): Promise<void> => {
      if (!socket.closed) await once(socket, 'close')
    }
    const ask = (agent: http.Agent | false): Promise<number> =>
      new Promise((resolve, reject) => {
        const { get } = isTls ? https : http
        const call = get({ host, port, path: '/', agent, ...insecure }, (response) => {
          response.resume()
          response.once('end', () => resolve(response.statusCode ?? 0))
        })
        call.once('error', reject)
      })
    const webSocket = (target: string): WebSocket => {
      const socket = new WebSocket(`${isTls ? 'wss' : 'ws'}://${host}:${port}${target}`, insecure)
      socket.on('error', () => undefined)
      return socket
    }
    const ways: Record<string, () => Promise<unknown>> = {
      'says nothing': async () => {
        const socket = connect()
        await opened(socket)
        socket.destroy()
        await gone(socket)
      },
      'never speaks TLS': async () => {
        const socket = net.connect({ host, port })
        socket.on('error', () => undefined)
        await once(socket, 'connect')
        socket.end('what is this?\r\n\r\n')
        socket.resume()
        await gone(socket)
      },
      'one request': () => ask(false),
      'breaks off within a head': async () => {
        const socket = connect()
        await opened(socket)
        socket.write('GET / HTTP/1.1\r\nHos')
        socket.destroy()
        await gone(socket)
      },
      'a WebSocket that is closed': async () => {
        const socket = webSocket('/stream')
        await once(socket, 'open')
        socket.close()
        await once(socket, 'close')
      },
      'a WebSocket that is torn': async () => {
        const socket = webSocket('/stream')
        await once(socket, 'open')
        socket.terminate()
        await once(socket, 'close')
      },
      'a WebSocket that is refused': () => new Promise((resolve) => webSocket('/no').once('close', resolve)),
    }
    for (const [name, way] of Object.entries(ways)) {
      for (let i = 0; i < TIMES; i++) await way()
      // The server may hear of the last ones a moment later.
      const isFree = async (): Promise<boolean> => {
        const agent = new (isTls ? https : http).Agent({ keepAlive: true, maxSockets: MOST - 1 })
        const answers = await Promise.all(Array.from({ length: MOST - 1 }, () => ask(agent).catch(() => 0)))
        agent.destroy()
        return answers.every((status) => status === 200)
      }
      await until(isFree, { what: `all places to be free after "${name}"` })
      t.pass(name)
    }
  })
