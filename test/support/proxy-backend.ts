import { createHash } from 'node:crypto'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import zlib from 'node:zlib'
import { WebSocketServer } from 'ws'

/** What runs in a pod: answers by the first word of the path, and notes what it was asked. */
export class ProxyBackend {
  readonly requests: string[] = []
  headers: IncomingMessage['headers'] = {}
  /** Requests that were broken off by the one who made them. */
  aborted = 0
  /** Bytes of a flood that are on their way. */
  flooded = 0
  #stream: ServerResponse | undefined
  readonly #server = http.createServer((request, response) => void this.#answer(request, response))
  readonly #sockets = new WebSocketServer({ server: this.#server, handleProtocols: (offered) => [...offered][0]! })

  constructor() {
    this.#sockets.on('connection', (socket, request) => {
      this.requests.push(`${request.method} ${request.url}`)
      this.headers = request.headers
      socket.on('message', (data: Buffer, isBinary) => {
        if (data.toString() === 'bye') socket.close(4001, 'as you wish')
        else socket.send(data, { binary: isBinary })
      })
    })
    this.#sockets.on('error', () => undefined)
  }

  static async start(): Promise<ProxyBackend> {
    const backend = new ProxyBackend()
    await new Promise<void>((resolve) => backend.#server.listen(0, '127.0.0.1', resolve))
    return backend
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** To the one who reads /stream; undefined ends it. */
  say(text: string | undefined): void {
    if (text === undefined) this.#stream!.end()
    else this.#stream!.write(text)
  }

  get streams(): boolean {
    return this.#stream !== undefined
  }

  close(): Promise<void> {
    for (const socket of this.#sockets.clients) socket.terminate()
    this.#server.closeAllConnections()
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests.push(`${request.method} ${request.url}`)
    this.headers = request.headers
    request.once('error', () => this.aborted++)
    const [, what = '', argument = ''] = new URL(request.url!, 'http://pod').pathname.split('/')
    switch (what) {
      case 'status':
        response.writeHead(Number(argument), { 'x-of-the-pod': 'yes', 'access-control-allow-origin': '*' }).end('so')
        return
      case 'redirect':
        response.writeHead(302, { location: decodeURIComponent(argument) }).end()
        return
      case 'page':
        this.#page(response, argument)
        return
      case 'stream':
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write('hello\n')
        response.once('close', () => {
          this.#stream = undefined
        })
        this.#stream = response
        return
      case 'cut':
        response.writeHead(200, { 'content-length': '100' }).write('a part')
        setImmediate(() => response.destroy())
        return
      case 'flood':
        this.#flood(response, Number(argument))
        return
      case 'never':
        response.once('close', () => this.aborted++)
        return
      default:
        await this.#digest(request, response)
    }
  }

  #page(response: ServerResponse, encoding: string): void {
    const text = Buffer.from(`<a href="/next?a=b&amp;c">next</a><p>caf\u00e9</p>`)
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      ...(encoding === '' ? {} : { 'content-encoding': encoding }),
    })
    if (encoding === 'gzip') response.end(zlib.gzipSync(text))
    else if (encoding === 'deflate') response.end(zlib.deflateRawSync(text))
    else response.end(text)
  }

  #flood(response: ServerResponse, bytes: number): void {
    const chunk = Buffer.alloc(64 * 1024, 'x')
    response.writeHead(200, { 'content-type': 'application/octet-stream' })
    const more = (): void => {
      while (this.flooded < bytes) {
        this.flooded += chunk.byteLength
        if (!response.write(chunk)) {
          response.once('drain', more)
          return
        }
      }
      response.end()
    }
    this.flooded = 0
    more()
  }

  /** How long the body was and what was in it. */
  async #digest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const hash = createHash('sha256')
    let size = 0
    try {
      for await (const chunk of request) {
        hash.update(chunk as Buffer)
        size += (chunk as Buffer).byteLength
      }
    } catch {
      // Broken off: counted above, and there is nobody to answer.
      return
    }
    response.end(JSON.stringify({ method: request.method, size, sha256: hash.digest('hex') }))
  }
}
