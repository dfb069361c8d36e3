import { FakePort } from './fake-port.js'

/** As much as a cork of uWebSockets.js holds. */
const CORK_BYTES = 16 * 1024

/**
 * A port that loses what uWebSockets.js up to 20.74 loses: when what a cork holds cannot be sent, and the write that made it
 * overflow has to wait, that write is dropped after its chunk's head went out. `wire` is what a client would read, heads of chunks
 * included.
 */
export class LossyPort extends FakePort {
  wire = ''
  /** Bytes that the system takes before it says that it would block. */
  systemRoom = 0
  /** Writes without a cork: uWebSockets.js prints a warning at each. */
  bareWrites = 0
  #depth = 0
  #waiting = ''
  #corked: string | undefined

  override write(chunk: Uint8Array | string): boolean {
    const data = Buffer.from(chunk).toString('latin1')
    if (this.#depth === 0) this.bareWrites++
    this.#put(`\r\n${data.length.toString(16)}\r\n`)
    return this.#put(data)
  }

  override cork(callback: () => void): void {
    this.#corked = ''
    this.#depth++
    callback()
    this.#depth--
    const held = this.#corked
    this.#corked = undefined
    if (held !== undefined && held !== '') this.#put(held)
  }

  /** The client reads so many bytes; then it may be written to. */
  override drain(bytes: number): boolean {
    this.systemRoom = bytes
    this.#flush()
    return super.drain(bytes)
  }

  #put(data: string): boolean {
    if (this.#waiting !== '' && !this.#flush()) {
      this.#waiting += data
      return false
    }
    if (this.#corked === undefined) {
      this.#waiting = data
      return this.#flush()
    }
    if (this.#corked.length + data.length <= CORK_BYTES) {
      this.#corked += data
      return true
    }
    const held = this.#corked
    this.#corked = undefined
    if (held !== '' && !this.#put(held)) return false
    return this.#put(data)
  }

  #flush(): boolean {
    const sent = this.#waiting.slice(0, this.systemRoom)
    this.wire += sent
    this.systemRoom -= sent.length
    this.#waiting = this.#waiting.slice(sent.length)
    return this.#waiting === ''
  }
}
