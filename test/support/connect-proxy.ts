import http from 'node:http'
import https from 'node:https'
import net, { type AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

export interface ConnectProxyOptions {
  /** Names that this proxy alone knows, as `host:port`, and the loopback port that each stands for. */
  readonly targets: Readonly<Record<string, number>>
  /** Where it listens when it is not a port. */
  readonly socketPath?: string
  /** With it the proxy speaks TLS and wants a certificate of the authority. */
  readonly tls?: { readonly certificate: string; readonly key: string; readonly authority: string }
}

/** A proxy that opens connections by CONNECT, to names of its own only. It can be cut off and come back at its address. */
export class ConnectProxy {
  readonly #options: ConnectProxyOptions
  #server: http.Server | https.Server
  readonly #ends = new Set<Duplex>()
  #port = 0
  /** What was asked for, in order; refused ones too. */
  readonly asked: string[] = []
  /** What is answered instead of a tunnel. */
  refusal: string | undefined

  private constructor(options: ConnectProxyOptions) {
    this.#options = options
    this.#server = this.#newServer()
  }

  static async start(options: ConnectProxyOptions): Promise<ConnectProxy> {
    const proxy = new ConnectProxy(options)
    await proxy.#listen()
    return proxy
  }

  get url(): string {
    return `${this.#options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${this.#port}`
  }

  get tunnels(): number {
    return this.#ends.size
  }

  /** Nothing goes through any more, and nobody listens. */
  async cut(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const end of this.#ends) end.destroy()
    this.#server.closeAllConnections()
    await closed
  }

  async back(): Promise<void> {
    this.#server = this.#newServer()
    await this.#listen()
  }

  #newServer(): http.Server | https.Server {
    const { tls } = this.#options
    const server =
      tls === undefined
        ? http.createServer()
        : https.createServer({
            cert: tls.certificate,
            key: tls.key,
            ca: tls.authority,
            requestCert: true,
            rejectUnauthorized: true,
          })
    return server.on('connect', (request: http.IncomingMessage, client: Duplex, head: Buffer) =>
      this.#connect(request.url ?? '', client, head),
    )
  }

  #listen(): Promise<void> {
    const { socketPath } = this.#options
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      const listening = (): void => {
        const address = this.#server.address() as AddressInfo | string
        if (typeof address !== 'string') this.#port = address.port
        resolve()
      }
      if (socketPath === undefined) this.#server.listen(this.#port, '127.0.0.1', listening)
      else this.#server.listen(socketPath, listening)
    })
  }

  #connect(target: string, client: Duplex, head: Buffer): void {
    this.asked.push(target)
    client.on('error', () => client.destroy())
    const port = this.#options.targets[target]
    if (this.refusal !== undefined || port === undefined) {
      client.end(`HTTP/1.1 ${this.refusal ?? '404 Not Found'}\r\n\r\n`)
      return
    }
    const upstream = net.connect(port, '127.0.0.1')
    const over = (): void => {
      for (const end of [client, upstream]) {
        this.#ends.delete(end)
        end.destroy()
      }
    }
    for (const end of [client, upstream]) {
      this.#ends.add(end)
      end.on('error', over)
      end.on('close', over)
    }
    upstream.once('connect', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      if (head.byteLength > 0) upstream.write(head)
      client.pipe(upstream)
      upstream.pipe(client)
    })
  }
}
