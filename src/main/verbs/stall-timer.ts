/**
 * Thread: main. Keeps the connection of a watch whose client reads nothing for now. An engine closes a connection on
 * which a write has made no progress for ten seconds, but a watch may wait longer.
 */
import type { Clock, Timer } from '../../lib/clock.js'
import type { Exchange } from '../http/exchange.js'
import type { ResponseStream } from '../http/response-stream.js'

/** The time between two touches, well within those ten seconds: uWebSockets.js counts them in steps of four seconds. */
const TOUCH_INTERVAL_MS = 4000

export class StallTimer {
  readonly #clock: Clock
  readonly #stream: ResponseStream
  readonly #exchange: Pick<Exchange, 'attempt'>
  #timer: Timer | undefined

  constructor(clock: Clock, stream: ResponseStream, exchange: Pick<Exchange, 'attempt'>) {
    this.#exchange = exchange
    this.#clock = clock
    this.#stream = stream
  }

  /** Begins to touch the connection; called after a write that the client did not take. */
  start(): void {
    this.#timer ??= this.#clock.after(TOUCH_INTERVAL_MS, () => {
      this.#timer = undefined
      this.start()
      this.#exchange.attempt(() => this.#stream.touch())
    })
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}
