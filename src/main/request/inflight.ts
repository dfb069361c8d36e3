/**
 * Thread: main. The simplest gate: it limits how many reads and how many writes are under way. Long-running requests do
 * not count, and nobody waits.
 */
import type { FrontEndState } from '../threads/front-end-state.js'
import { type GatedRequest, type Leave, type RequestGate, RequestRefused } from './request-gate.js'

/** `head` and `options` are here because the verb of a path that is no resource is its method. */
const READ_VERBS: ReadonlySet<string> = new Set(['get', 'list', 'watch', 'head', 'options', ''])
/** Subresources that stream as long as both sides like. */
const LONG_RUNNING: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward'])

export interface InflightLimits {
  /** Reads that may be under way at once; 0 means no limit, for writes below too. */
  readonly maxRequests: number
  readonly maxMutatingRequests: number
}

export const isMutating = (verb: string): boolean => !READ_VERBS.has(verb)
export const isLongRunning = (verb: string, subresource: string): boolean =>
  verb === 'watch' || LONG_RUNNING.has(subresource)

const nothing: Leave = () => undefined

export class Inflight implements RequestGate {
  readonly #limits: InflightLimits
  readonly #state: FrontEndState
  /** All reads share one Leave, and all writes another: a place is only a number, so giving one back needs no state. */
  readonly #leaveReads: Leave = () => this.#state.leave(false)
  readonly #leaveWrites: Leave = () => this.#state.leave(true)

  /** The limits are those of the process: its front ends count together. */
  constructor(limits: InflightLimits, state: FrontEndState) {
    this.#limits = limits
    this.#state = state
  }

  enter({ mutating, longRunning }: Pick<GatedRequest, 'mutating' | 'longRunning'>): Leave {
    if (longRunning) return nothing
    const { maxRequests, maxMutatingRequests } = this.#limits
    if (!this.#state.enter(mutating, mutating ? maxMutatingRequests : maxRequests)) throw new RequestRefused(1)
    return mutating ? this.#leaveWrites : this.#leaveReads
  }
}
