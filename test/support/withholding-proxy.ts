import net from 'node:net'

/** Loopback TCP in front of a server: passes everything on until told to keep the server's answers to itself. */
export class WithholdingProxy {
  readonly port: number
  readonly #server: net.Server
  readonly #sockets = new Set<net.Socket>()
  #withholding = false
  #withheldBytes = 0

  private constructor(server: net.Server) {
    this.#server = server
    this.port = (server.address() as net.AddressInfo).port
  }

  static async start(targetPort: number): Promise<WithholdingProxy> {
    const server = net.createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const proxy = new WithholdingProxy(server)
    server.on('connection', (client) => proxy.#connect(client, targetPort))
    return proxy
  }

  /** From now on requests arrive and answers do not. */
  withhold(): void {
    this.#withholding = true
  }

  get withheldBytes(): number {
    return this.#withheldBytes
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #connect(client: net.Socket, targetPort: number): void {
    const upstream = net.connect(targetPort, '127.0.0.1')
    client.pipe(upstream)
    upstream.on('data', (chunk: Buffer) => {
      if (this.#withholding) this.#withheldBytes += chunk.length
      else client.write(chunk)
    })
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(socket)
      // A killed peer resets its connection; either way the other side ends too.
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
    }
  }
}
