/**
 * Thread: pool. Stored objects in versions that a webhook made of them, so that a state of an object is converted once a thread. They
 * are found by what was sent (uid and all), not by resourceVersion, which a store that was restored gives to other states. What a
 * webhook would make of one today is not asked: as with kube-apiserver's watch cache, a state that was converted stays so.
 */
import { deepCopy, type KubeObject } from '../../api/object.js'

/** Of one pool thread, for all definitions together, as JSON; trees take some times as much. */
const MAX_BYTES = 8 * 1024 * 1024

interface Entry {
  readonly object: KubeObject
  readonly bytes: number
}

export class ConvertedCache {
  readonly #maxBytes: number
  /** The order of the map is that of use. */
  readonly #entries = new Map<string, Entry>()
  #bytes = 0

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** A copy that the caller may change. */
  get(key: string): KubeObject | undefined {
    const found = this.#entries.get(key)
    if (found === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, found)
    return deepCopy(found.object)
  }

  /** Keeps a copy. `bytes` is about as long as its JSON. */
  set(key: string, object: KubeObject, bytes: number): void {
    if (bytes > this.#maxBytes / 4) return
    this.#drop(key)
    this.#entries.set(key, { object: deepCopy(object), bytes })
    this.#bytes += bytes
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) return
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#bytes -= entry.bytes
    this.#entries.delete(key)
  }
}
