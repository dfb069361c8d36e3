/**
 * Thread: main. The body of a request as a stream, no faster than who reads it takes it.
 *
 *   paused ──readTo()──▶ flowing ◀──resume()/pause()──▶ paused ──last chunk──▶ ended
 *      └──discard()──▶ what comes is dropped
 */
export interface BodySink {
  /** False: wait until resume(). The bytes are the sink's own. */
  write(chunk: Uint8Array): boolean
  end(): void
  /** The client went away before the end. */
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

  /** Nobody wants the rest: the connection may take its next request once it is through. */
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

  /** Called by the exchange; the memory behind a chunk is reused once this returns. */
  take(chunk: ArrayBuffer, isLast: boolean): void {
    if (isLast) {
      this.#ended = true
      // What was under way arrives after a pause too, its end included. Nobody resumes what has ended, and the connection
      // would never take its next request.
      this.resume()
    }
    if (this.#discarding) return
    if (chunk.byteLength > 0) {
      const own = new Uint8Array(chunk.slice(0))
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
