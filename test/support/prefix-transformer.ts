import type { Transformer, TransformResult } from '#keelson/storage/contract/transformer.js'

/**
 * Puts a word before each value, as a provider puts its name: a value with another known word is stale, one with an
 * unknown word cannot be read. Tests turn the word, and break it.
 */
export class PrefixTransformer implements Transformer {
  #prefix: string
  readonly #known: Set<string>
  /** Gives the failure that reading a key has, if any. */
  failReading: (key: string) => Error | undefined = () => undefined
  failWriting: (key: string) => Error | undefined = () => undefined
  /** Answers late, as a remote key service does. */
  remote = false
  /** Called for each value that is read. */
  onRead: (key: string) => void = () => undefined

  constructor(prefix = 'one:') {
    this.#prefix = prefix
    this.#known = new Set([prefix])
  }

  /** From now on values are written with another word; what is stored becomes stale. */
  rotate(prefix: string): void {
    this.#known.add(prefix)
    this.#prefix = prefix
  }

  seal(text: string): string {
    return this.#prefix + text
  }

  transformFromStorage(data: Uint8Array, authenticatedData: string): TransformResult | Promise<TransformResult> {
    this.onRead(authenticatedData)
    if (this.remote) return Promise.resolve().then(() => this.#open(data, authenticatedData))
    return this.#open(data, authenticatedData)
  }

  transformToStorage(data: Uint8Array, authenticatedData: string): Uint8Array | Promise<Uint8Array> {
    const failure = this.failWriting(authenticatedData)
    if (failure !== undefined) throw failure
    const sealed = Buffer.concat([Buffer.from(this.#prefix), data])
    return this.remote ? Promise.resolve(sealed) : sealed
  }

  #open(data: Uint8Array, authenticatedData: string): TransformResult {
    const failure = this.failReading(authenticatedData)
    if (failure !== undefined) throw failure
    for (const prefix of this.#known) {
      const bytes = Buffer.from(prefix)
      if (bytes.equals(data.subarray(0, bytes.length))) {
        return { data: data.subarray(bytes.length), stale: prefix !== this.#prefix }
      }
    }
    throw new Error('no provider knows the prefix of the value')
  }
}
