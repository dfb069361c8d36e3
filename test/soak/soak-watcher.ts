/** A watch over TLS that counts lines, keeps nothing, and can stop reading for a while. */
import tls, { type TLSSocket } from 'node:tls'
import type { AttackedServer } from '../attack/attacked-server.js'
import { CLIENT_CONTEXT, requestBytes } from '../attack/wire.js'

const EVENT_END = Buffer.from('}\n')

export class SoakWatcher {
  events = 0
  readonly #socket: TLSSocket

  constructor({ host, port }: AttackedServer, target: string) {
    this.#socket = tls.connect({ host, port, rejectUnauthorized: false, secureContext: CLIENT_CONTEXT })
    this.#socket.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf(EVENT_END); at >= 0; at = chunk.indexOf(EVENT_END, at + 2)) this.events++
    })
    // The server gives up whoever reads too slowly, and may do so by a reset.
    this.#socket.on('error', () => this.#socket.destroy())
    this.#socket.write(requestBytes({ method: 'GET', target, token: 'admin', headers: [] }))
  }

  get closed(): boolean {
    return this.#socket.destroyed || this.#socket.readableEnded
  }

  /** Reads nothing until `during` is over. */
  async rest(during: () => Promise<void>): Promise<void> {
    this.#socket.pause()
    await during()
    this.#socket.resume()
  }

  close(): void {
    this.#socket.destroy()
  }
}
