/** Thread: main. An answer without known end: frames, no faster than the client takes them. */
import type { ResponsePort } from './response-port.js'

/** Writes frames as they come. `false`: the client does not keep up; wait for onDrain. */
export interface ResponseStream {
  /** Each write is a message of its own: frames are not to be joined. */
  readonly separate: boolean
  write(chunk: Uint8Array): boolean
  /** Nothing more to write for now: the client gets at least the head. */
  idle(): void
  /** Several writes as one: fewer system calls. */
  cork(callback: () => void): void
  onDrain(listener: () => void): void
  /** Nothing is read, and that is no reason to close the connection. */
  touch(): void
  end(): void
}

/** What an answer tells its exchange. */
export interface AnswerState {
  /** Nobody has ended it, and the client is there. */
  answering(): boolean
  sent(bytes: number): void
  ended(): void
}

/** What can be written when there is nothing to say. */
export interface StreamFiller {
  readonly bytes: Uint8Array
  /**
   * `between`: it may stand between two frames without meaning, as a space does in JSON. `ahead`: every frame begins with it,
   * as one of protobuf with the highest byte of its length; it goes ahead, and the frame that follows goes without it.
   */
  readonly place: 'between' | 'ahead'
}

/**
 * uWebSockets.js ends the head with the first bytes of the body, and does not go on by itself with what write() left in its
 * buffer. A filler brings the head on its way, and one that may stand between frames the rest too. Without any, the head waits
 * for the first frame. A stream that ends after a filler that went ahead ends within a frame: clients of Kubernetes take
 * that for the end of the connection, which it is.
 */
export class ChunkedStream implements ResponseStream {
  readonly separate = false
  readonly #port: ResponsePort
  readonly #answer: AnswerState
  readonly #filler: StreamFiller | undefined
  /** The first bytes of the next frame are out. */
  #ahead = false
  #onDrain: (() => void) | undefined
  #headOut = false
  #blocked = false
  #broken = false

  constructor(port: ResponsePort, answer: AnswerState, filler: StreamFiller | undefined) {
    this.#port = port
    this.#answer = answer
    this.#filler = filler
    port.onWritable(() => this.#writable())
  }

  #writable(): boolean {
    if (!this.#answer.answering()) return true
    // Also when no write failed: what is corked fails only after write() has returned. Leaving the cork flushes too.
    this.#blocked = false
    this.#port.cork(() => {
      if (this.#filler?.place === 'between') this.write(this.#filler.bytes)
    })
    if (!this.#blocked) this.#onDrain?.()
    return true
  }

  write(chunk: Uint8Array): boolean {
    if (!this.#answer.answering() || this.#broken) return false
    if (!this.#ahead) return this.#write(chunk)
    const begun = this.#filler!.bytes
    if (Buffer.compare(chunk.subarray(0, begun.byteLength), begun) !== 0) return this.#break()
    this.#ahead = false
    return this.#write(chunk.subarray(begun.byteLength))
  }

  #write(chunk: Uint8Array): boolean {
    this.#headOut = true
    this.#answer.sent(chunk.byteLength)
    this.#blocked = !this.#port.write(chunk)
    return !this.#blocked
  }

  /** The frame cannot follow what went ahead (protobuf: it has 16 MiB or more). Not within a cork, which would go on. */
  #break(): false {
    this.#broken = true
    setImmediate(() => {
      if (this.#answer.answering()) this.#port.close()
    })
    return false
  }

  idle(): void {
    const filler = this.#filler
    if (this.#headOut || filler === undefined || !this.#answer.answering()) return
    this.#port.cork(() => this.#write(filler.bytes))
    this.#ahead = filler.place === 'ahead'
  }

  cork(callback: () => void): void {
    if (this.#answer.answering()) this.#port.cork(callback)
  }

  onDrain(listener: () => void): void {
    this.#onDrain = listener
  }

  touch(): void {
    if (!this.#answer.answering()) return
    // Starts the time anew in which a write must make progress.
    this.#port.pause()
    this.#port.resume()
  }

  end(): void {
    if (!this.#answer.answering()) return
    this.#port.cork(() => this.#port.end())
    this.#answer.ended()
  }
}
