/** Thread: main. Gathers the body of a request into one piece. A body beyond its limit is refused. */

/**
 * A body beyond its limit is still received, and dropped, up to this many times the limit, so that the client gets to
 * read the refusal. Beyond that the refusal does not wait for the end of the body.
 */
const DROPPED_BODIES = 4

export class BodyTooLarge extends Error {}
export class ClientGone extends Error {}

export class BodyReader {
  readonly promise: Promise<Uint8Array>
  readonly dropLimitBytes: number
  paused = false
  readonly #limitBytes: number
  readonly #chunks: Uint8Array[] = []
  #size = 0
  #resolve!: (body: Uint8Array) => void
  #reject!: (error: Error) => void

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
    this.dropLimitBytes = limitBytes * DROPPED_BODIES
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    // When a body was held (Exchange.holdBody) and nobody reads it, its rejection must not count as unhandled.
    this.promise.catch(() => undefined)
  }

  take(chunk: Uint8Array, isLast: boolean): void {
    this.#size += chunk.byteLength
    if (this.#size > this.#limitBytes) {
      this.#chunks.length = 0
      if (isLast || this.#size > this.dropLimitBytes) this.refuse()
      return
    }
    // The chunk is copied, because the engine reuses its memory once this method returns.
    if (chunk.byteLength > 0) this.#chunks.push(new Uint8Array(chunk))
    if (isLast) this.#resolve(this.#chunks.length === 1 ? this.#chunks[0]! : concat(this.#chunks, this.#size))
  }

  refuse(): void {
    this.#reject(new BodyTooLarge())
  }

  gone(): void {
    this.#reject(new ClientGone())
  }
}

function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}
