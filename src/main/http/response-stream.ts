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

/**
 * uWebSockets.js ends the head with the first bytes of the body, and does not go on by itself with what write() left in its
 * buffer. `filler` is what may stand between two frames without meaning (a space in JSON): it brings both on their way.
 * Without one, the head waits for the first frame, and a drained stream may have a rest before it.
 */
export class ChunkedStream implements ResponseStream {
  readonly separate = false
  readonly #port: ResponsePort
  readonly #answer: AnswerState
  readonly #filler: Uint8Array | undefined
  #onDrain: (() => void) | undefined
  #headOut = false
  #blocked = false

  constructor(port: ResponsePort, answer: AnswerState, filler: Uint8Array | undefined) {
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
      if (this.#filler !== undefined) this.write(this.#filler)
    })
    if (!this.#blocked) this.#onDrain?.()
    return true
  }

  write(chunk: Uint8Array): boolean {
    if (!this.#answer.answering()) return false
    this.#headOut = true
    this.#answer.sent(chunk.byteLength)
    this.#blocked = !this.#port.write(chunk)
    return !this.#blocked
  }

  idle(): void {
    const filler = this.#filler
    if (!this.#headOut && filler !== undefined && this.#answer.answering()) this.#port.cork(() => this.write(filler))
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
