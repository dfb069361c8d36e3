/** Thread: owner. Finds the resource that a key belongs to: the one with the longest registered prefix of the key. */
import { assert } from '../../lib/assert.js'

export class PrefixRouter<V> {
  readonly #byPrefix = new Map<string, V>()
  #maxSlashes = 0
  /**
   * The last prefix that was found: lists and bursts stay within one resource for long. Every change of the table
   * forgets it.
   */
  #lastPrefix = ''
  #lastValue: V | undefined
  #nested = false

  add(prefix: string, value: V): void {
    assert(prefix.endsWith('/'), `a prefix must end in a slash: ${prefix}`)
    assert(!this.#byPrefix.has(prefix), `the prefix ${prefix} is registered twice`)
    this.#byPrefix.set(prefix, value)
    this.#rebuild()
  }

  remove(prefix: string): void {
    this.#byPrefix.delete(prefix)
    this.#rebuild()
  }

  route(key: string): V | undefined {
    if (this.#lastValue !== undefined && key.startsWith(this.#lastPrefix)) return this.#lastValue
    let found: V | undefined
    let foundPrefix = ''
    let slash = -1
    for (let slashes = 0; slashes < this.#maxSlashes; slashes++) {
      slash = key.indexOf('/', slash + 1)
      if (slash < 0) break
      const prefix = key.slice(0, slash + 1)
      const value = this.#byPrefix.get(prefix)
      if (value === undefined) continue
      found = value
      foundPrefix = prefix
    }
    // When prefixes are nested, the remembered outer one would hide an inner one.
    if (found !== undefined && !this.#nested) {
      this.#lastPrefix = foundPrefix
      this.#lastValue = found
    }
    return found
  }

  #rebuild(): void {
    this.#lastValue = undefined
    const prefixes = [...this.#byPrefix.keys()].sort()
    this.#maxSlashes = Math.max(0, ...prefixes.map((prefix) => prefix.split('/').length - 1))
    // In sorted order a prefix stands directly before the prefixes that begin with it.
    this.#nested = prefixes.some((prefix, i) => i > 0 && prefix.startsWith(prefixes[i - 1]!))
  }
}
