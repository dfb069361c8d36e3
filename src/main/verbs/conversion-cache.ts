/**
 * Thread: main. Keeps converted objects that are asked for often. It is bounded in bytes; the one used longest ago is
 * dropped first. An object never changes at its revision, so an entry never becomes wrong, except forms that show ages
 * (`expiresMs`).
 */

interface Entry {
  readonly bytes: Uint8Array
  /** Until when the form is true, by the monotonic clock: forms that show ages are true for a moment only. */
  readonly expiresMs: number
}

/** The bytes that an entry costs beside those of its form. */
const OVERHEAD_BYTES = 200

export class ConversionCache {
  readonly #limitBytes: number
  /** Entries in the order of their last use. */
  readonly #entries = new Map<string, Entry>()
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string, nowMs: number): Uint8Array | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    if (entry.expiresMs <= nowMs) {
      this.#bytes -= cost(key, entry)
      return undefined
    }
    this.#entries.set(key, entry)
    return entry.bytes
  }

  set(key: string, bytes: Uint8Array, expiresMs: number): void {
    const entry = { bytes, expiresMs }
    if (cost(key, entry) > this.#limitBytes) return
    const before = this.#entries.get(key)
    if (before !== undefined) {
      this.#entries.delete(key)
      this.#bytes -= cost(key, before)
    }
    this.#entries.set(key, entry)
    this.#bytes += cost(key, entry)
    for (const [oldest, old] of this.#entries) {
      if (this.#bytes <= this.#limitBytes) break
      this.#entries.delete(oldest)
      this.#bytes -= cost(oldest, old)
    }
  }
}

const cost = (key: string, { bytes }: Entry): number => bytes.byteLength + 2 * key.length + OVERHEAD_BYTES
