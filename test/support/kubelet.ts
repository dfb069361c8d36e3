import type { IncomingMessage, ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { type WebSocket, WebSocketServer } from 'ws'
import type { Identity } from './certificates.js'

const [STDIN, STDOUT, STDERR, ERROR, CLOSE] = [0, 1, 2, 3, 255]

export interface KubeletOptions {
  readonly identity: Identity
  /** Whoever calls must show a certificate that it has signed. */
  readonly authority: string
}

/**
 * A kubelet that runs nothing: it speaks what kubelets speak over TLS with certificates on both sides. Commands are a few
 * words: `cat` gives back its input, `flood N` writes N bytes, `exit N` ends with a code.
 */
export class TestKubelet {
  /** What was asked for: `GET /containerLogs/…?…` */
  readonly requests: string[] = []
  /** Names in the certificates of those who asked. */
  readonly callers: string[] = []
  /** The headers of the latest proxied request. */
  headers: IncomingMessage['headers'] = {}
  /** What it speaks over WebSockets, the best first. */
  protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
  /** Who speaks SPDY; without it the bytes are given back. */
  spdy: ((socket: Socket, url: URL) => void) | undefined
  /** How many bytes of a flood are on their way. */
  flooded = 0
  readonly #server: https.Server
  readonly #sockets: WebSocketServer
  readonly #followers = new Set<ServerResponse>()

  private constructor(server: https.Server) {
    this.#server = server
    this.#sockets = new WebSocketServer({
      noServer: true,
      handleProtocols: (offered) => this.protocols.find((protocol) => offered.has(protocol)) ?? false,
    })
    server.on('request', (request: IncomingMessage, response: ServerResponse) => this.#answer(request, response))
    server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) =>
      this.#upgrade(request, socket, head),
    )
  }

  static async start({ identity, authority }: KubeletOptions): Promise<TestKubelet> {
    const server = https.createServer({
      cert: identity.certificate,
      key: identity.key,
      ca: authority,
      requestCert: true,
      rejectUnauthorized: true,
    })
    const kubelet = new TestKubelet(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return kubelet
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get followers(): number {
    return this.#followers.size
  }

  /** To everybody who follows a log. */
  log(text: string): void {
    for (const response of this.#followers) response.write(text)
  }

  endLogs(): void {
    for (const response of this.#followers) response.end()
  }

  close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate()
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  #note(request: IncomingMessage): URL {
    this.requests.push(`${request.method} ${request.url}`)
    this.callers.push(String((request.socket as TLSSocket).getPeerCertificate().subject.CN))
    return new URL(request.url!, 'https://kubelet')
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = this.#note(request)
    this.headers = request.headers
    if (!pathname.startsWith('/containerLogs/')) {
      void this.#echo(request, response)
      return
    }
    if (pathname.endsWith('/refused')) {
      response.writeHead(400).end('container "refused" is waiting to start')
      return
    }
    response.writeHead(200, { 'content-type': 'text/plain' })
    response.write('first line\n')
    if (searchParams.get('follow') !== 'true') {
      response.end('last line\n')
      return
    }
    this.#followers.add(response)
    response.once('close', () => this.#followers.delete(response))
  }

  /** What came in, with how it came. */
  async #echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let size = 0
    for await (const chunk of request) size += (chunk as Buffer).byteLength
    if (request.url!.startsWith('/redirect')) {
      response.writeHead(302, { location: '/elsewhere' }).end()
      return
    }
    response.writeHead(request.url!.startsWith('/teapot') ? 418 : 200, { 'x-kubelet': 'yes', 'content-type': 'text/x' })
    response.end(`${request.method} ${request.url} ${size}`)
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    const { pathname, searchParams } = this.#note(request)
    if (request.headers.upgrade !== 'websocket') {
      this.#tunnel(request, socket)
      return
    }
    this.#sockets.handleUpgrade(request, socket, head, (webSocket) => {
      if (pathname.startsWith('/portForward/')) forward(webSocket)
      else this.#execute(webSocket, searchParams.getAll('command'), searchParams.get('tty') === '1')
    })
  }

  #tunnel(request: IncomingMessage, socket: Socket): void {
    const [protocol] = String(request.headers['x-stream-protocol-version']).split(',')
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`,
    )
    if (this.spdy === undefined) socket.pipe(socket)
    else this.spdy(socket, new URL(request.url!, 'https://kubelet'))
  }

  #execute(socket: WebSocket, command: string[], tty: boolean): void {
    const end = (code: number): void => {
      const failed = {
        metadata: {},
        status: 'Failure',
        message: `command terminated with exit code ${code}`,
        reason: 'NonZeroExitCode',
        details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
      }
      send(socket, ERROR!, JSON.stringify(code === 0 ? { metadata: {}, status: 'Success' } : failed))
      socket.close(1000)
    }
    const [name = 'attached', argument = '0'] = command
    switch (name) {
      case 'exit':
        send(socket, STDERR!, 'about to end\n')
        end(Number(argument))
        return
      case 'flood':
        void this.#flood(socket, Number(argument)).then(() => end(0))
        return
      case 'attached':
        send(socket, STDOUT!, `tty ${tty}\n`)
        break
      default:
    }
    socket.on('message', (data: Buffer) => {
      if (data[0] === STDIN) send(socket, STDOUT!, data.subarray(1))
      if (data[0] === CLOSE && data[1] === STDIN) end(0)
    })
  }

  async #flood(socket: WebSocket, bytes: number): Promise<void> {
    const chunk = Buffer.alloc(64 * 1024, 'x')
    for (let sent = 0; sent < bytes; sent += chunk.byteLength) {
      await new Promise<void>((resolve) => {
        socket.send(Buffer.concat([Buffer.from([STDOUT!]), chunk]), () => resolve())
      })
      this.flooded = sent
    }
  }
}

const send = (socket: WebSocket, channel: number, data: string | Buffer): void =>
  socket.send(Buffer.concat([Buffer.from([channel]), Buffer.from(data)]))

/** A pair of channels a port, each beginning with the port's number; what comes in goes back in capitals. */
function forward(socket: WebSocket): void {
  const port = Buffer.from([0x90, 0x1f])
  send(socket, 0, port)
  send(socket, 1, port)
  socket.on('message', (data: Buffer) => {
    if (data[0] === 0) send(socket, 0, data.subarray(1).toString().toUpperCase())
  })
}
