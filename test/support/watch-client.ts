import type { Socket } from 'node:net'
import { open } from './raw-http.js'

export interface SeenEvent {
  readonly type: string
  readonly name: string
  readonly revision: number
  /** Of an ERROR. */
  readonly code: number | undefined
}

interface EventLine {
  type: string
  object: { code?: number; metadata?: { name?: string; resourceVersion?: string } }
}

/** A watch over a plain socket, which can stop reading. */
export class WatchClient {
  closed = false
  readonly #lines: string[] = []
  readonly #socket: Socket
  #head = true
  #text = ''
  /** The beginning of a line whose end is in a later chunk. */
  #begun = ''

  constructor(url: string, target: string) {
    this.#socket = open(url)
    this.#socket.setEncoding('latin1')
    this.#socket.on('data', (chunk: string) => this.#take(chunk))
    this.#socket.on('error', () => undefined)
    this.#socket.on('close', () => {
      this.closed = true
    })
    this.#socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`)
  }

  /** Without looking into them. */
  get eventCount(): number {
    return this.#lines.length
  }

  get events(): SeenEvent[] {
    return this.#lines.map((line) => {
      const { type, object } = JSON.parse(line) as EventLine
      const { name = '', resourceVersion = '0' } = object.metadata ?? {}
      return { type, name, revision: Number(resourceVersion), code: object.code }
    })
  }

  /** The server has taken the watch. */
  get started(): boolean {
    return !this.#head
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  close(): void {
    this.#socket.destroy()
  }

  /** Where a chunk ends means nothing: it may hold several events, or a part of one. */
  #take(chunk: string): void {
    this.#text += chunk
    if (this.#head) {
      const end = this.#text.indexOf('\r\n\r\n')
      if (end < 0) return
      this.#head = false
      this.#text = this.#text.slice(end + 4)
    }
    for (;;) {
      // The end of a chunk comes only with the next one.
      const chunkHead = /^(?:\r\n)?([0-9a-f]+)\r\n/i.exec(this.#text.slice(0, 20))
      if (chunkHead === null) return
      const start = chunkHead[0].length
      const end = start + Number.parseInt(chunkHead[1]!, 16)
      if (this.#text.length < end) return
      const lines = (this.#begun + this.#text.slice(start, end)).split('\n')
      this.#begun = lines.pop()!
      this.#lines.push(...lines.filter((line) => line.trim() !== ''))
      this.#text = this.#text.slice(end)
    }
  }
}
