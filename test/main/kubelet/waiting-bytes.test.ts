import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import t from 'tap'
import { WebSocketServer } from 'ws'
import { BulkTurns } from '#keelson/main/http/bulk-turns.js'
import { HttpServer } from '#keelson/main/http/http-server.js'
import { Trust } from '#keelson/main/kubelet/trust.js'
import { relayTunnel } from '#keelson/main/kubelet/tunnel.js'
import { WaitingBytes } from '#keelson/main/kubelet/waiting-bytes.js'
import { relayWebSocket } from '#keelson/main/kubelet/web-socket-relay.js'
import type { ConnectPlan } from '#keelson/protocol/main-pool.js'
import { testEngineChoice } from '../../support/http-engine.js'
import { until } from '../../support/until.js'

const TUNNEL = 'SPDY/3.1+portforward.k8s.io'
const MEBIBYTE = 1 << 20
const LIMITS = { sessionBytes: 4 * MEBIBYTE, allBytes: 8 * MEBIBYTE, sureBytes: MEBIBYTE }

t.test('what waits is bounded for each session and for all, and each has a part of its own', async (t) => {
  const waiting = new WaitingBytes({ sessionBytes: 40, allBytes: 60, sureBytes: 10 })
  const [one, two, three] = [waiting.session(), waiting.session(), waiting.session()]
  t.ok(one.add(30))
  t.ok(one.add(10))
  t.notOk(one.add(1), 'at the limit of a session')
  t.ok(two.add(20))
  t.notOk(two.add(1), 'at the limit of all')
  t.ok(three.add(10), 'what is sure is sure')
  t.notOk(three.add(1))
  t.equal(waiting.bytes, 70)
  one.taken(30)
  t.ok(one.add(1))
  t.ok(two.add(1))
  one.end()
  one.taken(10)
  t.notOk(one.add(1), 'a session that has ended')
  t.equal(waiting.bytes, 31)
  two.end()
  three.end()
  t.equal(waiting.bytes, 0)
})

for (const kind of ['WebSocket', 'tunnel'] as const)
  t.test(`a kubelet that does not read costs a bounded part of memory: ${kind}`, async (t) => {
    const sockets: Duplex[] = []
    const kubelet = http.createServer()
    const accepted = new WebSocketServer({ noServer: true })
    kubelet.on('upgrade', (request, socket: Socket, head: Buffer) => {
      sockets.push(socket)
      socket.on('error', () => undefined)
      if (kind === 'tunnel')
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n')
      else accepted.handleUpgrade(request, socket, head, (upstream) => upstream.pause())
      socket.pause()
    })
    await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', resolve))
    const plan: ConnectPlan = {
      kind: 'upgrade',
      scheme: 'http',
      host: '127.0.0.1',
      port: (kubelet.address() as AddressInfo).port,
      path: '/exec',
      trust: 'kubelet',
      extendedWebSockets: true,
    }
    const trust = new Trust({ caFile: '', certFile: '', keyFile: '', egress: {}, timeoutMs: 0 })
    const waiting = new WaitingBytes(LIMITS)
    let most = 0
    const session = waiting.session.bind(waiting)
    waiting.session = () => {
      const own = session()
      const add = (bytes: number): boolean => {
        const added = own.add(bytes)
        most = Math.max(most, waiting.bytes)
        return added
      }
      return { ...own, add }
    }
    const server = new HttpServer({
      host: '127.0.0.1',
      port: 0,
      tls: undefined,
      engine: testEngineChoice(),
      http2: { enabled: true, maxStreams: 0 },
      sharePort: false,
      isTaken: false,
      services: { turns: new BulkTurns() },
      onRequest: (exchange) => {
        const common = { exchange, plan, headers: {}, waiting }
        if (kind === 'tunnel') void relayTunnel({ ...common, trust, protocols: [TUNNEL] })
        else void relayWebSocket({ ...common, tls: {}, timeoutMs: 0, path: plan.path, protocols: [] })
      },
    })
    await server.start()
    t.teardown(async () => {
      for (const socket of sockets) socket.destroy()
      await server.close()
      trust.close()
      kubelet.close()
    })
    const open = async (): Promise<Socket> => {
      const request = http.get({
        port: server.port,
        headers: {
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
          ...(kind === 'tunnel' ? { 'sec-websocket-protocol': TUNNEL } : {}),
        },
      })
      const [, socket] = (await once(request, 'upgrade')) as [unknown, Socket]
      socket.on('error', () => undefined)
      sockets.push(socket)
      return socket
    }
    const flooder = await open()
    const quiet = await open()
    const received: Buffer[] = []
    flooder.on('data', (data: Buffer) => received.push(data))
    const message = frame(64 * 1024)
    while (flooder.writable && received.length === 0)
      await new Promise((resolve) => flooder.write(message, () => setImmediate(resolve)))
    await until(() => received.length > 0, { what: 'a farewell' })
    const farewell = Buffer.concat(received)
    t.equal(farewell[0], 0x88, 'the connection is closed in the way of WebSockets')
    t.equal(farewell.readUInt16BE(2), 1013)
    t.equal(farewell.subarray(4).toString(), 'the other side does not read what was sent')
    t.ok(most > 0 && most <= LIMITS.sessionBytes + message.byteLength, `${most} bytes waited`)
    await until(() => waiting.bytes === 0, { what: 'what waited to be given up' })
    t.equal(quiet.readyState, 'open', 'others go on')
  })

/** A message of so many zeros, as clients send them: masked, here with zeros too. */
function frame(bytes: number): Buffer {
  const whole = Buffer.alloc(14 + bytes)
  whole[0] = 0x82
  whole[1] = 0xff
  whole.writeBigUInt64BE(BigInt(bytes), 2)
  return whole
}
