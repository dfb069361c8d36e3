/**
 * Thread: main, or a front end's own. HTTP/2, HTTP/1.1 and WebSockets by Node's own modules, for systems where no
 * binary of uWebSockets.js loads and for clients that want HTTP/2. Both versions share one port: TLS (ALPN) tells which
 * one a client speaks, and without TLS there is only HTTP/1.1.
 */
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http'
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, ListenOptions, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SecureContextOptions, TLSSocket } from 'node:tls'
import { systemClock } from '../../../lib/clock.js'
import type { TlsFiles } from '../../../protocol/server-credentials.js'
import { type EngineOptions, type HttpEngine, ListenError, MAX_HEAD_BYTES, type Upgrade } from '../http-engine.js'
import { Http1ResponsePort } from './http1-response-port.js'
import { Http2ResponsePort } from './http2-response-port.js'
import { DEFAULT_MAX_STREAMS, Http2Sessions, MAX_HEADER_PAIRS } from './http2-sessions.js'
import { NodeConnection } from './node-connection.js'
import { NodeRequestHead } from './node-request-head.js'
import { STALL_MS, Stalls } from './stalls.js'
import { asksForWebSocket, WebSockets } from './web-sockets.js'

/** A connection without a request is closed after this time, which is as long as Go's server waits. */
const IDLE_MS = 90_000
/** After this silence the kernel probes whether the client is still there (TCP keep-alive), as Go's server has it. */
const KEEP_ALIVE_MS = 15_000
const HTTP1 = 'http/1.1'
/** close() waits at most so long for the last answers to be sent, and looks so often whether they are. */
const LAST_WORDS_MS = 500
const LOOK_MS = 10

/**
 * The cipher suites of TLS 1.3. Node takes the suites of TLS 1.2 and 1.3 in one list and speaks no 1.3 when the list
 * has none of its suites; so these stand in front of the suites that the operator names.
 */
const OF_VERSION_13 = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256'

const HTTP1_OPTIONS: ServerOptions = {
  maxHeaderSize: MAX_HEAD_BYTES,
  headersTimeout: STALL_MS,
  // A body may take any time while it makes progress: stalls.ts gives up one that does not.
  requestTimeout: 0,
  connectionsCheckingInterval: STALL_MS / 4,
  keepAliveTimeout: IDLE_MS,
  keepAlive: true,
  keepAliveInitialDelay: KEEP_ALIVE_MS,
  noDelay: true,
}

export class NodeEngine implements HttpEngine {
  readonly #options: EngineOptions
  readonly #stalls = new Stalls(systemClock)
  readonly #webSockets = new WebSockets(systemClock)
  readonly #sessions: Http2Sessions
  readonly #sockets = new Set<Socket>()
  readonly #connections = new WeakMap<Duplex, NodeConnection>()
  #server: Server | undefined
  /** True after stopListening(): each connection is then closed after its answer. */
  #closing = false
  readonly #isClosing = (): boolean => this.#closing
  #port = 0

  constructor(options: EngineOptions) {
    this.#options = options
    const { maxStreams, goawayChance = 0 } = options.http2
    this.#sessions = new Http2Sessions(maxStreams || DEFAULT_MAX_STREAMS, () => Math.random() < goawayChance)
  }

  get port(): number {
    return this.#port
  }

  async start(): Promise<void> {
    const { tls, host, port, sharePort } = this.#options
    const server = tls === undefined ? createServer(HTTP1_OPTIONS) : this.#secureServer(tls)
    this.#server = server
    // Node would silently drop the headers beyond this number. So it has no limit here, and refusalOf() refuses such
    // requests.
    server.maxHeadersCount = 0
    this.#limit(server)
    server.on('connection', (socket: Socket) => this.#track(socket))
    server.on('request', (request, response) => this.#accept(request, response))
    server.on('upgrade', (request, socket, head) => this.#acceptUpgrade(request, socket as Socket, head))
    server.on('connect', (_request, socket) => {
      // As for upgrades: Node has taken its own listeners off, and nobody would ever close the connection of a client that does not.
      socket.on('error', () => undefined)
      socket.end('HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\n\r\n', () => socket.destroy())
    })
    await new Promise<void>((resolve, reject) => {
      const failed = (error: Error): void =>
        reject(new ListenError(`cannot listen on ${host}:${port}: ${error.message}`))
      server.once('error', failed)
      // The type packages of Node 20 do not declare `reusePort`, which exists from 22.12 on (see sharesPort).
      const where: ListenOptions & { reusePort?: boolean } = { host, port, ...(sharePort ? { reusePort: true } : {}) }
      server.listen(where, () => {
        server.off('error', failed)
        // From now on an error is a connection that could not be accepted, for want of a descriptor: without a listener it would
        // end the process.
        server.on('error', (error) => this.#options.connections.refused(error.message))
        resolve()
      })
    })
    this.#port = (server.address() as AddressInfo).port
  }

  #limit(server: Server): void {
    const { most, refused } = this.#options.connections
    if (!Number.isFinite(most)) return
    server.maxConnections = most
    server.on('drop', () => refused('the limit is reached'))
  }

  #secureServer(tls: TlsFiles): Server {
    const server = createSecureServer({
      ...HTTP1_OPTIONS,
      ...secureContext(tls),
      ALPNProtocols: this.#options.http2.enabled ? ['h2', HTTP1] : [HTTP1],
      // TLS only asks for a certificate. Whether it is valid is decided by authentication, together with the other
      // credentials.
      requestCert: tls.caFile !== '',
      rejectUnauthorized: false,
      handshakeTimeout: STALL_MS,
    })
    // Node's own listener would speak HTTP/1.1 on every connection. It is replaced by one that passes on only the
    // connections that did not choose HTTP/2.
    const listeners = server.listeners('secureConnection') as ((socket: TLSSocket) => void)[]
    server.removeAllListeners('secureConnection')
    server.on('secureConnection', (socket: TLSSocket) => {
      if (socket.alpnProtocol === 'h2')
        this.#sessions.accept(socket, (stream, headers, rawHeaders) =>
          this.#acceptStream(socket, stream, headers, rawHeaders),
        )
      else for (const listener of listeners) listener.call(server, socket)
    })
    return server as unknown as Server
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  #connection(socket: Socket): NodeConnection {
    let connection = this.#connections.get(socket)
    if (connection === undefined) {
      connection = new NodeConnection(socket)
      this.#connections.set(socket, connection)
    }
    return connection
  }

  #accept(request: IncomingMessage, response: ServerResponse): void {
    const refusal = refusalOf(request)
    if (refusal !== undefined) {
      response.writeHead(refusal, { Connection: 'close', 'Content-Length': 0 }).end()
      return
    }
    const head = requestHead(request)
    this.#options.accept(head, this.#responsePort(head, request, response))
  }

  #responsePort(head: NodeRequestHead, request: IncomingMessage, response: ServerResponse): Http1ResponsePort {
    const sendsBody = head.contentLength !== '' || head.header('transfer-encoding') !== ''
    const options = { isClosing: this.#isClosing, hasBody: sendsBody }
    return new Http1ResponsePort(request, response, this.#connection(request.socket), this.#stalls, options)
  }

  #acceptStream(
    socket: Socket,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    rawHeaders: readonly string[],
  ): void {
    const { ':method': method = 'GET', ':path': target = '*' } = headers
    const head = new NodeRequestHead(method, target, rawHeaders, !stream.endAfterHeaders)
    const port = new Http2ResponsePort(stream, method === 'HEAD', this.#connection(socket), this.#stalls)
    this.#options.accept(head, port)
  }

  /**
   * An upgrade is a request like others until it is accepted; then the connection is a WebSocket, or whoever accepted it
   * has the connection. Upgrades that nobody accepts are answered as plain requests. An upgrade with a body is refused: Node does not
   * read the body of one, and a request must not be carried out as if its body, a dry run or a precondition, had not been there.
   */
  #acceptUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    // Node has taken its own listeners off the socket, and an error without a listener would end the process.
    socket.on('error', () => undefined)
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.once('finish', () => socket.destroySoon())
    const requested = requestHead(request)
    const refusal = refusalOf(request) ?? (hasBody(requested) ? 400 : undefined)
    if (refusal !== undefined) {
      response.writeHead(refusal, { Connection: 'close', 'Content-Length': 0 }).end()
      return
    }
    const port = this.#responsePort(requested, request, response)
    const letGo = (): void => {
      port.leave()
      response.detachSocket(socket)
    }
    if (!asksForWebSocket(request)) {
      this.#options.accept(requested, port, undefined, (headers) => {
        letGo()
        return switched(socket, head, headers)
      })
      return
    }
    const upgrade: Upgrade = (protocol, serverSocket) => {
      letGo()
      this.#webSockets.accept(request, socket, head, protocol, serverSocket)
    }
    this.#options.accept(requested, port, upgrade)
  }

  useCertificates(tls: TlsFiles): void {
    const server = this.#server as (Server & { setSecureContext?(context: SecureContextOptions): void }) | undefined
    server?.setSecureContext?.(secureContext(tls))
  }

  stopListening(): void {
    this.#closing = true
    this.#server?.close()
    this.#sessions.drain()
  }

  /** Gives the last answers a moment (LAST_WORDS_MS) to be sent, then cuts the connections. */
  async close(): Promise<void> {
    const server = this.#server
    this.stopListening()
    server?.closeIdleConnections()
    this.#webSockets.close()
    for (let waitedMs = 0; this.#sockets.size > 0 && waitedMs < LAST_WORDS_MS; waitedMs += LOOK_MS)
      // This timer keeps the process alive, unlike those of the Clock, so that the last answers are sent.
      await sleep(LOOK_MS)
    this.#stalls.stop()
    this.#sessions.close()
    for (const socket of this.#sockets) socket.destroy()
    this.#server = undefined
  }
}

/** Answers 101. `early` are the bytes that came with the head of the request. */
function switched(socket: Socket, early: Buffer, headers: readonly string[]): Socket {
  let text = 'HTTP/1.1 101 Switching Protocols\r\n'
  for (let i = 0; i + 1 < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`
  socket.write(`${text}\r\n`, 'latin1')
  if (early.byteLength > 0) socket.unshift(early)
  return socket
}

/**
 * The status that refuses a head which Node's parser accepts and this server does not; undefined when the head is
 * accepted.
 */
const hasBody = (head: NodeRequestHead): boolean =>
  (head.contentLength !== '' && Number(head.contentLength) !== 0) || head.header('transfer-encoding') !== ''

function refusalOf({ httpVersionMajor, rawHeaders }: IncomingMessage): number | undefined {
  if (httpVersionMajor !== 1) return 400
  return rawHeaders.length / 2 > MAX_HEADER_PAIRS ? 431 : undefined
}

const requestHead = (request: IncomingMessage): NodeRequestHead =>
  new NodeRequestHead(request.method ?? 'GET', request.url ?? '/', request.rawHeaders)

function secureContext({ certFile, keyFile, caFile, ciphers }: TlsFiles): SecureContextOptions {
  return {
    cert: readFileSync(certFile),
    key: readFileSync(keyFile),
    ...(caFile === '' ? {} : { ca: readFileSync(caFile) }),
    ...(ciphers === '' ? {} : { ciphers: `${OF_VERSION_13}:${ciphers}` }),
    minVersion: 'TLSv1.2',
  }
}
