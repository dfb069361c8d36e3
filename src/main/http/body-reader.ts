/** Thread: main. The body of a request as it comes in: whole within its limit, refused beyond it. */

/** A body is taken in up to so many times its limit before the connection is closed on it. */
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
    // A body that was held and never asked for fails nobody.
    this.promise.catch(() => undefined)
  }

  take(chunk: ArrayBuffer, isLast: boolean): void {
    this.#size += chunk.byteLength
    if (this.#size > this.#limitBytes) {
      this.#chunks.length = 0
      if (isLast || this.#size > this.dropLimitBytes) this.refuse()
      return
    }
    // The memory behind a chunk is reused once this returns.
    if (chunk.byteLength > 0) this.#chunks.push(new Uint8Array(chunk.slice(0)))
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
