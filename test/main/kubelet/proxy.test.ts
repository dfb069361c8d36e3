import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import t from 'tap'
import { WebSocket } from 'ws'
import { AdmissionChain } from '#keelson/admission/chain.js'
import type { KubeObject } from '#keelson/api/object.js'
import { newNotFound } from '#keelson/api/status.js'
import { systemClock } from '#keelson/lib/clock.js'
import { nullLogger } from '#keelson/lib/logger.js'
import { BulkTurns } from '#keelson/main/http/bulk-turns.js'
import type { Exchange } from '#keelson/main/http/exchange.js'
import { HttpServer } from '#keelson/main/http/http-server.js'
import { KubeletConnector } from '#keelson/main/kubelet/kubelet-connector.js'
import { resolveRequestInfo } from '#keelson/main/request/request-info-resolver.js'
import { writeError } from '#keelson/main/request/write-error.js'
import type { PoolRunner } from '#keelson/main/threads/pool.js'
import type { ReadRequest } from '#keelson/main/verbs/read-context.js'
import type { PoolRequest } from '#keelson/protocol/main-pool.js'
import type { ConnectDependencies } from '#keelson/registry/generic/connecter.js'
import { isProxyableAddress } from '#keelson/registry/generic/proxy-target.js'
import type { EndpointSource } from '#keelson/registry/generic/rest-dependencies.js'
import { connect } from '#keelson/workers/endpoints/connect.js'
import type { Endpoint } from '#keelson/workers/endpoints/endpoint.js'
import { WorkerRequest } from '#keelson/workers/endpoints/request.js'
import { testEngineChoice } from '../../support/http-engine.js'
import { ProxyBackend } from '../../support/proxy-backend.js'
import { until } from '../../support/until.js'

const USER = { name: 'u', uid: '', groups: [], extra: {} }
const POD = '/api/v1/namespaces/default/pods/p/proxy'

/** Stored objects by resource and name. */
const source = (objects: Readonly<Record<string, object>>): EndpointSource =>
  ({
    find: ({ resource }: { resource: string }) => ({
      store: {
        get: (_context: unknown, name: string): Promise<KubeObject> => {
          const found = objects[`${resource}/${name}`]
          return found === undefined
            ? Promise.reject(newNotFound({ group: '', resource }, name))
            : Promise.resolve(found as KubeObject)
        },
      },
    }),
  }) as unknown as EndpointSource

t.test('what runs in pods, behind services and on nodes', async (t) => {
  const backend = await ProxyBackend.start()
  t.teardown(() => backend.close())
  const { port } = backend
  const pod = {
    metadata: { name: 'p', namespace: 'default' },
    spec: { containers: [{ name: 'c', ports: [{ containerPort: port }] }] },
    status: { podIP: '127.0.0.1', podIPs: [{ ip: '127.0.0.1' }] },
  }
  const target = (name: string) => ({ ip: '127.0.0.1', targetRef: { kind: 'Pod', namespace: 'default', name } })
  const objects = {
    'pods/p': pod,
    'nodes/n': { status: { addresses: [{ type: 'InternalIP', address: '127.0.0.1' }] } },
    'services/s': { spec: { ports: [{ name: 'web', port: 80 }] } },
    'endpoints/s': {
      subsets: [{ addresses: [target('gone'), target('p')], ports: [{ name: 'web', port }] }],
    },
    'services/foreign': { spec: { ports: [{ port: 80 }] } },
    'endpoints/foreign': { subsets: [{ addresses: [{ ip: '127.0.0.1' }], ports: [{ port }] }] },
  }
  const connection = { preferredAddressTypes: ['InternalIP'], kubeletPort: 10_250 }
  const guarded: ConnectDependencies = {
    endpoints: source(objects),
    connection,
    mayReach: isProxyableAddress,
    random: () => 0,
    schemas: { kind: () => undefined },
  }
  const open = { ...guarded, mayReach: () => true }
  let dependencies: ConnectDependencies = open
  const pool = {
    run: async (_type: string, request: PoolRequest) => {
      const endpoint = { info: { namespaced: request.info.resource !== 'nodes', subresources: [] } }
      const worker = new WorkerRequest(request, { ...endpoint, kind: {} } as unknown as Endpoint, {
        admission: new AdmissionChain([]),
        authorizer: { authorize: () => ({ decision: 'allow', reason: '' }) } as unknown as WorkerRequest['authorizer'],
        clock: systemClock,
      })
      return { plan: await connect(worker, dependencies) }
    },
  } as unknown as PoolRunner
  const connector = new KubeletConnector({
    pool,
    trust: { caFile: '', certFile: '', keyFile: '', egress: {}, timeoutMs: 0 },
    frontProxyHeaders: {
      allowedNames: [],
      username: ['X-Remote-User'],
      uid: ['X-Remote-Uid'],
      group: ['X-Remote-Group'],
      extraPrefixes: ['X-Remote-Extra-'],
    },
  })
  const answer = async (exchange: Exchange): Promise<void> => {
    const { method, rawPath, query } = exchange.head
    const parameters = new URLSearchParams(query)
    const info = resolveRequestInfo(method, rawPath, parameters)
    const input = { info, method, query, user: USER } as unknown as PoolRequest
    const request = { exchange, info, query: parameters, user: USER, signal: () => new AbortController().signal }
    try {
      await connector.connect(request as unknown as ReadRequest, input)
    } catch (error) {
      writeError(exchange, error, nullLogger)
    }
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
    onRequest: (exchange) => void answer(exchange),
  })
  await server.start()
  t.teardown(async () => {
    await server.close()
    connector.close()
  })
  const host = `127.0.0.1:${server.port}`
  const url = `http://${host}`
  const get = (path: string, init: RequestInit = {}) => fetch(`${url}${path}`, { redirect: 'manual', ...init })

  await t.test('are found by name, scheme and port', async (t) => {
    const services = '/api/v1/namespaces/default/services'
    const paths = [
      `${POD}/a/b%20c?x=1&y=%2F`,
      `/api/v1/namespaces/default/pods/p:${port}/proxy/a/b%20c?x=1&y=%2F`,
      `/api/v1/namespaces/default/pods/http:p:${port}/proxy/a/b%20c?x=1&y=%2F`,
      `${services}/s:web/proxy/a/b%20c?x=1&y=%2F`,
      `${services}/s:80/proxy/a/b%20c?x=1&y=%2F`,
      `/api/v1/nodes/n:${port}/proxy/a/b%20c?x=1&y=%2F`,
    ]
    for (const path of paths) {
      t.equal((await get(path)).status, 200, path)
      t.equal(backend.requests.at(-1), 'GET /a/b%20c?x=1&y=%2F')
      t.equal(backend.headers['x-forwarded-uri'], path.split('?')[0])
    }
    for (const rest of ['/a%2Fb/c%3Fd', '/http%3A%2F%2Fx%2Fy', '//a//', '/%2e%2e%2fa', '/proxy/proxy']) {
      t.equal((await get(`${POD}${rest}`)).status, 200, rest)
      t.equal(backend.requests.at(-1), `GET ${rest}`, 'as the client encoded it')
    }
    t.equal((await get(`${POD}%2Fadmin%2Fx`)).status, 200)
    t.equal(backend.requests.at(-1), 'GET /admin%2Fx', 'a slash is a slash, encoded or not')
    t.equal((await get(`${services}/foreign/proxy/`)).status, 503, 'an address that is no pod')
    t.equal((await get(`${services}/s:81/proxy/`)).status, 503, 'a port that the service does not have')
    t.equal((await get(`${services}/none/proxy/`)).status, 404)
  })

  await t.test('are not reached at addresses of this machine', async (t) => {
    dependencies = guarded
    for (const path of [`${POD}/`, `/api/v1/nodes/n:${port}/proxy/`])
      t.match(await (await get(path)).json(), { code: 400, message: 'address not allowed' })
    dependencies = open
  })

  await t.test('see who asked for what, and no credentials', async (t) => {
    await get(`${POD}/x`, {
      headers: {
        authorization: 'Bearer secret',
        'impersonate-user': 'x',
        'x-remote-user': 'x',
        'x-remote-group': 'x',
        'x-remote-extra-token': 'x',
        'x-mine': 'yes',
        'x-forwarded-for': '1.2.3.4',
      },
    })
    t.match(backend.headers, { 'x-mine': 'yes', host, 'x-forwarded-uri': `${POD}/x` })
    t.match(backend.headers['x-forwarded-for'], /^1\.2\.3\.4, ?127\.0\.0\.1$/)
    t.notOk(backend.headers.authorization)
    t.notOk(backend.headers['impersonate-user'])
    for (const name of ['user', 'group', 'extra-token']) t.notOk(backend.headers[`x-remote-${name}`], name)
  })

  await t.test('get bodies of any size and method, and answer as they like', async (t) => {
    const body = Buffer.alloc(9 << 20, 'some bytes ')
    const sha256 = createHash('sha256').update(body).digest('hex')
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const sized = await get(`${POD}/x`, { method, body })
      t.same(await sized.json(), { method, size: body.byteLength, sha256 })
      const chunked = http.request(`${url}${POD}/x`, { method, headers: { 'transfer-encoding': 'chunked' } })
      chunked.write(body.subarray(0, 1000))
      chunked.end(body.subarray(1000))
      const [response] = (await once(chunked, 'response')) as [http.IncomingMessage]
      let text = ''
      for await (const chunk of response) text += String(chunk)
      t.same(JSON.parse(text), { method, size: body.byteLength, sha256 }, `${method}, chunked`)
    }
    for (const status of [201, 204, 304, 404, 418, 500]) {
      const answer = await get(`${POD}/status/${status}`)
      t.equal(answer.status, status)
      t.equal(answer.headers.get('x-of-the-pod'), 'yes')
      t.notOk(answer.headers.has('access-control-allow-origin'))
      t.equal(await answer.text(), status === 204 || status === 304 ? '' : 'so')
    }
    const head = await get(`${POD}/status/200`, { method: 'HEAD' })
    t.equal(head.status, 200)
    t.equal(backend.requests.at(-1), 'HEAD /status/200')
  })

  await t.test('lead to themselves through the proxy', async (t) => {
    const bare = await get(`${POD}?a=b`)
    t.equal(bare.status, 301)
    t.equal(bare.headers.get('location'), `${POD}/?a=b`)
    const led = async (location: string): Promise<string | null> =>
      (await get(`${POD}/redirect/${encodeURIComponent(location)}`)).headers.get('location')
    t.equal(await led('/login?to=/x'), `${POD}/login?to=/x`)
    t.equal(await led('next'), 'next')
    t.equal(await led(`http://127.0.0.1:${port}/a/`), `${POD}/a/`)
    t.equal(await led(`http://${host}/a`), `http://${host}${POD}/a`)
    t.equal(await led(`${POD}/there`), `${POD}/there`)
    t.equal(await led('https://example.com/a'), 'https://example.com/a')
    for (const encoding of ['', 'gzip', 'deflate']) {
      const page = http.get(`${url}${POD}/page/${encoding}`, { headers: { 'accept-encoding': encoding } })
      const [response] = (await once(page, 'response')) as [http.IncomingMessage]
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      const bytes = Buffer.concat(chunks)
      const zlib = await import('node:zlib')
      const text =
        encoding === 'gzip' ? zlib.gunzipSync(bytes) : encoding === 'deflate' ? zlib.inflateRawSync(bytes) : bytes
      t.equal(text.toString(), `<a href="${POD}/next?a=b&amp;c">next</a><p>caf\u00e9</p>`)
    }
  })

  await t.test('are read as they write, and know when a client has gone', async (t) => {
    const abort = new AbortController()
    const response = await get(`${POD}/stream`, { signal: abort.signal })
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    t.equal((await reader.read()).value, 'hello\n')
    backend.say('more\n')
    t.equal((await reader.read()).value, 'more\n')
    abort.abort()
    await until(() => !backend.streams, { what: "the backend's stream to end" })
    const whole = get(`${POD}/stream`)
    await until(() => backend.streams, { what: "the backend's stream to begin" })
    backend.say(undefined)
    t.equal(await (await whole).text(), 'hello\n')
    const { aborted } = backend
    const upload = http.request(`${url}${POD}/x`, { method: 'POST', headers: { 'content-length': '1000' } })
    upload.on('error', () => undefined)
    upload.write('a part')
    await until(() => backend.requests.at(-1) === 'POST /x', { what: 'the backend to get POST /x' })
    upload.destroy()
    await until(() => backend.aborted > aborted, { what: 'the backend to see the request aborted' })
    const waiting = http.get(`${url}${POD}/never`)
    waiting.on('error', () => undefined)
    await until(() => backend.requests.at(-1) === 'GET /never', { what: 'the backend to get GET /never' })
    waiting.destroy()
    await until(() => backend.aborted > aborted + 1, { what: 'the backend to see the request aborted' })
    t.pass('the backend was told')
  })

  await t.test('are never shown in part as if it were the whole', async (t) => {
    await t.rejects((async () => (await get(`${POD}/cut`)).text())())
    const closed = { ...open, endpoints: source({ 'pods/p': { ...pod, spec: {} } }) }
    dependencies = closed
    const refused = await get('/api/v1/namespaces/default/pods/p:1/proxy/')
    t.match(await refused.json(), { code: 503, message: /error trying to reach service/ })
    dependencies = open
  })

  await t.test('wait for clients that do not read', async (t) => {
    const bytes = 64 << 20
    const request = http.get(`${url}${POD}/flood/${bytes}`)
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    for (let i = 0; i < 100; i++) await (await get(`${POD}/status/200`)).text()
    t.ok(backend.flooded < bytes, `${backend.flooded} bytes are on their way`)
    let size = 0
    for await (const chunk of response) size += (chunk as Buffer).byteLength
    t.equal(size, bytes)
  })

  await t.test('speak over WebSockets', async (t) => {
    const token = `base64url.bearer.authorization.k8s.io.${Buffer.from('secret').toString('base64url')}`
    const socket = new WebSocket(`ws://${host}${POD}/socket?a=b`, ['chat', token])
    await once(socket, 'open')
    t.equal(socket.protocol, 'chat')
    t.equal(backend.headers['sec-websocket-protocol'], 'chat', 'the token of the client stays here')
    t.equal(backend.requests.at(-1), 'GET /socket?a=b')
    t.equal(backend.headers['x-forwarded-uri'], `${POD}/socket`)
    for (const message of ['text', Buffer.alloc(300_000, 1)]) {
      socket.send(message)
      const [data, isBinary] = (await once(socket, 'message')) as [Buffer, boolean]
      t.equal(isBinary, typeof message !== 'string')
      t.ok(Buffer.from(message).equals(data))
    }
    socket.send('bye')
    const [code, reason] = (await once(socket, 'close')) as [number, Buffer]
    t.equal(code, 4001)
    t.equal(reason.toString(), 'as you wish')
  })

  await t.test('refuse a WebSocket in HTTP, whole or broken off, and nobody else notices', async (t) => {
    let length = 7
    const refuser = net.createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () =>
        socket.end(`HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: ${length}\r\n\r\nrefused`),
      )
    })
    await new Promise<void>((resolve) => refuser.listen(0, '127.0.0.1', resolve))
    t.teardown(() => refuser.close())
    const { port: refusing } = refuser.address() as AddressInfo
    const refusal = async (protocols: string[]): Promise<string> => {
      const socket = new WebSocket(`ws://${host}/api/v1/namespaces/default/pods/p:${refusing}/proxy/x`, protocols)
      socket.on('error', () => undefined)
      const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, http.IncomingMessage]
      let text = `${answer.statusCode} `
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      answer.on('error', () => undefined)
      await new Promise((resolve) => answer.once('close', resolve))
      return text
    }
    t.equal(await refusal([]), '403 refused')
    t.equal(await refusal(['a', 'b']), '403 refused')
    length = 100
    t.match(await refusal(['a', 'b']), /^403 /, 'one that breaks off')
    t.match(await refusal([]), /^403 /)
    t.equal((await get(`${POD}/`)).status, 200, 'the server goes on')
  })

  await t.test('get headers with names that every object has', async (t) => {
    const socket = new WebSocket(`ws://${host}${POD}/socket`, ['chat'], {
      headers: JSON.parse('{"__proto__":"x","constructor":"y"}') as Record<string, string>,
    })
    await once(socket, 'open')
    t.equal(Object.getOwnPropertyDescriptor(backend.headers, 'constructor')?.value, 'y')
    socket.terminate()
  })

  await t.test('are asked for nothing by heads that can be understood in two ways', async (t) => {
    const raw = async (headers: string): Promise<string> => {
      const socket = net.connect(server.port, '127.0.0.1')
      socket.write(`POST ${POD}/x HTTP/1.1\r\n${headers}\r\n\r\n`)
      const [data] = (await once(socket, 'data')) as [Buffer]
      socket.destroy()
      return data.toString().split('\r\n', 1)[0]!
    }
    const before = backend.requests.length
    t.match(await raw('Host: a\r\nHost: b\r\nContent-Length: 0'), /^HTTP\/1.1 400 /)
    for (const encoding of ['identity', 'gzip, chunked', 'xchunked', 'chunked, identity'])
      t.match(await raw(`Host: a\r\nTransfer-Encoding: ${encoding}`), /^HTTP\/1.1 (400|501) /, encoding)
    t.equal(backend.requests.length, before)
  })

  await t.test('get no body whose chunks have sizes that are no hexadecimal numbers, or no end', async (t) => {
    const raw = async (body: string): Promise<string> => {
      const socket = net.connect(server.port, '127.0.0.1')
      socket.on('error', () => undefined)
      let text = ''
      socket.on('data', (data: Buffer) => {
        text += data.toString()
      })
      socket.write(`POST ${POD}/x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body}`)
      await once(socket, 'close')
      return text
    }
    for (const size of ['-5', '+5', '0x5', 'ffffffffffffffff5'])
      t.match(await raw(`${size}\r\nhello\r\n0\r\n\r\n`), /^HTTP\/1.1 400 /, size)
    const hidden = `GET ${POD}/hidden HTTP/1.1\r\nHost: a\r\n\r\n`
    // A whole body, and requests behind it: uWebSockets.js closes the connection, Node takes them one after the other.
    const ends = testEngineChoice().name === 'uws' ? ['\r\n', 'XX', ''] : ['XX', '']
    for (const end of ends)
      t.notMatch(
        await raw(`5\r\nhello\r\n0\r\n${end}${hidden}${hidden}`),
        / 200 /,
        `what follows ${JSON.stringify(end)}`,
      )
    t.notOk(
      backend.requests.some((request) => request.includes('hidden')),
      'nothing is taken from behind a body before its answer',
    )
  })
})
