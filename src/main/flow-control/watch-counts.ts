/** Thread: main. How many watchers would hear of a change: of the resource, of its namespace, of the one object. */
import type { RequestInfo } from '../../api/request-info.js'

const key = (info: RequestInfo, namespace: string, name: string): string =>
  `${info.apiGroup}/${info.resource} ${namespace} ${name}`

export class WatchCounts {
  readonly #counts = new Map<string, number>()

  /** Gives the way to forget it. */
  add(info: RequestInfo): () => void {
    const place = key(info, info.namespace, info.name)
    this.#counts.set(place, (this.#counts.get(place) ?? 0) + 1)
    return () => {
      const rest = (this.#counts.get(place) ?? 0) - 1
      if (rest > 0) this.#counts.set(place, rest)
      else this.#counts.delete(place)
    }
  }

  of(info: RequestInfo): number {
    if (this.#counts.size === 0) return 0
    const { namespace, name } = info
    let count = this.#counts.get(key(info, '', '')) ?? 0
    if (namespace !== '') count += this.#counts.get(key(info, namespace, '')) ?? 0
    if (name !== '') count += this.#counts.get(key(info, namespace, name)) ?? 0
    return count
  }
}
