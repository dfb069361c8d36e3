import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import path from 'node:path'
import t from 'tap'
import { dialThrough } from '#keelson/lib/egress/connect-tunnel.js'
import { httpAgent } from '#keelson/lib/egress/egress-agents.js'
import type { ConnectProxy as ProxyConfig } from '#keelson/lib/egress/egress-config.js'
import { TestAuthority } from '../../support/certificates.js'
import { ConnectProxy } from '../../support/connect-proxy.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const greeter = net.createServer((socket) => socket.end('hello'))
greeter.listen(0, '127.0.0.1')
await once(greeter, 'listening')
t.teardown(() => greeter.close())
const targets = { 'greeter.inside:7': (greeter.address() as AddressInfo).port }
const TARGET = { host: 'greeter.inside', port: 7 }

const at = (proxy: ConnectProxy, tls?: ProxyConfig['tls']): ProxyConfig => ({
  address: { host: '127.0.0.1', port: Number(new URL(proxy.url).port) },
  tls,
})

async function words(config: ProxyConfig): Promise<string> {
  const socket = await dialThrough(config)!(TARGET)
  const chunks: Buffer[] = []
  for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

t.test('no proxy means that nothing is dialled', async (t) => {
  t.equal(dialThrough(undefined), undefined)
})

t.test('a tunnel over TCP leads to a name that the proxy alone knows', async (t) => {
  const proxy = await ConnectProxy.start({ targets })
  t.teardown(() => proxy.cut())
  t.equal(await words(at(proxy)), 'hello')
  t.strictSame(proxy.asked, ['greeter.inside:7'])
})

t.test('a tunnel over a Unix socket', async (t) => {
  const socketPath = path.join(temporaryFolder(t, 'egress'), 'proxy.sock')
  const proxy = await ConnectProxy.start({ targets, socketPath })
  t.teardown(() => proxy.cut())
  t.equal(await words({ address: { socketPath }, tls: undefined }), 'hello')
})

t.test('a tunnel over TLS shows our certificate, and believes the authority alone', async (t) => {
  const authority = await TestAuthority.create()
  const own = await authority.sign('CN=proxy')
  const proxy = await ConnectProxy.start({ targets, tls: { ...own, authority: authority.certificate } })
  t.teardown(() => proxy.cut())
  const client = await authority.sign('CN=kube-apiserver')
  const [cert, key] = [client.certificate, client.key]
  t.equal(await words(at(proxy, { ca: authority.certificate, cert, key })), 'hello')
  const stranger = (await TestAuthority.create()).certificate
  await t.rejects(words(at(proxy, { ca: stranger, cert, key })), /does not connect to greeter\.inside:7/)
  t.equal(proxy.asked.length, 1)
})

t.test('a proxy that refuses, hangs, talks nonsense or is not there is told of', async (t) => {
  const proxy = await ConnectProxy.start({ targets })
  const config = at(proxy)
  proxy.refusal = '403 Forbidden'
  await t.rejects(words(config), /does not connect to greeter\.inside:7: it answered 403 Forbidden/)
  await proxy.cut()
  await t.rejects(words(config), /ECONNREFUSED/)
  const silent = net.createServer((socket) => socket.on('error', () => socket.destroy()))
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => silent.close())
  const { port } = silent.address() as AddressInfo
  const dial = dialThrough({ address: { host: '127.0.0.1', port }, tls: undefined })!
  await t.rejects(dial(TARGET, 20), /no answer in 20 ms/)
  const babbler = net.createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(64 * 1024)}\r\n\r\n`)
  })
  babbler.listen(0, '127.0.0.1')
  await once(babbler, 'listening')
  t.teardown(() => babbler.close())
  const babble: ProxyConfig = {
    address: { host: '127.0.0.1', port: (babbler.address() as AddressInfo).port },
    tls: undefined,
  }
  await t.rejects(words(babble), /does not connect/)
})

t.test('requests share a tunnel that is kept, and fail when there is none', async (t) => {
  const web = http.createServer((request, response) => response.end(request.url))
  web.listen(0, '127.0.0.1')
  await once(web, 'listening')
  t.teardown(() => web.close())
  const proxy = await ConnectProxy.start({ targets: { 'web.inside:80': (web.address() as AddressInfo).port } })
  const agent = httpAgent({ dial: dialThrough(at(proxy)), timeoutMs: 0 }, { keepAlive: true })
  t.teardown(() => agent.destroy())
  const get = async (url: string): Promise<string> => {
    const request = http.get({ host: 'web.inside', path: url, agent })
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    let text = ''
    for await (const chunk of response) text += String(chunk)
    return text
  }
  t.equal(await get('/a'), '/a')
  t.equal(await get('/b'), '/b')
  t.strictSame(proxy.asked, ['web.inside:80'])
  await proxy.cut()
  await t.rejects(get('/c'))
  await proxy.back()
  t.equal(await get('/d'), '/d')
  await proxy.cut()
})
