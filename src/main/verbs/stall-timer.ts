/**
 * Thread: main. Holds the connection of a client that reads nothing for now. uWebSockets.js closes one on which a write has
 * been waiting for ten seconds; a watch has time.
 */
import type { Clock, Timer } from '../../lib/clock.js'
import type { ResponseStream } from '../http/response-stream.js'

/** uWebSockets.js counts in steps of four seconds. */
const TOUCH_INTERVAL_MS = 4000

export class StallTimer {
  readonly #clock: Clock
  readonly #stream: ResponseStream
  #timer: Timer | undefined

  constructor(clock: Clock, stream: ResponseStream) {
    this.#clock = clock
    this.#stream = stream
  }

  /** From the write that did not go through. */
  start(): void {
    this.#timer ??= this.#clock.after(TOUCH_INTERVAL_MS, () => {
      this.#timer = undefined
      this.#stream.touch()
      this.start()
    })
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
