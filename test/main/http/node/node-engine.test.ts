import { Agent, request } from 'node:https'
import { connect } from 'node:tls'
import t from 'tap'
import type { Exchange } from '#keelson/main/http/exchange.js'
import { until } from '../../../support/until.js'
import { ask, NodeServer } from './node-server.js'

const TEXT = 'text/plain'
const hello = (exchange: Exchange): void =>
  exchange.respond(
    { status: 200, contentType: TEXT, headers: ['Warning', 'a', 'Warning', 'bäm'] },
    `${exchange.head.rawPath}?${exchange.head.query}`,
  )

/** Pieces of one scratch buffer that is written over as soon as the next one is asked for. */
function sized(exchange: Exchange, pieces: number, pieceBytes: number): void {
  const scratch = new Uint8Array(new SharedArrayBuffer(pieceBytes))
  let piece = 0
  exchange.respondSized(
    { status: 200, contentType: TEXT },
    {
      totalBytes: pieces * pieceBytes,
      heldBytes: 0,
      next: () => scratch.fill(97 + (piece++ % 26)),
      done: () => scratch.fill(0),
    },
  )
}
const isWhole = (body: Buffer, pieces: number, pieceBytes: number): boolean => {
  if (body.byteLength !== pieces * pieceBytes) return false
  for (let piece = 0; piece < pieces; piece++) {
    const part = body.subarray(piece * pieceBytes, (piece + 1) * pieceBytes)
    if (!part.equals(Buffer.alloc(pieceBytes, 97 + (piece % 26)))) return false
  }
  return true
}

function get(
  server: NodeServer,
  path: string,
  options: object = {},
): Promise<{ status: number; body: Buffer; headers: object }> {
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port: server.port, path, ca: server.authority.certificate, ...options })
    call.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks), headers: response.headers }),
      )
      response.on('error', reject)
    })
    call.on('error', reject)
    call.end()
  })
}

t.test('both versions of HTTP are on one port, and TLS tells which', async (t) => {
  const server = await NodeServer.start(t, hello)
  const answer = await ask(server.session(t), { ':path': '/a/b?c=d' })
  t.match(answer, { status: 200, code: 0, headers: { 'content-type': TEXT, 'content-length': '8' } })
  t.equal(answer.body.toString(), '/a/b?c=d')
  const older = await get(server, '/a/b?c=d')
  t.match(older, { status: 200, headers: { 'content-type': TEXT, 'cache-control': 'no-cache, private' } })
  t.equal(older.body.toString(), '/a/b?c=d')
  const warnings = (older.headers as Record<string, string>)['warning']!
  t.equal(Buffer.from(warnings, 'latin1').toString(), 'a, bäm', 'what is no ASCII goes out as UTF-8')

  const only = await NodeServer.start(t, hello, { http2: { enabled: false, maxStreams: 0 } })
  const options = {
    port: only.port,
    host: '127.0.0.1',
    ca: only.authority.certificate,
    ALPNProtocols: ['h2', 'http/1.1'],
  }
  const protocol = await new Promise((resolve) => {
    const socket = connect(options, () => {
      resolve(socket.alpnProtocol)
      socket.destroy()
    })
  })
  t.equal(protocol, 'http/1.1')
})

t.test('pieces may be written over as soon as the next one is asked for', async (t) => {
  const handle = (exchange: Exchange): void => sized(exchange, 50, 60_000)
  const server = await NodeServer.start(t, handle)
  t.ok(isWhole((await ask(server.session(t), { ':path': '/' })).body, 50, 60_000), 'HTTP/2')
  t.ok(isWhole((await get(server, '/')).body, 50, 60_000), 'HTTP/1.1 over TLS')
  const plain = await NodeServer.start(t, handle, { tls: false })
  const body = Buffer.from(await (await fetch(`http://127.0.0.1:${plain.port}/`)).arrayBuffer())
  t.ok(isWhole(body, 50, 60_000), 'HTTP/1.1')
})

t.test('requests that come one behind the other are answered one behind the other', async (t) => {
  const server = await NodeServer.start(
    t,
    (exchange) => {
      const stream = (): void => {
        const out = exchange.startStream({ status: 200, contentType: TEXT })
        out?.write(Buffer.from('one,'))
        setImmediate(() => {
          out?.write(Buffer.from('two'))
          out?.end()
        })
      }
      if (exchange.head.rawPath === '/sized') sized(exchange, 3, 70_000)
      else if (exchange.head.rawPath === '/late') setTimeout(() => hello(exchange), 20)
      else stream()
    },
    { tls: false },
  )
  const requests = ['/late', '/stream', '/sized', '/late'].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n`)
  const all = await sendAll(server.port, `${requests.join('\r\n')}Connection: close\r\n\r\n`)
  const bodies = all
    .split('HTTP/1.1 200 OK')
    .slice(1)
    .map((one) => one.slice(one.indexOf('\r\n\r\n') + 4))
  t.equal(bodies.length, 4)
  t.equal(bodies[0], '/late?')
  t.equal(bodies[1], '4\r\none,\r\n3\r\ntwo\r\n0\r\n\r\n')
  t.ok(isWhole(Buffer.from(bodies[2]!), 3, 70_000))
  t.equal(bodies[3], '/late?')
})

function sendAll(port: number, text: string): Promise<string> {
  return import('node:net').then(
    ({ connect: open }) =>
      new Promise((resolve) => {
        const socket = open(port, '127.0.0.1', () => socket.write(text))
        let all = ''
        socket.setEncoding('latin1')
        socket.on('data', (chunk: string) => {
          all += chunk
        })
        socket.on('close', () => resolve(all))
      }),
  )
}

t.test('a client of HTTP/1.0 reads until the end of the connection', async (t) => {
  const server = await NodeServer.start(
    t,
    (exchange) => {
      const out = exchange.startStream({ status: 200, contentType: TEXT })
      out?.write(Buffer.from('no chunks'))
      out?.end()
    },
    { tls: false },
  )
  const all = await sendAll(server.port, 'GET / HTTP/1.0\r\nHost: x\r\n\r\n')
  t.match(all, /\r\n\r\nno chunks$/)
})

t.test('a client that does not read is waited for, and costs a bounded number of bytes', async (t) => {
  let blocked = false
  let writes = 0
  let gone = false
  let release: () => void = () => undefined
  const server = await NodeServer.start(t, (exchange) => {
    const out = exchange.startStream({ status: 200, contentType: TEXT })!
    exchange.onAbort(() => {
      gone = true
    })
    const fill = (): void => {
      while (writes < 2000 && out.write(Buffer.alloc(10_000, 120))) writes++
      blocked = true
      if (writes >= 2000) out.end()
    }
    out.onDrain(() => {
      release()
      fill()
    })
    fill()
  })
  const session = server.session(t)
  const stream = session.request({ ':path': '/' })
  stream.pause()
  await until(() => blocked, { what: 'the writer to wait' })
  t.ok(writes < 100, `${writes} writes`)
  const drained = new Promise<void>((resolve) => {
    release = resolve
  })
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.byteLength
  })
  stream.resume()
  await drained
  await new Promise((resolve) => stream.once('end', resolve))
  t.ok(bytes >= 2000 * 10_000, `${bytes} bytes`)
  t.notOk(gone)
})

t.test('a client that goes away ends its exchange', async (t) => {
  const gone: string[] = []
  const server = await NodeServer.start(t, (exchange) => {
    exchange.startStream({ status: 200, contentType: TEXT })?.idle()
    exchange.onAbort(() => gone.push(exchange.head.rawPath))
  })
  const session = server.session(t)
  const streams = ['/a', '/b'].map((path) => session.request({ ':path': path }))
  await Promise.all(streams.map((stream) => new Promise((resolve) => stream.once('response', resolve))))
  streams[0]!.close(8)
  await until(() => gone.length === 1, { what: 'one to go' })
  t.same(gone, ['/a'], 'the other streams of the connection go on')
  session.destroy()
  await until(() => gone.length === 2, { what: 'two to go' })
  const agent = new Agent()
  const call = request({ host: '127.0.0.1', port: server.port, path: '/c', ca: server.authority.certificate, agent })
  call.on('error', () => undefined)
  await new Promise((resolve) => {
    call.once('response', resolve)
    call.end()
  })
  call.destroy()
  await until(() => gone.length === 3, { what: 'three to go' })
})

t.test('an answer that is broken off is known to be', async (t) => {
  const server = await NodeServer.start(t, (exchange) => {
    exchange.startStream({ status: 200, contentType: TEXT })?.write(Buffer.from('half'))
    setImmediate(() => exchange.breakOff())
  })
  const session = server.session(t)
  const answer = await ask(session, { ':path': '/' })
  t.match(answer, { status: 200, code: 2 })
  t.equal(session.destroyed, false)
  await t.rejects(get(server, '/'))
})

t.test('bodies come in whole, within their limit', async (t) => {
  const server = await NodeServer.start(t, (exchange) => {
    exchange.holdBody(100_000)
    setImmediate(() => {
      exchange.readBody(100_000).then(
        (body) => exchange.respond({ status: 200, contentType: TEXT }, String(body.byteLength)),
        () => exchange.respondAndClose({ status: 413, contentType: TEXT }, 'too large'),
      )
    })
  })
  const session = server.session(t)
  const post = (bytes: number) => ask(session, { ':path': '/', ':method': 'POST' }, Buffer.alloc(bytes))
  t.equal((await post(0)).body.toString(), '0')
  t.equal((await post(90_000)).body.toString(), '90000')
  t.match(await post(200_000), { status: 413 })
  t.match(await post(2_000_000), { status: 413 })
  t.equal((await post(10)).body.toString(), '10', 'the connection goes on')
})

t.test('a client shows its certificate', async (t) => {
  const server = await NodeServer.start(t, (exchange) =>
    exchange.respond({ status: 200, contentType: TEXT }, exchange.clientCertificate()),
  )
  const { certificate, key } = await server.authority.sign('CN=carol')
  const session = server.session(t, { cert: certificate, key })
  const shown = (pem: string): string => pem.replaceAll(/\s/g, '')
  t.equal(shown((await ask(session, { ':path': '/' })).body.toString()), shown(certificate))
  t.equal(shown((await get(server, '/', { cert: certificate, key })).body.toString()), shown(certificate))
  t.equal((await get(server, '/')).body.toString(), '')
})

t.test('clients are told to go before the server does', async (t) => {
  let finish: (() => void) | undefined
  const server = await NodeServer.start(t, (exchange) => {
    const out = exchange.startStream({ status: 200, contentType: TEXT })!
    out.idle()
    finish = () => {
      out.write(Buffer.from('the end'))
      out.end()
    }
  })
  const session = server.session(t)
  const goaway = new Promise((resolve) => session.once('goaway', resolve))
  const answer = ask(session, { ':path': '/' })
  await until(() => finish !== undefined, { what: 'the request' })
  server.http.stopListening()
  t.equal(await goaway, 0)
  await t.rejects(get(server, '/'), 'no new connections')
  finish?.()
  t.equal((await answer).body.toString(), 'the end', 'what was under way goes on to its end')
})

/** What a server answers to bytes on a connection of their own, until it closes the connection. */
function answerTo(server: NodeServer, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: '127.0.0.1',
      port: server.port,
      ca: server.authority.certificate,
      ALPNProtocols: ['http/1.1'],
    })
    const chunks: Buffer[] = []
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()))
    socket.on('error', reject)
    socket.write(bytes)
  })
}

t.test('an upgrade with a body is refused: nothing is carried out as if the body had not been there', async (t) => {
  let served = 0
  const server = await NodeServer.start(t, (exchange) => {
    served++
    hello(exchange)
  })
  const head = 'DELETE /x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n'
  t.match(await answerTo(server, `${head}Content-Length: 19\r\n\r\n{"dryRun":["All"]}\n`), /^HTTP\/1\.1 400 /)
  t.match(await answerTo(server, `${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`), /^HTTP\/1\.1 400 /)
  t.equal(served, 0)
  t.match(await answerTo(server, `${head}Content-Length: 0\r\n\r\n`), /^HTTP\/1\.1 200 /)
  const many = 'X: y\r\n'.repeat(1500)
  t.match(await answerTo(server, `${head}${many}\r\n`), /^HTTP\/1\.1 431 /)
})

t.test('CONNECT is refused and its connection closed, whatever the client does with its side', async (t) => {
  const server = await NodeServer.start(t, hello)
  t.match(await answerTo(server, 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n'), /^HTTP\/1\.1 405 /)
  t.match(await get(server, '/still'), { status: 200 })
})
