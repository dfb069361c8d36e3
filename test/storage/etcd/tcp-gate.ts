import net from 'node:net'

/** One way to a server on loopback that can be shut (refuses), frozen (accepts and is silent) or cut. */
export class TcpGate {
  readonly #targetPort: number
  readonly #port: number
  readonly #sockets = new Set<net.Socket>()
  #server: net.Server | undefined
  #frozen = false
  accepted = 0
  bytesToClient = 0

  private constructor(targetPort: number, port: number, server: net.Server) {
    this.#targetPort = targetPort
    this.#port = port
    this.#server = server
  }

  static async start(targetPort: number): Promise<TcpGate> {
    const server = net.createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const gate = new TcpGate(targetPort, (server.address() as net.AddressInfo).port, server)
    server.on('connection', (socket) => gate.#accept(socket))
    return gate
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  shut(): void {
    this.#server?.close()
    this.#server = undefined
    this.cut()
  }

  async open(): Promise<void> {
    const server = net.createServer((socket) => this.#accept(socket))
    this.#server = server
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve))
  }

  freeze(): void {
    this.#frozen = true
    for (const socket of this.#sockets) {
      socket.unpipe()
      socket.pause()
    }
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.shut()
    if (server?.listening) await new Promise<void>((resolve) => server.once('close', () => resolve()))
  }

  #accept(client: net.Socket): void {
    this.accepted++
    this.#sockets.add(client)
    const sockets = [client]
    if (!this.#frozen) {
      const upstream = net.connect(this.#targetPort, '127.0.0.1')
      this.#sockets.add(upstream)
      sockets.push(upstream)
      client.pipe(upstream).pipe(client)
      upstream.on('data', (chunk) => {
        this.bytesToClient += chunk.length
      })
    }
    const over = (): void => {
      for (const socket of sockets) {
        this.#sockets.delete(socket)
        socket.destroy()
      }
    }
    for (const socket of sockets) {
      socket.on('error', over)
      socket.on('close', over)
    }
  }
}
