/**
 * Thread: main. The body of a request as a stream: the client is not read from faster than the sink takes the bytes.
 *
 *   paused ──readTo()──▶ flowing ◀──resume()/pause()──▶ paused ──last chunk──▶ ended
 *      └──discard()──▶ the rest is received and dropped
 */
export interface BodySink {
  /** The sink owns the bytes. False asks the stream to pause until resume() is called. */
  write(chunk: Uint8Array): boolean
  end(): void
  /** Called instead of end() when the client went away before the body was complete. */
  gone(): void
}

export class BodyStream {
  paused = false
  readonly #port: { pause(): void; resume(): void }
  #sink: BodySink | undefined
  #early: Uint8Array[] = []
  #ended = false
  #gone = false
  #discarding = false

  constructor(port: { pause(): void; resume(): void }) {
    this.#port = port
  }

  pause(): void {
    if (this.paused || this.#ended || this.#gone) return
    this.paused = true
    this.#port.pause()
  }

  resume(): void {
    if (!this.paused) return
    this.paused = false
    if (!this.#gone) this.#port.resume()
  }

  /**
   * Drops the rest of the body. It has to be received all the same, because the connection takes its next request only
   * after it.
   */
  discard(): void {
    this.#discarding = true
    this.#early = []
    this.resume()
  }

  readTo(sink: BodySink): void {
    this.#sink = sink
    for (const chunk of this.#early) sink.write(chunk)
    this.#early = []
    if (this.#gone) sink.gone()
    else if (this.#ended) sink.end()
    else this.resume()
  }

  /** Called by the exchange with each chunk, which is copied: the engine reuses its memory once this method returns. */
  take(chunk: Uint8Array, isLast: boolean): void {
    if (isLast) {
      this.#ended = true
      // Chunks that were under way still arrive after a pause, the last one included. A body that has ended must not
      // stay paused: nobody would resume it, and the connection would never take its next request.
      this.resume()
    }
    if (this.#discarding) return
    if (chunk.byteLength > 0) {
      const own = new Uint8Array(chunk)
      if (this.#sink === undefined) this.#early.push(own)
      else if (!this.#sink.write(own)) this.pause()
    }
    if (isLast) this.#sink?.end()
  }

  gone(): void {
    if (this.#ended || this.#gone) return
    this.#gone = true
    this.#sink?.gone()
  }
}
