/** One HTTP/1.1 connection that asks again as soon as it has an answer, and keeps no body. As cheap as a client can be. */
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

const HEAD_END = Buffer.from('\r\n\r\n')

export interface Answer {
  readonly status: number
  readonly bytes: number
  /** The connection was closed before all bytes were here. */
  readonly cut: boolean
}

export class HttpConnection {
  readonly #request: Buffer
  readonly #socket: Socket
  #head: Buffer = Buffer.alloc(0)
  #status = 0
  #expected = 0
  #left = -1
  #answered: ((answer: Answer) => void) | undefined

  constructor(url: string, path: string, token: string) {
    const { hostname, port, protocol } = new URL(url)
    this.#request = Buffer.from(
      `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\nAccept: application/json\r\n\r\n`,
    )
    this.#socket =
      protocol === 'https:'
        ? connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false })
        : connectPlain(Number(port), hostname)
    this.#socket.setNoDelay(true)
    this.#socket.on('data', (chunk: Buffer) => this.#take(chunk))
    this.#socket.on('error', () => this.#finish(true))
    this.#socket.on('close', () => this.#finish(true))
  }

  get(): Promise<Answer> {
    return new Promise((resolve) => {
      this.#answered = resolve
      this.#socket.write(this.#request)
    })
  }

  close(): void {
    this.#answered = undefined
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    if (this.#left < 0) {
      this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk])
      const end = this.#head.indexOf(HEAD_END)
      if (end < 0) return
      const head = this.#head.subarray(0, end).toString('latin1')
      this.#status = Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0)
      this.#expected = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      this.#left = this.#expected - (this.#head.length - end - HEAD_END.length)
      this.#head = Buffer.alloc(0)
    } else this.#left -= chunk.length
    if (this.#left === 0) this.#finish(false)
  }

  #finish(cut: boolean): void {
    this.#left = -1
    const answered = this.#answered
    this.#answered = undefined
    answered?.({ status: this.#status, bytes: this.#expected, cut })
  }
}
