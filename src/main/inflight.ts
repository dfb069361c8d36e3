/**
 * Thread: main. The simplest gate: so many requests may be under way, reads and writes apart, long-running ones not
 * counted. Nobody waits.
 */
import { newTooManyRequests } from '../api/status.js'
import type { GatedRequest, Leave, RequestGate } from './request-gate.js'

/** `head` and `options`: the verb of a path that is no resource is its method. */
const READ_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head', 'options', ''])
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

const nothing: Leave = () => undefined

export class Inflight implements RequestGate {
  readonly #limits: InflightLimits
  /** One way out for all: a place is a number. */
  readonly #leaveReads: Leave = () => void this.#reads--
  readonly #leaveWrites: Leave = () => void this.#writes--
  #reads = 0
  #writes = 0

  constructor(limits: InflightLimits) {
    this.#limits = limits
  }

  get current(): { reads: number; writes: number } {
    return { reads: this.#reads, writes: this.#writes }
  }

  enter({ mutating, longRunning }: Pick<GatedRequest, 'mutating' | 'longRunning'>): Leave {
    if (longRunning) return nothing
    const { maxRequests, maxMutatingRequests } = this.#limits
    const limit = mutating ? maxMutatingRequests : maxRequests
    if (limit > 0 && (mutating ? this.#writes : this.#reads) >= limit) {
      throw newTooManyRequests('Too many requests, please try again later.', 1)
    }
    if (mutating) {
      this.#writes++
      return this.#leaveWrites
    }
    this.#reads++
    return this.#leaveReads
  }
}
