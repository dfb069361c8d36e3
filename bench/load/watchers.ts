/** Many watchers over TLS that count what comes and keep nothing but how late it is, where an object says when it was sent. */
import { connect, type TLSSocket } from 'node:tls'

const EVENT_END = Buffer.from('}\n')
const SENT = Buffer.from('"sent":"')

export class Watchers {
  events = 0
  connected = 0
  /** From `"sent":"<nanoseconds of the machine's monotonic clock>"` until it was read. */
  readonly latenciesMs: number[] = []
  readonly #sockets: TLSSocket[] = []

  async open(url: string, target: string, token: string, count: number): Promise<void> {
    const { hostname, port } = new URL(url)
    await Promise.all(
      Array.from(
        { length: count },
        () =>
          new Promise<void>((resolve, reject) => {
            const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false })
            this.#sockets.push(socket)
            socket.on('error', reject)
            socket.once('secureConnect', () =>
              socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`),
            )
            socket.once('data', () => {
              this.connected++
              resolve()
              socket.on('data', (chunk) => this.#take(chunk))
            })
          }),
      ),
    )
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #take(chunk: Buffer): void {
    for (let at = chunk.indexOf(EVENT_END); at >= 0; at = chunk.indexOf(EVENT_END, at + 2)) this.events++
    const sent = chunk.indexOf(SENT)
    if (sent < 0) return
    const from = sent + SENT.byteLength
    const digits = chunk.toString('latin1', from, chunk.indexOf('"', from))
    this.latenciesMs.push(Number(process.hrtime.bigint() - BigInt(digits)) / 1e6)
  }
}
