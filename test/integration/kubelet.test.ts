import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import http from 'node:http'
import type { Socket } from 'node:net'
import path from 'node:path'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { TestAuthority } from '../support/certificates.js'
import { KeelsonProcess } from '../support/keelson-process.js'
import { Kubectl, skipWithoutKubectl } from '../support/kubectl.js'
import { TestKubelet } from '../support/kubelet.js'
import { sendRaw } from '../support/raw-http.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { until } from '../support/until.js'

const PODS = '/api/v1/namespaces/default/pods'
const MERGE = { 'content-type': 'application/merge-patch+json' }

interface Answer {
  message?: string
  reason?: string
  details?: { causes?: { message?: string }[] }
}

/** Messages of a WebSocket by channel. */
class Channels {
  readonly socket: WebSocket
  readonly texts: string[] = ['', '', '', '']
  bytes = 0
  code: number | undefined

  constructor(url: string, protocols: readonly string[]) {
    this.socket = new WebSocket(url.replace(/^http/, 'ws'), [...protocols])
    this.socket.on('message', (data: Buffer) => {
      this.bytes += data.byteLength - 1
      if (this.bytes < 1 << 20) this.texts[data[0]!] += data.subarray(1).toString()
    })
    this.socket.on('close', (code) => {
      this.code = code
    })
  }

  async opened(): Promise<this> {
    await once(this.socket, 'open')
    return this
  }

  send(channel: number, text: string | Buffer): void {
    this.socket.send(Buffer.concat([Buffer.from([channel]), Buffer.from(text)]))
  }

  async ended(): Promise<this> {
    await until(() => this.code !== undefined, { what: 'the end of the session' })
    return this
  }
}

/** The name of the protocol has a slash in it, which clients that keep to the rules refuse: so this one is by hand. */
async function openTunnel(
  url: string,
  protocol: string,
): Promise<{ exchange(text: string): Promise<string>; close(): void }> {
  const request = http.get(url, {
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': Buffer.alloc(16, 'k').toString('base64'),
      'sec-websocket-protocol': protocol,
    },
  })
  const [response, socket] = (await once(request, 'upgrade')) as [http.IncomingMessage, Socket]
  if (response.headers['sec-websocket-protocol'] !== protocol) throw new Error('another protocol was chosen')
  return {
    exchange: async (text) => {
      // One short binary message; a mask of zeros changes nothing.
      socket.write(Buffer.concat([Buffer.from([0x82, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)]))
      const [answer] = (await once(socket, 'data')) as [Buffer]
      return answer.subarray(2).toString()
    },
    close: () => socket.destroy(),
  }
}

t.test('what goes to a kubelet', async (t) => {
  const authority = await TestAuthority.create()
  const kubelet = await TestKubelet.start({
    identity: await authority.sign('CN=kubelet'),
    authority: authority.certificate,
  })
  t.teardown(() => kubelet.close())
  const folder = temporaryFolder(t, 'kubelet')
  const file = (name: string, text: string): string => {
    const full = path.join(folder, name)
    writeFileSync(full, text)
    return full
  }
  const client = await authority.sign('CN=kube-apiserver')
  const server = await KeelsonProcess.start([
    `--kubelet-certificate-authority=${file('ca.pem', authority.certificate)}`,
    `--kubelet-client-certificate=${file('client.pem', client.certificate)}`,
    `--kubelet-client-key=${file('client.key', client.key)}`,
  ])
  t.teardown(() => server.close())
  const made = async (t: Test, url: string, body: unknown): Promise<void> => {
    t.equal((await server.request('POST', url, body)).status, 201)
  }
  const node = async (t: Test, name: string, status: object): Promise<void> => {
    await made(t, '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name } })
    t.equal((await server.request('PATCH', `/api/v1/nodes/${name}/status`, { status }, MERGE)).status, 200)
  }
  const pod = (name: string, nodeName: string, containers: string[] = ['c']) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: { nodeName, containers: containers.map((one) => ({ name: one, image: 'i' })) },
  })
  const status = {
    addresses: [
      { type: 'ExternalIP', address: '192.0.2.1' },
      { type: 'InternalIP', address: '127.0.0.1' },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: kubelet.port } },
  }
  await node(t, 'n1', status)
  await node(t, 'n2', { ...status, declaredFeatures: ['ExtendWebSocketsToKubelet'] })
  await made(t, PODS, pod('p', 'n1'))
  await made(t, PODS, pod('new', 'n2', ['c', 'refused']))
  const latest = (): string => kubelet.requests.at(-1)!

  await t.test('logs are read, with what was asked of them', async (t) => {
    const log = await server.request(
      'GET',
      `${PODS}/p/log?tailLines=5&timestamps=true&sinceTime=2020-01-01T01:00:00%2B01:00`,
    )
    t.equal(log.text, 'first line\nlast line\n')
    t.equal(log.headers.get('content-type'), 'text/plain')
    t.equal(latest(), 'GET /containerLogs/default/p/c?timestamps=true&sinceTime=2020-01-01T00%3A00%3A00Z&tailLines=5')
    t.equal(kubelet.callers.at(-1), 'kube-apiserver', 'the kubelet knows who asks')
    const refused = await server.request('GET', `${PODS}/new/log?container=refused`)
    t.equal(refused.status, 400)
    t.match((refused.json as Answer).details?.causes?.[0]?.message, 'waiting to start')
    const choice = await server.request('GET', `${PODS}/new/log`)
    t.match((choice.json as Answer).message, 'choose one of: [c refused]')
    const both = await server.request('GET', `${PODS}/p/log?sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z`)
    t.equal(both.status, 422)
    t.equal((await server.request('GET', `${PODS}/p/log?limitBytes=0`)).status, 422)
    t.equal((await server.request('GET', `${PODS}/p/log?tailLines=x`)).status, 400)
  })

  await t.test('logs are followed as they are written, until one side leaves', async (t) => {
    const abort = new AbortController()
    const response = await fetch(`${server.url}${PODS}/p/log?follow=true`, { signal: abort.signal })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    t.equal((await reader.read()).value, 'first line\n')
    kubelet.log('another\n')
    t.equal((await reader.read()).value, 'another\n')
    abort.abort()
    await until(() => kubelet.followers === 0, { what: 'the kubelet to have no follower' })
    const second = await fetch(`${server.url}${PODS}/p/log?follow=true`)
    await until(() => kubelet.followers === 1, { what: 'the kubelet to have a follower' })
    kubelet.endLogs()
    t.equal(await second.text(), 'first line\n')
  })

  await t.test('commands run over a WebSocket', async (t) => {
    const url = (name: string, query: string, verb = 'exec'): string => `${server.url}${PODS}/${name}/${verb}?${query}`
    const cat = await new Channels(url('new', 'container=c&command=cat&stdin=true&stdout=true'), [
      'v5.channel.k8s.io',
    ]).opened()
    t.equal(cat.socket.protocol, 'v5.channel.k8s.io')
    t.equal(latest(), 'GET /exec/default/new/c?input=1&output=1&command=cat')
    cat.send(0, 'hello')
    await until(() => cat.texts[1] === 'hello', { what: 'what was sent to come back' })
    cat.send(255, Buffer.from([0]))
    await cat.ended()
    t.match(JSON.parse(cat.texts[3]!), { status: 'Success' })
    t.equal(cat.code, 1000)
    const failed = await new Channels(url('p', 'command=exit&command=3&stderr=1'), ['v4.channel.k8s.io']).ended()
    t.equal(failed.texts[2], 'about to end\n')
    t.match(JSON.parse(failed.texts[3]!), { reason: 'NonZeroExitCode', details: { causes: [{ message: '3' }] } })
    const attached = await new Channels(url('p', 'tty=true&stdout=true', 'attach'), ['v4.channel.k8s.io']).opened()
    await until(() => attached.texts[1] === 'tty true\n', { what: 'the terminal to be announced' })
    attached.socket.close(1000)
    await attached.ended()
  })

  await t.test('a kubelet of before is spoken to as it understands', async (t) => {
    const { protocols } = kubelet
    kubelet.protocols = ['v4.channel.k8s.io']
    const url = `${server.url}${PODS}/p/exec?command=cat&stdin=true&stdout=true`
    const cat = await new Channels(url, ['v5.channel.k8s.io']).opened()
    t.equal(cat.socket.protocol, 'v5.channel.k8s.io')
    cat.send(0, 'hello')
    cat.send(255, Buffer.from([0]))
    await until(() => cat.texts[1] === 'hello', { what: 'what was sent to come back' })
    cat.socket.close()
    kubelet.protocols = protocols
  })

  await t.test('kubectl reads logs and runs commands', { skip: skipWithoutKubectl }, async (t) => {
    const kubectl = new Kubectl(server.url)
    t.teardown(() => kubectl.close())
    t.equal((await kubectl.run(['logs', 'p'])).stdout, 'first line\nlast line\n')
    const followed = kubectl.run(['logs', '-f', 'p'])
    await until(() => kubelet.followers === 1, { what: 'the kubelet to have a follower' })
    kubelet.log('more\n')
    kubelet.endLogs()
    t.equal((await followed).stdout, 'first line\nmore\n')
    const failed = await kubectl.run(['exec', 'p', '--', 'exit', '7'])
    t.equal(failed.code, 7)
    t.match(failed.stderr, 'about to end')
    const flood = await kubectl.run(['exec', 'new', '-c', 'c', '--', 'flood', '1000000'])
    t.ok(flood.stdout.length >= 1_000_000)
    t.match((await kubectl.run(['logs', 'none'])).stderr, 'pods "none" not found')
  })

  await t.test('a client that does not read holds the kubelet up, and misses nothing', async (t) => {
    const bytes = 32 << 20
    const url = `${server.url}${PODS}/p/exec?command=flood&command=${bytes}&stdout=true`
    const flood = await new Channels(url, ['v4.channel.k8s.io']).opened()
    flood.socket.pause()
    for (let i = 0; i < 200; i++) t.equal((await server.request('GET', `${PODS}/p/log`)).status, 200)
    t.ok(kubelet.flooded < bytes - (8 << 20), `the kubelet waits: it has sent ${kubelet.flooded} bytes`)
    flood.socket.resume()
    await flood.ended()
    t.ok(flood.bytes > bytes, `${flood.bytes} bytes came through`)
    t.equal(flood.code, 1000)
  })

  await t.test('ports are forwarded, and the bytes of SPDY are tunnelled', async (t) => {
    const url = `${server.url}${PODS}/p/portforward?ports=8080`
    const forward = await new Channels(url, ['v4.channel.k8s.io']).opened()
    forward.send(0, 'abc')
    await until(() => forward.texts[0]!.endsWith('ABC'), { what: 'the forwarded bytes to come back' })
    t.equal(latest(), 'GET /portForward/default/p?port=8080')
    forward.socket.close()
    const protocol = 'SPDY/3.1+portforward.k8s.io'
    const tunnel = await openTunnel(url, protocol)
    t.match(latest(), /^POST \/portForward\/default\/p/)
    t.equal(await tunnel.exchange('any bytes'), 'any bytes')
    tunnel.close()
  })

  await t.test('what is no WebSocket is told so', async (t) => {
    const plain = await server.request('POST', `${PODS}/p/exec?command=cat`)
    t.match(plain.json, { code: 400, message: 'Upgrade request required' })
    const absent = new WebSocket(`${server.url.replace('http', 'ws')}${PODS}/none/exec?command=cat`, [
      'v4.channel.k8s.io',
    ])
    const [, response] = (await once(absent, 'unexpected-response')) as [unknown, { statusCode: number }]
    t.equal(response.statusCode, 404)
    absent.on('error', () => undefined)
    absent.terminate()
  })

  await t.test("subprotocols that nobody can be asked for are the client's mistake", async (t) => {
    for (const offered of ['a, a', 'v4 channel', '(x)', 'v4.channel.k8s.io, {}']) {
      const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`
      const request = `GET ${PODS}/p/exec?command=cat HTTP/1.1\r\nHost: x\r\n${upgrade}\r\nSec-WebSocket-Protocol: ${offered}\r\n\r\n`
      t.equal((await sendRaw(server.url, request)).status, 400, offered)
    }
  })

  await t.test('addresses that nobody may be sent to are refused', async (t) => {
    t.match((await server.request('GET', '/api/v1/nodes/n1/proxy/healthz')).json, { message: 'address not allowed' })
    t.match((await server.request('GET', `${PODS}/p/proxy/`)).json, { message: 'address not allowed' })
    t.equal((await server.request('GET', '/api/v1/nodes/a:b:c:d/proxy/')).status, 400)
    t.equal((await server.request('GET', '/api/v1/namespaces/default/services/none/proxy/')).status, 404)
  })

  await t.test('a kubelet that cannot be reached or believed is an error of the server', async (t) => {
    await node(t, 'dead', { ...status, daemonEndpoints: { kubeletEndpoint: { Port: 1 } } })
    await made(t, PODS, pod('lost', 'dead'))
    t.equal((await server.request('GET', `${PODS}/lost/log`)).status, 500)
    await node(t, 'nowhere', { addresses: [] })
    await made(t, PODS, pod('unreachable', 'nowhere'))
    t.match((await server.request('GET', `${PODS}/unreachable/log`)).json, {
      code: 500,
      message: /no preferred addresses/,
    })
  })
})
