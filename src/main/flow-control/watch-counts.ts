/**
 * Thread: any. How many watchers would hear of a change: of the resource, of its namespace, of the one object. Watchers are
 * connected to any of the front ends, so that all of them count in one piece of shared memory: a word a place, by hash.
 * Places that share a word are counted too high, never too low, and no more is at stake than a seat for a few milliseconds.
 */
import type { RequestInfo } from '../../api/request-info.js'

/** The number of places, a power of two: with 4096 watches in use a place has one stranger on average. */
const PLACES = 4096
const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

export const WATCH_COUNT_BYTES = PLACES * Int32Array.BYTES_PER_ELEMENT

export class WatchCounts {
  readonly #words: Int32Array

  /** `words`: WATCH_COUNT_BYTES of shared memory, zeros at first. */
  constructor(words: Int32Array = new Int32Array(PLACES)) {
    this.#words = words
  }

  /** Counts a watch; the function it gives takes the watch off again. */
  add(info: RequestInfo): () => void {
    const place = placeOf(info, info.namespace, info.name)
    Atomics.add(this.#words, place, 1)
    return () => void Atomics.sub(this.#words, place, 1)
  }

  of(info: RequestInfo): number {
    const { namespace, name } = info
    let count = Atomics.load(this.#words, placeOf(info, '', ''))
    if (namespace !== '') count += Atomics.load(this.#words, placeOf(info, namespace, ''))
    if (name !== '') count += Atomics.load(this.#words, placeOf(info, namespace, name))
    return count
  }
}

function placeOf({ apiGroup, resource }: RequestInfo, namespace: string, name: string): number {
  let hash = FNV_OFFSET
  for (const part of [apiGroup, resource, namespace, name]) {
    for (let i = 0; i < part.length; i++) hash = Math.imul(hash ^ part.charCodeAt(i), FNV_PRIME)
    hash = Math.imul(hash ^ 0x20, FNV_PRIME)
  }
  return (hash ^ (hash >>> 16)) & (PLACES - 1)
}
