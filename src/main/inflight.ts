/** Thread: main. How many requests may be under way: reads and writes apart, long-running ones not counted. */
import { newTooManyRequests } from '../api/status.js'

const READ_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])
/** Subresources that stream as long as both sides like. */
const LONG_RUNNING: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward'])

export interface InflightLimits {
  /** 0: no limit. */
  readonly maxRequests: number
  readonly maxMutatingRequests: number
}

export const isMutating = (verb: string): boolean => !READ_VERBS.has(verb)
export const isLongRunning = (verb: string, subresource: string): boolean =>
  verb === 'watch' || LONG_RUNNING.has(subresource)

export class Inflight {
  readonly #limits: InflightLimits
  #reads = 0
  #writes = 0

  constructor(limits: InflightLimits) {
    this.#limits = limits
  }

  get current(): { reads: number; writes: number } {
    return { reads: this.#reads, writes: this.#writes }
  }

  /** Takes a place and gives the way to leave it; throws 429 when there is none. */
  enter(mutating: boolean): () => void {
    const { maxRequests, maxMutatingRequests } = this.#limits
    const limit = mutating ? maxMutatingRequests : maxRequests
    if (limit > 0 && (mutating ? this.#writes : this.#reads) >= limit) {
      throw newTooManyRequests('Too many requests, please try again later.', 1)
    }
    if (mutating) this.#writes++
    else this.#reads++
    return () => {
      if (mutating) this.#writes--
      else this.#reads--
    }
  }
}
